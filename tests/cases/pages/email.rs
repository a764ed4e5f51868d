//! `/account/email`.

use serde_json::json;
use tests::{Authenticator, Browser, PASSWORD, Page, SharedWorld, on_every_shape};

const TO_NEW: &str = "Confirm your new e-mail address";
const TO_OLD: &str = "A new e-mail address was requested";

async fn open(browser: &mut Browser) -> Page {
    let page = browser.open("/account/email").await;
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    page.expect_page_within_origin();
    page
}

async fn a_user_changes_the_address(world: SharedWorld) {
    let user = world.sign_up_confirmed().await;
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    assert!(page.visible_text().contains(&user.email), "{}", page.reply);
    assert!(
        !page.asks_for("password") && !page.asks_for("otp"),
        "{}",
        page.reply
    );
    let email = world.fresh_email();
    let sent = browser.submit(&page, &[("email", &email)]).await;
    assert_eq!(sent.reply.status, 200, "{}", sent.reply);
    assert!(sent.visible_text().contains("Check your mail"), "{}", sent.reply);
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

async fn the_form_says_what_is_wrong(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let of_new_session = open(&mut browser).await;
    world.age_sign_ins_of(&user).await;
    let email = world.fresh_email();
    let too_late = browser.submit(&of_new_session, &[("email", &email)]).await;
    assert_eq!(too_late.reply.status, 422, "{}", too_late.reply);
    let page = open(&mut browser).await;
    assert!(
        page.asks_for("password") && !page.asks_for("otp"),
        "{}",
        page.reply
    );
    for (to, password, words) in [
        ("no address", PASSWORD, "This is no e-mail address"),
        (
            email.as_str(),
            "not the password",
            "The current password is wrong",
        ),
        (email.as_str(), "", "You signed in over ten minutes ago"),
    ] {
        let refused = browser
            .submit(&page, &[("email", to), ("password", password)])
            .await;
        assert_eq!(refused.reply.status, 422, "{}", refused.reply);
        assert!(
            refused.visible_text().contains(words),
            "{words}: {}",
            refused.reply
        );
        assert!(refused.reply.text().contains(to), "{}", refused.reply);
        assert!(!refused.reply.text().contains("not the password"));
    }
    let forged = [("email", email.as_str()), ("password", PASSWORD), ("csrf", "x")];
    let forged = browser.submit(&page, &forged).await;
    assert_eq!(forged.reply.status, 403, "{}", forged.reply);
    world.wait_until_mailed().await;
    assert!(world.mails(&email).is_empty());
}

async fn two_step_sign_in_asks_for_a_code(world: SharedWorld) {
    let user = world.user().await;
    let app = Authenticator::enable(&world, &user).await;
    let user = world.log_in_with(&app.sign_in(&world, &user)).await;
    let mut browser = user.browser();
    let of_new_session = open(&mut browser).await;
    assert!(!of_new_session.asks_for("otp"), "{}", of_new_session.reply);
    world.age_sign_ins_of(&user).await;
    let page = open(&mut browser).await;
    assert!(page.asks_for("otp"), "{}", page.reply);
    let email = world.fresh_email();
    for (otp, status) in [
        ("", 422),
        ("000000000", 422),
        (app.recovery_codes[0].as_str(), 200),
    ] {
        let fields = [("email", email.as_str()), ("password", PASSWORD), ("otp", otp)];
        let reply = browser.submit(&page, &fields).await.reply;
        assert_eq!(reply.status, status, "{reply}");
    }
    world.mail(&email, TO_NEW, 1).await;
}

on_every_shape!(
    a_user_changes_the_address,
    the_form_says_what_is_wrong,
    two_step_sign_in_asks_for_a_code,
);
