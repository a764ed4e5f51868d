//! `/signin` and the pages around it: the code on a page of its own, and the ways back into a flow from the
//! links in mails.

use super::expect_words;
use std::time::Duration;
use tests::{App, Authenticator, Browser, PASSWORD, Page, SharedWorld, User, World, on_every_shape};

const NEW_PASSWORD: &str = "another good password";
/// The time in which the code must follow the password.
const FIRST_STEP_LIFETIME: Duration = Duration::from_secs(5 * 60);

/// Opens the page to which this one redirects.
async fn follow(browser: &mut Browser, page: &Page) -> Page {
    let location = page
        .location()
        .unwrap_or_else(|| panic!("no redirect: {}", page.reply));
    browser.open(location.as_str()).await
}

/// Enters the right password of an account with two-step sign-in. Returns the page for the code.
async fn enter_password(browser: &mut Browser, page: &Page, user: &User) -> Page {
    let fields = [("email", user.email.as_str()), ("password", PASSWORD)];
    let to_code = browser.submit(page, &fields).await;
    assert!(to_code.reply.set_cookie("sid").is_none(), "{}", to_code.reply);
    let page = follow(browser, &to_code).await;
    expect_words(&page, 200, "Enter the code");
    assert!(
        page.asks_for("otp") && !page.asks_for("password"),
        "{}",
        page.reply
    );
    page
}

async fn with_two_steps(world: &World) -> (User, Authenticator) {
    let user = world.user().await;
    let authenticator = Authenticator::enable(world, &user).await;
    (user, authenticator)
}

async fn the_code_follows_on_a_page_of_its_own(world: SharedWorld) {
    let (ann, authenticator) = with_two_steps(&world).await;
    let mut browser = world.browser();
    let sign_in = browser.open("/signin").await;
    let mut page = enter_password(&mut browser, &sign_in, &ann).await;
    page.expect_page_within_origin();
    let too_long = "1".repeat(65);
    for code in ["", &authenticator.code(&world, 120), &too_long] {
        page = browser.submit(&page, &[("otp", code)]).await;
        expect_words(&page, 401, "wrong or was used");
        assert!(page.visible_text().contains(&ann.email), "{}", page.reply);
    }
    // Authenticators show the digits in groups.
    let mut code = authenticator.next_code(&world);
    code.insert(3, ' ');
    let done = browser.submit(&page, &[("otp", &code)]).await;
    let account = follow(&mut browser, &done).await;
    assert!(browser.cookie("first_step").is_none(), "{}", done.reply);
    let account = follow(&mut browser, &account).await;
    expect_words(&account, 200, &ann.email);
    // The browser goes back.
    let back = browser.open("/signin/second-step").await;
    assert_eq!(back.location().unwrap().path(), "/account", "{}", back.reply);
}

async fn the_cookie_of_the_first_step_goes_to_its_page_alone(world: SharedWorld) {
    let (ann, _) = with_two_steps(&world).await;
    let mut browser = world.browser();
    let sign_in = browser.open("/signin").await;
    let fields = [("email", ann.email.as_str()), ("password", PASSWORD)];
    let reply = browser.submit(&sign_in, &fields).await.reply;
    let cookie = reply.set_cookie("first_step").unwrap();
    for attribute in [
        "Path=/signin/second-step",
        "HttpOnly",
        "Secure",
        "SameSite=Strict",
        "Max-Age=300",
    ] {
        assert!(
            cookie.split("; ").any(|found| found == attribute),
            "{attribute}: {cookie}"
        );
    }
}

async fn a_code_completes_a_flow(world: SharedWorld) {
    let (ann, authenticator) = with_two_steps(&world).await;
    let app = world.app().first_party().register();
    let mut browser = world.browser();
    let sign_in = begin_flow(&mut browser, &app).await;
    let page = enter_password(&mut browser, &sign_in, &ann).await;
    expect_words(&page, 200, "Afterwards you continue to Some App");
    let done = browser
        .submit(&page, &[("otp", &authenticator.recovery_codes[0])])
        .await;
    let to_app = follow(&mut browser, &done).await.location().unwrap();
    assert!(to_app.as_str().starts_with(tests::CALLBACK), "{to_app}");
    assert!(to_app.query_pairs().any(|(name, _)| name == "code"), "{to_app}");
}

/// Expects that a code is not accepted: the browser is asked for the password again.
async fn expect_ended(browser: &mut Browser, page: &Page, code: &str) {
    let ended = browser.submit(page, &[("otp", code)]).await;
    expect_words(&ended, 400, "Enter your password again");
    assert!(ended.asks_for("password"), "{}", ended.reply);
    assert!(ended.reply.set_cookie("sid").is_none(), "{}", ended.reply);
}

async fn a_code_is_checked_for_the_account_that_the_page_named(world: SharedWorld) {
    let (ann, of_ann) = with_two_steps(&world).await;
    let (bob, of_bob) = with_two_steps(&world).await;
    let mut browser = world.browser();
    let sign_in = browser.open("/signin").await;
    let of_first_tab = enter_password(&mut browser, &sign_in, &ann).await;
    enter_password(&mut browser, &sign_in, &bob).await;
    for code in [&of_ann.recovery_codes[0], &of_bob.recovery_codes[0]] {
        let refused = browser.submit(&of_first_tab, &[("otp", code)]).await;
        expect_words(&refused, 409, "another account was entered");
        assert!(refused.visible_text().contains(&bob.email), "{}", refused.reply);
    }
    // Neither code was used.
    for (user, authenticator) in [(ann, of_ann), (bob, of_bob)] {
        let body = serde_json::json!({
            "email": user.email, "password": PASSWORD, "otp": authenticator.recovery_codes[0],
        });
        world.log_in_with(&body).await;
    }
}

async fn the_first_step_ends(world: SharedWorld) {
    let (ann, authenticator) = with_two_steps(&world).await;
    let mut browser = world.browser();
    let stranger = browser.open("/signin/second-step").await;
    expect_words(&stranger, 400, "Enter your password again");
    let sign_in = browser.open("/signin").await;
    let page = enter_password(&mut browser, &sign_in, &ann).await;
    let mut without_cookie = world.browser();
    without_cookie.set_cookie("csrf", browser.cookie("csrf").unwrap());
    expect_ended(&mut without_cookie, &page, &authenticator.recovery_codes[0]).await;
    let mut altered = browser.clone();
    let first_step = browser.cookie("first_step").unwrap();
    altered.set_cookie("first_step", &first_step[1..]);
    expect_ended(&mut altered, &page, &authenticator.recovery_codes[0]).await;
    let change = serde_json::json!({ "current_password": PASSWORD, "new_password": NEW_PASSWORD });
    let signed_in = world.log_in_with(&authenticator.sign_in(&world, &ann)).await;
    signed_in
        .call("PUT", "/me/password")
        .json(&change)
        .await
        .expect(204);
    expect_ended(&mut browser, &page, &authenticator.recovery_codes[0]).await;
}

async fn the_first_step_ends_after_five_minutes(shape: tests::Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, authenticator) = with_two_steps(&world).await;
    let mut browser = world.browser();
    let sign_in = browser.open("/signin").await;
    let page = enter_password(&mut browser, &sign_in, &ann).await;
    world.advance(FIRST_STEP_LIFETIME);
    expect_ended(&mut browser, &page, &authenticator.recovery_codes[0]).await;
}

async fn codes_of_the_page_count_as_attempts(world: SharedWorld) {
    let (ann, authenticator) = with_two_steps(&world).await;
    let mut browser = world.browser();
    let sign_in = browser.open("/signin").await;
    let mut page = enter_password(&mut browser, &sign_in, &ann).await;
    for _ in 0..5 {
        page = browser
            .submit(&page, &[("otp", &authenticator.code(&world, 120))])
            .await;
        expect_words(&page, 401, "wrong or was used");
    }
    let locked = browser
        .submit(&page, &[("otp", &authenticator.recovery_codes[0])])
        .await;
    expect_words(&locked, 429, "Sign-in is blocked");
}

/// Begins the flow of an app. Returns the sign-in page.
async fn begin_flow(browser: &mut Browser, app: &App) -> Page {
    let to_sign_in = browser.open(&app.authorization().path()).await;
    follow(browser, &to_sign_in).await
}

/// Resets the password of a user with the newest mailed link, in this browser. Returns the page that leads
/// on.
async fn reset(world: &World, browser: &mut Browser, user: &User, mails: usize) -> Page {
    let mail = world.mail(&user.email, "Reset your password", mails).await;
    let form = browser.open(mail.link().as_str()).await;
    let done = browser.submit(&form, &[("new_password", NEW_PASSWORD)]).await;
    expect_words(&done, 200, "Your password was changed");
    expect_words(&done, 200, "the passkeys of the account were removed");
    done
}

/// The only link of a page to another page, apart from those that choose the language.
fn next(page: &Page) -> url::Url {
    let is_next = |link: &url::Url| !link.query().unwrap_or_default().contains("language=");
    let links: Vec<_> = page.links().into_iter().filter(is_next).collect();
    assert_eq!(links.len(), 1, "{}", page.reply);
    links[0].clone()
}

async fn a_reset_goes_back_into_the_flow(world: SharedWorld) {
    let ann = world.user().await;
    let app = world.app().first_party().register();
    let mut browser = world.browser();
    let sign_in = begin_flow(&mut browser, &app).await;
    let links = sign_in.links();
    let forgot = links.iter().find(|link| link.path() == "/forgot").unwrap();
    let form = browser.open(forgot.as_str()).await;
    let sent = browser.submit(&form, &[("email", &ann.email)]).await;
    browser.submit(&sent, &[("email", &ann.email)]).await;
    let done = reset(&world, &mut browser, &ann, 2).await;
    let sign_in = browser.open(next(&done).as_str()).await;
    let fields = [("email", ann.email.as_str()), ("password", NEW_PASSWORD)];
    let signed_in = browser.submit(&sign_in, &fields).await;
    let to_app = follow(&mut browser, &signed_in).await.location().unwrap();
    assert!(to_app.as_str().starts_with(tests::CALLBACK), "{to_app}");
    assert!(browser.cookie("interrupted_flow").is_none());
    // A reset that begins outside a flow forgets a flow that was given up, and another browser has none.
    browser.delete_cookie("sid");
    let given_up = begin_flow(&mut browser, &app).await;
    let links = given_up.links();
    let forgot = links.iter().find(|link| link.path() == "/forgot").unwrap();
    let form = browser.open(forgot.as_str()).await;
    browser.submit(&form, &[("email", &world.fresh_email())]).await;
    assert!(browser.cookie("interrupted_flow").is_some());
    let mut elsewhere = world.browser();
    for browser in [&mut browser, &mut elsewhere] {
        let bob = world.user().await;
        let form = browser.open("/forgot").await;
        browser.submit(&form, &[("email", &bob.email)]).await;
        let done = reset(&world, browser, &bob, 1).await;
        assert_eq!(
            (next(&done).path(), next(&done).query()),
            ("/signin", None),
            "{}",
            done.reply
        );
    }
}

/// The page that the link "Use another account" opens leads back, unless the app demands another sign-in.
async fn the_page_of_a_flow_leads_back_to_the_consent(world: SharedWorld) {
    let (ann, app) = (world.user().await, world.app().register());
    let signed_in = format!("You are signed in as {}", ann.email);
    let link = |page: &Page, path: &str| page.links().into_iter().find(|link| link.path() == path);
    let mut browser = ann.browser();
    let consent = begin_flow(&mut browser, &app).await;
    let mut sign_in = browser.open(link(&consent, "/signin").unwrap().as_str()).await;
    for status in [200, 401] {
        expect_words(&sign_in, status, &signed_in);
        let back = browser.open(link(&sign_in, "/consent").unwrap().as_str()).await;
        assert!(back.asks_for("decision"), "{}", back.reply);
        let wrong = [("email", ann.email.as_str()), ("password", "not the password")];
        sign_in = browser.submit(&sign_in, &wrong).await;
    }
    let request = app.authorization().set("prompt", "login");
    let to_sign_in = browser.open(&request.path()).await;
    let sign_in = follow(&mut browser, &to_sign_in).await;
    expect_words(&sign_in, 200, &signed_in);
    assert_eq!(link(&sign_in, "/consent"), None, "{}", sign_in.reply);
}

async fn a_confirmation_goes_back_into_the_flow(world: SharedWorld) {
    let app = world.app().register();
    let mut browser = world.browser();
    let sign_in = begin_flow(&mut browser, &app).await;
    let links = sign_in.links();
    let sign_up = links.iter().find(|link| link.path() == "/signup").unwrap();
    let form = browser.open(sign_up.as_str()).await;
    let email = world.fresh_email();
    browser
        .submit(&form, &[("email", &email), ("password", PASSWORD)])
        .await;
    let link = world.mail(&email, "Confirm your e-mail address", 1).await.link();
    let confirm = browser.open(link.as_str()).await;
    let csrf = confirm.hidden("csrf").unwrap();
    let done = browser.submit(&confirm, &[("csrf", &csrf)]).await;
    expect_words(&done, 200, "Your address is confirmed");
    let consent = browser.open(next(&done).as_str()).await;
    assert!(consent.asks_for("decision"), "{}", consent.reply);
}

on_every_shape!(
    the_code_follows_on_a_page_of_its_own,
    the_cookie_of_the_first_step_goes_to_its_page_alone,
    a_code_completes_a_flow,
    a_code_is_checked_for_the_account_that_the_page_named,
    the_first_step_ends,
    the_first_step_ends_after_five_minutes,
    codes_of_the_page_count_as_attempts,
    a_reset_goes_back_into_the_flow,
    the_page_of_a_flow_leads_back_to_the_consent,
    a_confirmation_goes_back_into_the_flow,
);
