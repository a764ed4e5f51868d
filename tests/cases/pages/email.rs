//! `/account/email`.

use super::expect_words;
use serde_json::json;
use storage::execute;
use tests::{Browser, PASSWORD, Page, SharedWorld, on_every_shape};

const TO_NEW: &str = "Confirm your new e-mail address";
const TO_OLD: &str = "A new e-mail address was requested";

async fn open(browser: &mut Browser) -> Page {
    super::open(browser, "/account/email").await
}

async fn a_user_changes_the_address(world: SharedWorld) {
    let user = world.sign_up_confirmed().await;
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    assert!(page.visible_text().contains(&user.email), "{}", page.reply);
    let email = world.fresh_email();
    let sent = browser.submit(&page, &[("email", &email)]).await;
    expect_words(&sent, 200, "Check your e-mail");
    expect_words(&sent, 200, &format!("We have sent a link to {email}."));
    world.mail(&user.email, TO_OLD, 1).await;
    let me = user.get("/me").await.expect(200).json();
    assert_eq!(me["email"], json!(user.email));
    let link = world.mail(&email, TO_NEW, 1).await.link();
    let form = browser.open(link.as_str()).await;
    let csrf = form.hidden("csrf").unwrap();
    let done = browser.submit(&form, &[("csrf", &csrf)]).await;
    assert_eq!(done.reply.status, 200, "{}", done.reply);
    world.log_in(&email, PASSWORD).await;
}

async fn the_account_shows_a_change_that_waits(world: SharedWorld) {
    let user = world.sign_up().await;
    let mut browser = user.browser();
    let waits = |email: &str| format!("You asked to change this address to {email}");
    // The link that confirms the present address is no change.
    let account = browser.open("/account").await;
    assert!(
        !account.visible_text().contains("You asked to change"),
        "{}",
        account.reply
    );
    let [first, second] = [(); 2].map(|()| world.fresh_email());
    for email in [&first, &second] {
        let page = open(&mut browser).await;
        browser.submit(&page, &[("email", email)]).await;
        expect_words(&browser.open("/account").await, 200, &waits(email));
    }
    let account = browser.open("/account").await;
    assert!(!account.visible_text().contains(&first), "{}", account.reply);
    // An expired link changes nothing.
    let expire = "UPDATE mailed_tokens SET expires_at = 1 WHERE user_id = $1";
    execute!(world.db().await.writer(), expire, user.id).unwrap();
    let account = browser.open("/account").await;
    assert!(!account.visible_text().contains(&second), "{}", account.reply);
}

async fn the_form_says_what_is_wrong(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    let refused = browser.submit(&page, &[("email", "no address")]).await;
    expect_words(&refused, 422, "This is not a valid e-mail address");
    assert!(refused.reply.text().contains("no address"), "{}", refused.reply);
    let email = world.fresh_email();
    let forged = [("email", email.as_str()), ("csrf", "x")];
    let forged = browser.submit(&page, &forged).await;
    assert_eq!(forged.reply.status, 403, "{}", forged.reply);
    world.wait_until_mailed().await;
    assert!(world.mails(&email).is_empty());
}

on_every_shape!(
    a_user_changes_the_address,
    the_account_shows_a_change_that_waits,
    the_form_says_what_is_wrong,
);
