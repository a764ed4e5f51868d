//! The pages that require a recent sign-in.

use super::passwordless::without_password;
use super::{expect_redirect, expect_words};
use serde_json::json;
use storage::execute;
use tests::{Authenticator, Browser, PASSWORD, Page, PasskeyOptions, SharedWorld, User, on_every_shape};

const PAGES: [&str; 5] = [
    "/password",
    "/account/email",
    "/account/two-step",
    "/account/passkeys",
    "/account/deletion",
];

/// Submits the form of this user with this action, which has no field of its own.
async fn post(browser: &mut Browser, user: &User, action: &str) -> Page {
    let page = browser.open("/password").await;
    let fields = [
        ("csrf", page.hidden("csrf").unwrap()),
        ("user", user.id.to_string()),
        // For the form that disconnects an app.
        ("app", "some app".to_owned()),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    browser.post(&page.url.join(action).unwrap(), &fields).await
}

async fn an_old_sign_in_is_renewed_on_the_way_to_a_page(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    for path in PAGES {
        let form = browser.open(path).await;
        assert_eq!(form.reply.status, 200, "{}", form.reply);
        world.age_sign_ins_of(&user).await;
        let late = browser
            .submit(&form, &[("csrf", &form.hidden("csrf").unwrap())])
            .await;
        expect_redirect(&late, "/signin");
        let sent = browser.open(path).await;
        expect_redirect(&sent, "/signin");
        assert_eq!(sent.location(), late.location());
        let sign_in = browser.open(sent.location().unwrap().as_str()).await;
        expect_words(&sign_in, 200, "Your last sign-in was over ten minutes ago.");
        expect_words(&sign_in, 200, "Back to your account");
        // The form has the address of the account.
        let wrong = browser
            .submit(&sign_in, &[("password", "not the password")])
            .await;
        expect_words(&wrong, 401, "The e-mail address or the password is wrong.");
        expect_words(&wrong, 401, "Your last sign-in was over ten minutes ago.");
        let offers_account = wrong.visible_text().contains("Create an account");
        assert!(!offers_account, "{}", wrong.reply);
        let signed_in = browser.submit(&wrong, &[("password", PASSWORD)]).await;
        expect_redirect(&signed_in, path);
        // The address does not keep that the user has just signed in.
        let once_more = browser.open(signed_in.location().unwrap().as_str()).await;
        assert_eq!(once_more.location().unwrap().query(), None, "{}", once_more.reply);
        let page = browser.open(once_more.location().unwrap().as_str()).await;
        expect_words(&page, 200, &user.email);
        // The sign-in page, opened again, has nothing to ask.
        expect_redirect(&browser.open(sent.location().unwrap().as_str()).await, path);
    }
}

/// The forms of the account have routes of their own, and each requires the recent sign-in too.
async fn no_form_accepts_an_old_sign_in(world: SharedWorld) {
    let user = world.sign_up_confirmed().await;
    let mut browser = user.browser();
    let page = post(&mut browser, &user, "/account/two-step/enrollment").await;
    assert!(page.asks_for("otp"), "{}", page.reply);
    world.add_passkey(&mut browser).await;
    let page = browser.open("/account/passkeys").await;
    let (csrf, id) = (page.hidden("csrf").unwrap(), page.hidden("passkey").unwrap());
    world.age_sign_ins_of(&user).await;
    for path in [
        "/password",
        "/account/email",
        "/account/two-step/enrollment",
        "/account/two-step/confirmation",
        "/account/two-step/recovery-codes",
        "/account/two-step/off",
        "/account/passkeys",
        "/account/passkeys/name",
        "/account/passkeys/removal",
        "/account/password/removal",
        "/account/deletion",
    ] {
        let fields = [
            ("csrf", csrf.as_str()),
            ("user", &user.id.to_string()),
            ("otp", "000000"),
            ("email", "new@example.org"),
            ("new_password", "another good password"),
            ("passkey", &id),
            ("name", "Tablet"),
            ("state", "x"),
            ("credential", "x"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let late = browser.post(&page.url.join(path).unwrap(), &fields).await;
        expect_redirect(&late, "/signin");
    }
    let me = user.get("/me").await.expect(200).json();
    assert_eq!(me["has_password"], true);
    let passkeys = user.get("/me/passkeys").await.expect(200).json();
    assert_eq!(passkeys["items"][0]["name"], "Phone");
}

async fn a_code_or_a_passkey_renews_the_sign_in_too(world: SharedWorld) {
    let user = world.user().await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    let app = Authenticator::enable(&world, &user).await;
    let user = world.log_in_with(&app.sign_in(&world, &user)).await;
    let mut browser = user.browser();
    world.age_sign_ins_of(&user).await;
    let sent = browser.open("/account/email").await;
    let sign_in = browser.open(sent.location().unwrap().as_str()).await;
    let first = browser.submit(&sign_in, &[("password", PASSWORD)]).await;
    expect_redirect(&first, "/signin/second-step");
    let second = browser.open(first.location().unwrap().as_str()).await;
    let code = [("otp", app.recovery_codes[0].as_str())];
    let signed_in = browser.submit(&second, &code).await;
    expect_redirect(&signed_in, "/account/email");
    let page = browser.open("/account/email").await;
    assert!(page.asks_for("email"), "{}", page.reply);

    world.age_sign_ins_of(&user).await;
    let sent = browser.open("/account/two-step").await;
    let sign_in = browser.open(sent.location().unwrap().as_str()).await;
    let credential = passkey.assertion(&PasskeyOptions::of_page(&sign_in));
    let signed_in = browser.submit(&sign_in, &[("credential", &credential)]).await;
    expect_redirect(&signed_in, "/account/two-step");
    let page = browser.open("/account/two-step").await;
    expect_words(&page, 200, "On: with a password, you also enter a code");
}

/// The page asks for what the account has, also after an error.
async fn a_user_without_a_password_signs_in_again_with_a_passkey(world: SharedWorld) {
    const WORDS: [&str; 5] = [
        "Your last sign-in was over ten minutes ago.",
        "Your account has no password. Sign in with a passkey.",
        // The script hides this where there are passkeys.
        "This browser cannot use a passkey",
        "Set a password",
        "Back to your account",
    ];
    let (user, mut passkey, mut browser) = without_password(&world).await;
    world.age_sign_ins_of(&user).await;
    let sent = browser.open("/account/email").await;
    let sign_in = browser.open(sent.location().unwrap().as_str()).await;
    let origin = std::mem::replace(&mut passkey.origin, "https://another.example".to_owned());
    let credential = passkey.assertion(&PasskeyOptions::of_page(&sign_in));
    let refused = browser.submit(&sign_in, &[("credential", &credential)]).await;
    expect_words(&refused, 401, "You cannot sign in with this passkey.");
    for page in [&sign_in, &refused] {
        for words in WORDS.into_iter().chain([user.email.as_str()]) {
            expect_words(page, page.reply.status, words);
        }
        assert!(!page.asks_for("password"), "{}", page.reply);
        let links = page.links();
        assert!(links.iter().any(|link| link.path() == "/forgot"), "{links:?}");
    }
    passkey.origin = origin;
    let credential = passkey.assertion(&PasskeyOptions::of_page(&refused));
    let signed_in = browser.submit(&refused, &[("credential", &credential)]).await;
    expect_redirect(&signed_in, "/account/email");
    let page = browser.open("/account/email").await;
    assert!(page.asks_for("email"), "{}", page.reply);
}

/// A page of one user, left open in a tab, changes nothing for another who signs in in the browser meanwhile.
async fn a_form_belongs_to_the_user_who_saw_it(world: SharedWorld) {
    let (ann, ben) = (world.user().await, world.user().await);
    let mut browser = ann.browser();
    let mut forms = Vec::new();
    for path in [
        "/password",
        "/account/email",
        "/account/two-step",
        "/account/deletion",
        "/account",
    ] {
        forms.push(browser.open(path).await);
    }
    browser.set_cookie("sid", &ben.sid);
    for form in &forms {
        let csrf = form.hidden("csrf").unwrap();
        let refused = browser.submit(form, &[("csrf", &csrf)]).await;
        expect_words(&refused, 409, "This browser is now signed in to another account.");
    }
    for path in [
        "/account/two-step/recovery-codes",
        "/account/two-step/off",
        "/account/password/removal",
        "/account/sessions/end-others",
        "/account/apps/disconnect",
    ] {
        let refused = post(&mut browser, &ann, path).await;
        expect_words(&refused, 409, "Nothing was changed");
    }
    for user in [&ann, &ben] {
        user.get("/me").await.expect(200);
        world.log_in(&user.email, PASSWORD).await;
    }
}

/// An enrollment that nobody completed cannot be completed much later.
async fn a_pending_enrollment_expires(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let begun = post(&mut browser, &user, "/account/two-step/enrollment").await;
    let app = Authenticator::of_page(&begun);
    let age = "UPDATE totp SET created_at = created_at - $2 WHERE user_id = $1";
    let hour = 60 * 60 * 1_000_000_i64;
    execute!(world.db().await.writer(), age, user.id, hour).unwrap();
    let late = browser.submit(&begun, &[("otp", &app.next_code(&world))]).await;
    expect_redirect(&late, "/account/two-step");
    let by_api = user.post("/me/mfa/totp/verifications");
    let by_api = by_api.json(&json!({ "otp": app.next_code(&world) })).await;
    by_api.expect_error(404, "not_found");
    assert_eq!(user.get("/me").await.expect(200).json()["mfa_enabled"], false);
}

/// An initial password is replaced before anything else.
async fn an_initial_password_is_replaced_on_the_way(world: SharedWorld) {
    let email = world.fresh_email();
    let made = world.cli(&["users", "create", "--email", &email, "--json"], "");
    let initial = made["initial_password"].as_str().unwrap();
    let mut browser = world.browser();
    let sent = browser.open("/account/email").await;
    let sign_in = browser.open(sent.location().unwrap().as_str()).await;
    let fields = [("email", email.as_str()), ("password", initial)];
    let signed_in = browser.submit(&sign_in, &fields).await;
    let sent = browser.open(signed_in.location().unwrap().as_str()).await;
    expect_redirect(&sent, "/password");
    let page = browser.open(sent.location().unwrap().as_str()).await;
    expect_words(&page, 200, "Use another account");
    let links = page.links();
    assert!(links.iter().any(|link| link.path() == "/signout"), "{links:?}");
    let changed = browser.submit(&page, &[("new_password", PASSWORD)]).await;
    expect_redirect(&changed, "/signin");
    let sign_in = browser.open(changed.location().unwrap().as_str()).await;
    let fields = [("email", email.as_str()), ("password", PASSWORD)];
    let signed_in = browser.submit(&sign_in, &fields).await;
    expect_redirect(&signed_in, "/account/email");
}

/// Only the pages that require a recent sign-in can be named as the place to go on.
async fn no_other_path_is_a_flow(world: SharedWorld) {
    let user = world.user().await;
    for flow in [
        "/account",
        "/account/export",
        "/account/email/../export",
        "//evil.example",
        "https://evil.example",
        "/account/email?x",
        "/admin/events?",
        "/admin/events//evil.example?user_id=1",
        "/admin/events?next=//evil.example",
        "/admin/events?user_id=1#x",
        "/admin/events?user_id=1\r\nx: y",
        &format!("/admin/events?detail={}", "x".repeat(600)),
        "/",
    ] {
        let flow = form_urlencoded::byte_serialize(flow.as_bytes()).collect::<String>();
        let page = user.browser().open(&format!("/signin?flow={flow}")).await;
        assert_eq!(page.reply.status, 400, "{flow}: {}", page.reply);
    }
}

async fn a_browser_without_cookies_is_told_so(world: SharedWorld) {
    let mut browser = world.browser();
    for path in PAGES {
        let page = browser.open(&format!("{path}?signed_in=1")).await;
        expect_words(&page, 400, "did not keep the session cookie");
        expect_redirect(&browser.open(path).await, "/signin");
    }
}

on_every_shape!(
    an_old_sign_in_is_renewed_on_the_way_to_a_page,
    no_form_accepts_an_old_sign_in,
    a_code_or_a_passkey_renews_the_sign_in_too,
    a_user_without_a_password_signs_in_again_with_a_passkey,
    a_form_belongs_to_the_user_who_saw_it,
    a_pending_enrollment_expires,
    an_initial_password_is_replaced_on_the_way,
    no_other_path_is_a_flow,
    a_browser_without_cookies_is_told_so,
);
