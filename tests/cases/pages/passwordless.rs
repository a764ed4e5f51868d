//! Accounts without a password.

mod by_api;

use super::{expect_redirect, expect_words};
use serde_json::{Value, json};
use tests::{
    Authenticator, Browser, PASSWORD, Page, Passkey, SharedWorld, User, World, on_every_shape,
    run_concurrently,
};

const NEW_PASSWORD: &str = "another good password";

/// Submits the form with this action, which has no field of its own.
async fn post(browser: &mut Browser, action: &str) -> Page {
    let page = browser.open("/account/passkeys").await;
    let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
    browser.post(&page.url.join(action).unwrap(), &fields).await
}

async fn remove_password(browser: &mut Browser) -> Page {
    post(browser, "/account/password/removal").await
}

/// Removes the oldest passkey.
async fn remove_passkey(browser: &mut Browser) -> Page {
    let page = browser.open("/account/passkeys").await;
    let fields = ["csrf", "passkey"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
    let action = page.url.join("/account/passkeys/removal").unwrap();
    browser.post(&action, &fields).await
}

/// The account of the user, as the API shows it in the session of this browser.
async fn me(world: &World, browser: &Browser, user: &User) -> Value {
    let caller = world.anyone().session(browser.cookie("sid").unwrap(), &user.csrf);
    caller.get("/me").await.expect(200).json()
}

/// A user with a confirmed address and a passkey that has signed in, and the browser in which it did.
async fn with_used_passkey(world: &World) -> (User, Passkey, Browser) {
    let user = world.sign_up_confirmed().await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    let mut browser = world.browser();
    expect_redirect(&passkey.sign_in(&mut browser).await, "/account");
    (user, passkey, browser)
}

/// A user without a password, the passkey, and a browser in which it has signed in.
pub(super) async fn without_password(world: &World) -> (User, Passkey, Browser) {
    let (user, passkey, mut browser) = with_used_passkey(world).await;
    expect_redirect(&remove_password(&mut browser).await, "/account/passkeys");
    (user, passkey, browser)
}

async fn a_user_goes_without_a_password(world: SharedWorld) {
    let (user, passkey, mut browser) = with_used_passkey(&world).await;
    assert_eq!(me(&world, &browser, &user).await["has_password"], true);
    let app = world.app().first_party().register();
    let tokens = app.tokens(&user, "posts:read").await;
    let mut elsewhere = user.browser();
    let page = browser.open("/account/passkeys").await;
    expect_words(
        &page,
        200,
        "You can remove your password and sign in with passkeys alone.",
    );
    page.expect_page_within_origin();
    expect_redirect(&remove_password(&mut browser).await, "/account/passkeys");

    assert_eq!(me(&world, &browser, &user).await["has_password"], false);
    let page = browser.open("/account/passkeys").await;
    expect_words(&page, 200, "You have no password");
    let account = browser.open("/account").await;
    expect_words(&account, 200, "Set a password");
    expect_words(&account, 200, "The password was removed");
    expect_words(&account, 200, "None: you sign in with passkeys alone");
    let ended = elsewhere.open("/signin").await;
    expect_words(
        &ended,
        200,
        "because the password of your account was removed on another device.",
    );
    let refused = app.refresh(&world.anyone(), &tokens.refresh).await;
    let refused = refused.expect_token_error(400, "invalid_grant");
    assert!(
        refused.text().contains("the user removed the password"),
        "{refused}"
    );
    world.mail(&user.email, "Your password was removed", 1).await;
    let admin = world.user_with_role("admin").await;
    let account = admin.get(&format!("/admin/users/{}", user.id)).await.expect(200);
    assert_eq!(account.json()["has_password"], false);

    for password in [PASSWORD, NEW_PASSWORD] {
        let refused = world.anyone().login(&user.email, password).await.expect(401);
        assert!(refused.body.is_empty(), "{refused}");
    }
    expect_redirect(&passkey.sign_in(&mut world.browser()).await, "/account");
}

/// The passkey has just signed in, and a reset can be mailed to the address.
async fn the_password_stays_until_something_else_is_proved(world: SharedWorld) {
    let words = "You can remove your password when your e-mail address is confirmed";
    let confirmed = world.sign_up_confirmed().await;
    let mut browser = confirmed.browser();
    let none = browser.open("/account/passkeys").await;
    assert!(
        !none.visible_text().contains("Sign in without a password"),
        "{}",
        none.reply
    );
    let passkey = world.add_passkey(&mut browser).await;
    expect_words(&browser.open("/account/passkeys").await, 200, words);
    expect_words(&remove_password(&mut browser).await, 409, words);
    let unconfirmed = world.user().await;
    let used = world.add_passkey(&mut unconfirmed.browser()).await;
    let mut of_unconfirmed = world.browser();
    expect_redirect(&used.sign_in(&mut of_unconfirmed).await, "/account");
    expect_words(&remove_password(&mut of_unconfirmed).await, 409, words);
    for user in [&confirmed, &unconfirmed] {
        world.log_in(&user.email, PASSWORD).await;
    }
    let mut with_passkey = world.browser();
    passkey.sign_in(&mut with_passkey).await;
    // The session began with the password.
    expect_words(&remove_password(&mut browser).await, 409, words);
    for _ in 0..2 {
        expect_redirect(&remove_password(&mut with_passkey).await, "/account/passkeys");
    }
    world.mail(&confirmed.email, "Your password was removed", 1).await;
}

async fn the_passkey_that_signs_in_stays(world: SharedWorld) {
    let (_, passkey, mut browser) = without_password(&world).await;
    let second = world.add_passkey(&mut browser).await;
    // Nobody knows yet whether the second one works.
    let refused = remove_passkey(&mut browser).await;
    expect_words(&refused, 409, "You have not signed in with any other passkey");
    expect_redirect(&passkey.sign_in(&mut world.browser()).await, "/account");
    let mut browser = world.browser();
    expect_redirect(&second.sign_in(&mut browser).await, "/account");
    expect_redirect(&remove_passkey(&mut browser).await, "/account/passkeys");
    expect_words(
        &remove_passkey(&mut browser).await,
        409,
        "You have not signed in with any other passkey",
    );
    expect_redirect(&second.sign_in(&mut world.browser()).await, "/account");
}

/// If the password and the only passkey are removed at the same time, one of them stays.
async fn a_user_keeps_one_way_to_sign_in(world: SharedWorld) {
    let (user, passkey, browser) = with_used_passkey(&world).await;
    let mut other = world.browser();
    passkey.sign_in(&mut other).await;
    let (mut first, mut second) = (browser, other);
    let page = first.open("/account/passkeys").await;
    let of_second = second.open("/account/passkeys").await;
    let action = |path: &str| page.url.join(path).unwrap();
    let fields =
        |page: &Page| ["csrf", "user", "passkey"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
    let (removal, of_password) = (fields(&of_second), fields(&page));
    let submit = |n: usize| match n % 2 {
        0 => first
            .post_call(&action("/account/password/removal"), &of_password)
            .into_future(),
        _ => second
            .post_call(&action("/account/passkeys/removal"), &removal)
            .into_future(),
    };
    let replies = run_concurrently(4, submit).await;
    let done = replies
        .iter()
        .filter(|reply| reply.header("location") == "/account/passkeys");
    assert_eq!(done.count(), 1, "{replies:?}");
    let admin = world.user_with_role("admin").await;
    let account = admin
        .get(&format!("/admin/users/{}", user.id))
        .await
        .expect(200)
        .json();
    let passkeys = account["passkeys"].as_i64().unwrap();
    assert_eq!(account["has_password"], json!(passkeys == 0), "{account}");
}

async fn a_user_sets_a_password_again(world: SharedWorld) {
    let (user, passkey, mut browser) = without_password(&world).await;
    let page = browser.open("/password").await;
    let done = browser.submit(&page, &[("new_password", NEW_PASSWORD)]).await;
    expect_redirect(&done, "/signin");
    assert_eq!(browser.cookie("sid"), None);
    world.log_in(&user.email, NEW_PASSWORD).await;
    expect_redirect(&passkey.sign_in(&mut world.browser()).await, "/account");
}

/// A reset by mail recovers an account whose passkeys are lost.
async fn a_reset_sets_a_password_again(world: SharedWorld) {
    let (user, passkey, _) = without_password(&world).await;
    let body = json!({ "email": user.email });
    world
        .anyone()
        .post("/password-resets")
        .json(&body)
        .await
        .expect(202);
    let token = world.mail(&user.email, "Reset your password", 1).await.token();
    let body = json!({ "token": token, "new_password": NEW_PASSWORD });
    let reset = world.anyone().post("/password-resets/confirmations").json(&body);
    reset.await.expect(204);
    world.log_in(&user.email, NEW_PASSWORD).await;
    let refused = passkey.sign_in(&mut world.browser()).await;
    expect_words(&refused, 401, "You cannot sign in with this passkey.");
}

async fn an_administrator_sets_a_password_again(world: SharedWorld) {
    let (user, _, _) = without_password(&world).await;
    let admin = world.user_with_role("admin").await;
    let set = admin.call("PUT", &format!("/admin/users/{}/password", user.id));
    let set = set
        .json(&json!({ "password": NEW_PASSWORD }))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&set["has_password"], &set["passkeys"]),
        (&json!(true), &json!(0))
    );
}

/// Every page of the account works without a password; the operations of the API that take one refer to the
/// pages.
async fn an_account_without_a_password_is_managed_on_the_pages(world: SharedWorld) {
    let (user, _, mut browser) = without_password(&world).await;
    let caller = world.anyone().session(browser.cookie("sid").unwrap(), &user.csrf);
    let password = json!({ "password": PASSWORD });
    let change = json!({ "current_password": PASSWORD, "new_password": NEW_PASSWORD });
    let email = world.fresh_email();
    let new_address = json!({ "email": email, "current_password": PASSWORD });
    for (method, path, body, member) in [
        ("PUT", "/me/password", &change, "/current_password"),
        ("POST", "/email-verifications", &new_address, "/current_password"),
        ("POST", "/me/mfa/totp", &password, "/password"),
        ("DELETE", "/me", &password, "/password"),
        ("DELETE", "/me/passkeys/1", &password, "/password"),
    ] {
        let refused = caller.call(method, path).json(body).await;
        let refused = refused.expect_validation_errors(&[member]);
        assert!(
            refused.text().contains("this account has no password"),
            "{refused}"
        );
    }

    let page = post(&mut browser, "/account/two-step/enrollment").await;
    let app = Authenticator::of_page(&page);
    let page = browser.submit(&page, &[("otp", &app.next_code(&world))]).await;
    expect_words(&page, 200, "Your recovery codes");
    for (path, words) in [
        (
            "/account",
            "None: you sign in with passkeys alone, which need no code.",
        ),
        ("/account", "On: with a password, you also enter a code"),
        (
            "/account/two-step",
            "Without it, a sign-in with a password takes no code.",
        ),
        ("/account/deletion", "Your address, and all your ways to sign in."),
        ("/password", "The new password signs you out on all devices"),
    ] {
        expect_words(&browser.open(path).await, 200, words);
    }
    let page = post(&mut browser, "/account/two-step/off").await;
    expect_words(&page, 200, "Two-step sign-in is off");
    expect_words(&page, 200, "A sign-in with a password takes no code now.");

    let page = browser.open("/account/email").await;
    let sent = browser.submit(&page, &[("email", &email)]).await;
    expect_words(&sent, 200, "Check your e-mail");
    let link = world
        .mail(&email, "Confirm your new e-mail address", 1)
        .await
        .link();
    let mut elsewhere = world.browser();
    let page = elsewhere.open(link.as_str()).await;
    expect_words(&page, 200, "You can also sign in first");
    let refused = elsewhere.submit(&page, &[("password", PASSWORD)]).await;
    // The reader of a wrong mailbox does not learn that there is no password.
    expect_words(&refused, 422, "The password is wrong.");
    let page = browser.open(link.as_str()).await;
    let done = browser
        .submit(&page, &[("csrf", &page.hidden("csrf").unwrap())])
        .await;
    expect_words(&done, 200, "Your address is confirmed");

    let (user, _, mut browser) = without_password(&world).await;
    let done = post(&mut browser, "/account/deletion").await;
    expect_words(&done, 200, "Your account is deleted");
    let admin = world.user_with_role("admin").await;
    let gone = admin.get(&format!("/admin/users/{}", user.id)).await;
    gone.expect_error(404, "not_found");
}

on_every_shape!(
    a_user_goes_without_a_password,
    the_password_stays_until_something_else_is_proved,
    the_passkey_that_signs_in_stays,
    a_user_keeps_one_way_to_sign_in,
    a_user_sets_a_password_again,
    a_reset_sets_a_password_again,
    an_administrator_sets_a_password_again,
    an_account_without_a_password_is_managed_on_the_pages,
);
