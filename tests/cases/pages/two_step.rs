//! `/account/two-step`.

use super::{expect_redirect, expect_words};
use serde_json::json;
use tests::{Authenticator, Browser, PASSWORD, Page, SharedWorld, User, World, on_every_shape};

async fn open(browser: &mut Browser) -> Page {
    super::open(browser, "/account/two-step").await
}

/// Begins to turn two-step sign-in on.
async fn begin(browser: &mut Browser) -> Page {
    let page = open(browser).await;
    let csrf = page.hidden("csrf").unwrap();
    let begun = browser.submit(&page, &[("csrf", &csrf)]).await;
    expect_words(&begun, 200, "Set up your authenticator app");
    begun
}

/// Whether the account of the user has two-step sign-in on. The user is signed in by this browser.
async fn is_on(browser: &mut Browser) -> bool {
    let account = browser.open("/account").await;
    expect_words(&account, 200, "Two-step sign-in O");
    account.visible_text().contains("Two-step sign-in On:")
}

async fn a_user_turns_two_step_sign_in_on(world: SharedWorld) {
    let user = world.user().await;
    let elsewhere = world.log_in(&user.email, PASSWORD).await;
    let mut browser = user.browser();
    let begun = begin(&mut browser).await;
    assert!(begun.reply.text().contains("<svg "), "{}", begun.reply);
    assert!(!is_on(&mut browser).await);
    let app = Authenticator::of_page(&begun);
    let done = browser.submit(&begun, &[("otp", &app.next_code(&world))]).await;
    expect_words(&done, 200, "Your recovery codes");
    assert!(is_on(&mut browser).await);
    elsewhere.get("/me").await.expect_error(401, "unauthenticated");
    user.get("/me").await.expect_error(401, "unauthenticated");
    // Both the app and the recovery codes of the page sign the user in.
    world.log_in_with(&app.sign_in(&world, &user)).await;
    for code in done.recovery_codes().iter().take(2) {
        let body = json!({ "email": user.email, "password": PASSWORD, "otp": code });
        world.log_in_with(&body).await;
    }
    assert_eq!(done.recovery_codes().len(), 10);
}

async fn a_wrong_code_turns_nothing_on(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let begun = begin(&mut browser).await;
    let app = Authenticator::of_page(&begun);
    let too_long = "1".repeat(65);
    for code in [app.code(&world, 5).as_str(), "", "x", &too_long] {
        let refused = browser.submit(&begun, &[("otp", code)]).await;
        expect_words(&refused, 422, "This code is wrong");
        // The page shows the same secret again.
        assert_eq!(
            Authenticator::of_page(&refused).code(&world, 0),
            app.code(&world, 0)
        );
    }
    assert!(!is_on(&mut browser).await);
    let forged = browser
        .submit(
            &begun,
            &[("otp", &app.next_code(&world)), ("csrf", "another-token")],
        )
        .await;
    assert_eq!(forged.reply.status, 403, "{}", forged.reply);
    assert!(!is_on(&mut browser).await);
}

/// A user with two-step sign-in, the app, and a browser in which the user is signed in.
async fn enrolled(world: &World) -> (User, Authenticator, Browser) {
    let user = world.user().await;
    let app = Authenticator::enable(world, &user).await;
    let user = world.log_in_with(&app.sign_in(world, &user)).await;
    let browser = user.browser();
    (user, app, browser)
}

/// Submits one of the forms of a user with two-step sign-in.
async fn post(browser: &mut Browser, form: &str) -> Page {
    let page = open(browser).await;
    let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
    let action = page.url.join(&format!("/account/two-step/{form}")).unwrap();
    browser.post(&action, &fields).await
}

async fn a_user_renews_the_recovery_codes(world: SharedWorld) {
    let (user, app, mut browser) = enrolled(&world).await;
    let account = browser.open("/account").await;
    expect_words(&account, 200, "10 recovery codes are left.");
    assert!(
        !account.visible_text().contains("almost no recovery codes"),
        "{}",
        account.reply
    );
    let done = post(&mut browser, "recovery-codes").await;
    expect_words(&done, 200, "Your recovery codes were replaced");
    let codes = done.recovery_codes();
    assert_eq!(codes.len(), 10);
    let log_in = |otp: &str| {
        let body = json!({ "email": user.email, "password": PASSWORD, "otp": otp });
        world.anyone().post("/login").json(&body)
    };
    log_in(&app.recovery_codes[0])
        .await
        .expect_error(403, "mfa_required");
    for code in &codes[..8] {
        log_in(code).await.expect(200);
    }
    let account = browser.open("/account").await;
    for words in [
        "2 recovery codes are left.",
        "You have almost no recovery codes left.",
        "The recovery codes were replaced",
    ] {
        expect_words(&account, 200, words);
    }
    // There is nothing to renew once two-step sign-in is off.
    post(&mut browser, "off").await;
    let outdated = post(&mut browser, "recovery-codes").await;
    expect_redirect(&outdated, "/account/two-step");
}

/// The hidden field of the form for recovery codes.
const RECOVERY: Option<(&str, &str)> = Some(("is_recovery_code", "true"));

async fn a_recovery_code_has_a_form_of_its_own(world: SharedWorld) {
    let (user, app, _) = enrolled(&world).await;
    let mut browser = world.browser();
    let sign_in = browser.open("/signin").await;
    let fields = [("email", user.email.as_str()), ("password", PASSWORD)];
    let to_code = browser.submit(&sign_in, &fields).await;
    let mut page = browser.open(to_code.location().unwrap().as_str()).await;
    let is_open = |page: &Page| page.reply.text().contains("<details open>");
    assert!(!is_open(&page), "{}", page.reply);
    // A code of the app in the form for recovery codes, and a recovery code in the other one.
    for (code, form, words) in [
        ("000000", None, "Wait for the next one"),
        ("000000", RECOVERY, "This recovery code is wrong"),
        ("abcd-abcd-abcd-abcd", None, "Wait for the next one"),
        ("abcd-abcd-abcd-abcd", RECOVERY, "This recovery code is wrong"),
    ] {
        let fields: Vec<_> = form.into_iter().chain([("otp", code)]).collect();
        page = browser.submit(&page, &fields).await;
        expect_words(&page, 401, words);
        assert_eq!(is_open(&page), form.is_some(), "{}", page.reply);
    }
    let code = app.recovery_codes[0].as_str();
    let fields = RECOVERY.into_iter().chain([("otp", code)]).collect::<Vec<_>>();
    let done = browser.submit(&page, &fields).await;
    assert_eq!(done.reply.status, 303, "{}", done.reply);
}

async fn a_user_turns_two_step_sign_in_off(world: SharedWorld) {
    let (user, app, mut browser) = enrolled(&world).await;
    let with_recovery_code =
        json!({ "email": user.email, "password": PASSWORD, "otp": app.recovery_codes[1] });
    let elsewhere = world.log_in_with(&with_recovery_code).await;
    let done = post(&mut browser, "off").await;
    expect_words(&done, 200, "Two-step sign-in is off");
    assert!(!is_on(&mut browser).await);
    elsewhere.get("/me").await.expect_error(401, "unauthenticated");
    world.log_in(&user.email, PASSWORD).await;
}

/// A form whose change was made elsewhere meanwhile leads to the page as it is now.
async fn an_outdated_form_shows_the_present_page(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let (to_turn_on, to_confirm) = (open(&mut browser).await, begin(&mut browser).await);
    let app = Authenticator::of_page(&to_confirm);
    browser
        .submit(&to_confirm, &[("otp", &app.next_code(&world))])
        .await;
    let (csrf, code) = (to_turn_on.hidden("csrf").unwrap(), app.next_code(&world));
    for (page, fields) in [
        (&to_turn_on, [("csrf", csrf.as_str())]),
        (&to_confirm, [("otp", code.as_str())]),
    ] {
        let outdated = browser.submit(page, &fields).await;
        assert_eq!(outdated.reply.status, 303, "{}", outdated.reply);
        assert_eq!(outdated.location().unwrap().path(), "/account/two-step");
    }
    assert!(is_on(&mut browser).await);
}

async fn the_pages_need_a_session(world: SharedWorld) {
    let mut stranger = world.browser();
    for path in [
        "/account/two-step",
        "/account/email",
        "/account/deletion",
        "/account/export",
    ] {
        let page = stranger.open(path).await;
        assert_eq!(page.location().unwrap().path(), "/signin", "{}", page.reply);
    }
    let user = world.user().await;
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    user.post("/logout").await.expect(204);
    let ended = browser
        .submit(&page, &[("csrf", &page.hidden("csrf").unwrap())])
        .await;
    assert_eq!(ended.location().unwrap().path(), "/signin", "{}", ended.reply);
}

on_every_shape!(
    a_user_turns_two_step_sign_in_on,
    a_wrong_code_turns_nothing_on,
    a_user_renews_the_recovery_codes,
    a_recovery_code_has_a_form_of_its_own,
    a_user_turns_two_step_sign_in_off,
    an_outdated_form_shows_the_present_page,
    the_pages_need_a_session,
);
