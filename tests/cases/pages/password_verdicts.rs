//! The verdict about a new password while it is typed, which the script of the pages asks of the issuer.

use super::expect_words;
use serde_json::{Value, json};
use tests::{Browser, Chromium, Page, SharedWorld, on_every_shape, on_shapes};

const GOOD: &str = "You can use this password.";
const ENOUGH: &str = "Long enough.";
const TOO_SHORT: &str = "Use at least 8 characters.";
const TOO_LONG: &str = "Use at most 128 characters.";
const SEQUENCE: &str = "A mere sequence. Choose another password.";
const LIKE_ADDRESS: &str = "Too like your e-mail address. Choose another.";
const COMMON: &str = "Too common. Choose another password.";

/// Waits until the page has the verdict about the password that was typed. Returns it with its color.
const SAID: &str = "
    const verdict = document.querySelector('.verdict');
    while (verdict.ariaBusy === 'true') await new Promise((done) => setTimeout(done, 10));
    return [verdict.textContent.replaceAll('\u{2011}', '-'), verdict.classList.contains('good')];
";

/// A password and the verdict about it. The password may name the address `{email}` and its `{domain}`.
type Row = (String, &'static str);

/// The passwords whose characters, bytes and code points differ in number.
fn of_length() -> Vec<Row> {
    let (words, decomposed) = ("many words ".repeat(12), "o\u{30b}");
    vec![
        ("short".to_owned(), TOO_SHORT),
        ("ő".repeat(7), TOO_SHORT),
        ("\u{1f9a9}\u{1f335}".repeat(3), TOO_SHORT),
        // Seven characters in NFC, of two code points each.
        (decomposed.repeat(7), TOO_SHORT),
        ("a\u{301}e\u{301}o\u{301} xyz!".to_owned(), GOOD),
        ("\u{1f9a9}\u{1f335}x9f3kq".to_owned(), GOOD),
        ("my dog ate it".to_owned(), GOOD),
        (words[..128].to_owned(), GOOD),
        (words[..129].to_owned(), TOO_LONG),
        (decomposed.repeat(128), GOOD),
        (decomposed.repeat(129), TOO_LONG),
        ("\u{1f9a9}\u{1f335}".repeat(64), GOOD),
    ]
}

/// The passwords that are easy to guess, or resemble one that is.
fn easy_to_guess() -> Vec<Row> {
    let rows = [
        ("87654321", SEQUENCE),
        ("aaaaaaaa", SEQUENCE),
        ("AbCdEfGh", SEQUENCE),
        ("Annabelle.Lee99", LIKE_ADDRESS),
        ("!!Annabelle.Lee!!", LIKE_ADDRESS),
        ("{email}", LIKE_ADDRESS),
        ("{domain}", LIKE_ADDRESS),
        ("password1", COMMON),
        ("1q2w3e4r!", COMMON),
        // The name of the issuer is on its list.
        ("latchkey", COMMON),
        ("abcdefgi", GOOD),
        ("annabelle.lee-20881", GOOD),
    ];
    let rows = rows.map(|(password, verdict)| (password.to_owned(), verdict));
    // Passwords of up to 40 characters are compared.
    let sequences = [("ő".repeat(40), SEQUENCE), ("ő".repeat(41), GOOD)];
    rows.into_iter().chain(sequences).collect()
}

/// Asks for the verdict as the script of the page does. Returns its words.
async fn judge(browser: &mut Browser, page: &Page, email: &str, password: &str) -> String {
    let fields = [
        ("csrf", page.hidden("csrf").unwrap()),
        ("email", email.to_owned()),
        ("new_password", password.to_owned()),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    let action = page.url.join("/password/verdict").unwrap();
    let verdict = browser.post(&action, &fields).await.reply.expect(200).json();
    let text = verdict["text"].as_str().unwrap().replace('\u{2011}', "-");
    assert_eq!(verdict["acceptable"], text == GOOD, "{verdict}");
    text
}

async fn the_verdict_is_that_of_the_form(world: SharedWorld) {
    let user = world.fresh_email();
    let (user, _) = user.split_once('@').unwrap();
    for (n, (password, verdict)) in of_length().into_iter().chain(easy_to_guess()).enumerate() {
        let domain = format!("s{n}.{user}.example");
        let email = format!("annabelle.lee@{domain}");
        // In capitals, because the end of the run looks for passwords in the database, which has the address.
        let password = password.replace("{email}", &email.to_uppercase());
        let password = password.replace("{domain}", &domain.to_uppercase());
        let mut browser = world.browser();
        let form = browser.open("/signup").await;
        let judged = judge(&mut browser, &form, &email, &password).await;
        assert_eq!(judged, verdict, "{password}");
        let fields = [("email", email.as_str()), ("password", &password)];
        let answer = browser.submit(&form, &fields).await;
        match verdict {
            GOOD => assert_eq!(answer.reply.status, 303, "{password}: {}", answer.reply),
            words => expect_words(&answer, 422, words),
        }
    }
}

/// An address that is not complete yet is compared with no password.
async fn the_pages_of_a_new_password_get_verdicts(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let page = browser.open("/password").await;
    for (email, verdict) in [(user.email.as_str(), LIKE_ADDRESS), ("", GOOD), ("user", GOOD)] {
        let password = format!("{}!", user.email.to_uppercase());
        let judged = judge(&mut browser, &page, email, &password).await;
        assert_eq!(judged, verdict, "{email}");
    }
    for path in ["/signup", "/password"] {
        let page = browser.open(path).await;
        let policy = page.reply.header("content-security-policy");
        assert!(policy.ends_with("; connect-src 'self'"), "{path}: {policy}");
    }
    let mut german = user.browser().in_language("de");
    let action = page.url.join("/password/verdict").unwrap();
    let fields = [("csrf", user.csrf.as_str()), ("new_password", "password1")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let verdict = german.post(&action, &fields).await.reply.expect(200).json();
    let words = "Zu häufig benutzt. Wählen Sie ein anderes.";
    assert_eq!(verdict, json!({ "acceptable": false, "text": words }));
}

async fn only_a_page_of_the_issuer_gets_a_verdict(world: SharedWorld) {
    let page = world.browser().open("/signup").await;
    let csrf = page.hidden("csrf").unwrap();
    let caller = world.anyone().with("cookie", &format!("csrf={csrf}"));
    let ask = |csrf: &str, password: &str| {
        let fields = [("csrf", csrf), ("new_password", password)];
        caller.post("/password/verdict").form(&fields)
    };
    ask(&csrf, "password1").await.expect(200);
    ask("x", "password1").await.expect(403);
    for (name, value) in [
        ("origin", "https://attacker.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        ask(&csrf, "password1").header(name, value).await.expect(403);
    }
    let huge = ask(&csrf, &"x".repeat(64 * 1024)).await;
    huge.expect_error(413, "payload_too_large");
}

async fn a_common_password_is_marked_while_it_is_typed(world: SharedWorld) {
    let chromium = Chromium::in_language("en").await;
    chromium.open(&format!("{}/signup", world.base())).await;
    let typed = async |field: &str, text: &str| -> Value {
        chromium.fill(field, text).await;
        chromium.run(SAID, &[]).await
    };
    typed("#email", "annabelle.lee@shop.example").await;
    for (password, verdict, is_good) in [
        // The page counts the characters by itself, and says nothing else while there are too few.
        ("short", "", false),
        ("password1", COMMON, false),
        ("my dog ate it", GOOD, true),
        ("AbCdEfGh", SEQUENCE, false),
        ("Annabelle.Lee99", LIKE_ADDRESS, false),
    ] {
        let said = typed("#password", password).await;
        assert_eq!(said, json!([verdict, is_good]), "{password}");
    }
    // A change of the address changes the verdict.
    assert_eq!(typed("#email", "ben@shop.example").await, json!([GOOD, true]));
    // If the issuer cannot be reached, the page judges the length alone.
    let unreachable = "window.fetch = async () => { throw new TypeError('unreachable'); };";
    chromium.run(unreachable, &[]).await;
    assert_eq!(typed("#password", "password1").await, json!([ENOUGH, true]));
    assert_eq!(typed("#password", "passwor").await, json!(["", false]));
}

on_every_shape!(
    the_pages_of_a_new_password_get_verdicts,
    only_a_page_of_the_issuer_gets_a_verdict,
);
on_shapes!(the_verdict_is_that_of_the_form: sqlite Sqlite);
on_shapes!(a_common_password_is_marked_while_it_is_typed: sqlite Sqlite);
