//! The verdict of the page about a new password while it is typed, beside the answer of the issuer to the same password.

use super::expect_words;
use serde_json::json;
use tests::{Chromium, SharedWorld, on_shapes};

/// Types a password, and returns what the page says about it. The driver cannot type characters beyond U+FFFF.
const TYPE: &str = "
    const field = document.querySelector('#password');
    field.value = args[0];
    field.dispatchEvent(new Event('input'));
    return document.querySelector('.verdict').textContent;
";

/// While a password is shorter than it must be, the page counts its characters and says nothing else.
const COUNTING: &str = "";
const ENOUGH: &str = "Long enough.";
const SEQUENCE: &str = "A sequence of characters is easy to guess.";
const LIKE_ADDRESS: &str = "This is easy to guess, because it is like your e\u{2011}mail address.";
const TOO_LONG: &str = "Use at most 128 characters.";
/// The refusal of a short password by the issuer.
const TOO_SHORT: &str = "Use at least 8 characters.";
/// The refusal of a common password, of a sequence and of one like the address by the issuer.
const EASY: &str = "This password is easy to guess";

/// A password, what the page says about it, and the refusal of the issuer if there is one. The password may name the address `{email}` and
/// its `{domain}`.
type Row = (String, &'static str, Option<&'static str>);

/// The passwords whose characters, bytes and code points differ in number.
fn of_length() -> Vec<Row> {
    let (words, decomposed) = ("many words ".repeat(12), "o\u{30b}");
    vec![
        ("short".to_owned(), COUNTING, Some(TOO_SHORT)),
        ("ő".repeat(7), COUNTING, Some(TOO_SHORT)),
        ("\u{1f9a9}\u{1f335}".repeat(3), COUNTING, Some(TOO_SHORT)),
        // Seven characters in NFC, of two code points each.
        (decomposed.repeat(7), COUNTING, Some(TOO_SHORT)),
        ("a\u{301}e\u{301}o\u{301} xyz!".to_owned(), ENOUGH, None),
        ("\u{1f9a9}\u{1f335}x9f3kq".to_owned(), ENOUGH, None),
        ("my dog ate it".to_owned(), ENOUGH, None),
        (words[..128].to_owned(), ENOUGH, None),
        (words[..129].to_owned(), TOO_LONG, Some(TOO_LONG)),
        (decomposed.repeat(128), ENOUGH, None),
        (decomposed.repeat(129), TOO_LONG, Some(TOO_LONG)),
        ("\u{1f9a9}\u{1f335}".repeat(64), ENOUGH, None),
    ]
}

/// The passwords that are easy to guess, or resemble one that is.
fn easy_to_guess() -> Vec<Row> {
    let refused = [
        ("87654321", SEQUENCE),
        ("aaaaaaaa", SEQUENCE),
        ("AbCdEfGh", SEQUENCE),
        ("Annabelle.Lee99", LIKE_ADDRESS),
        ("!!Annabelle.Lee!!", LIKE_ADDRESS),
        ("{email}", LIKE_ADDRESS),
        ("{domain}", LIKE_ADDRESS),
        // The issuer alone has the list of common passwords, and its own name is on it.
        ("password1", ENOUGH),
        ("1q2w3e4r!", ENOUGH),
        ("latchkey", ENOUGH),
    ];
    let refused = refused.map(|(password, shown)| (password.to_owned(), shown, Some(EASY)));
    let accepted = ["abcdefgi", "annabelle.lee-20881"].map(|password| (password.to_owned(), ENOUGH, None));
    // Passwords of up to 40 characters are compared.
    let sequences = [
        ("ő".repeat(40), SEQUENCE, Some(EASY)),
        ("ő".repeat(41), ENOUGH, None),
    ];
    refused.into_iter().chain(accepted).chain(sequences).collect()
}

async fn the_page_judges_a_password_as_the_issuer_does(world: SharedWorld) {
    let user = world.fresh_email();
    let (user, _) = user.split_once('@').unwrap();
    let chromium = Chromium::in_language("en").await;
    chromium.open(&format!("{}/signup", world.base())).await;
    for (n, (password, shown, refusal)) in of_length().into_iter().chain(easy_to_guess()).enumerate() {
        let domain = format!("s{n}.{user}.example");
        let email = format!("annabelle.lee@{domain}");
        // In capitals, because the end of the run looks for passwords in the database, which has the address.
        let password = password.replace("{email}", &email.to_uppercase());
        let password = password.replace("{domain}", &domain.to_uppercase());
        chromium.fill("#email", &email).await;
        let said = chromium.run(TYPE, &[json!(password)]).await;
        assert_eq!(said, shown, "{password}");
        let mut browser = world.browser();
        let form = browser.open("/signup").await;
        let fields = [("email", email.as_str()), ("password", &password)];
        let answer = browser.submit(&form, &fields).await;
        match refusal {
            Some(words) => expect_words(&answer, 422, words),
            None => assert_eq!(answer.reply.status, 303, "{password}: {}", answer.reply),
        }
    }
}

on_shapes!(the_page_judges_a_password_as_the_issuer_does: sqlite Sqlite);
