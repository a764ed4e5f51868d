//! Passkeys: `/account/passkeys`, `/signin/passkey` and `/me/passkeys`.

use super::{expect_redirect, expect_words};
use serde_json::{Value, json};
use std::time::Duration;
use storage::fetch_one;
use tests::{
    Authenticator, Browser, PASSWORD, Page, Passkey, PasskeyOptions, Shape, SharedWorld, User, World,
    on_every_shape, on_shapes, run_concurrently,
};

/// The largest number of passkeys of a user.
const MAX_PASSKEYS: usize = 20;

async fn open(browser: &mut Browser) -> Page {
    super::open(browser, "/account/passkeys").await
}

/// Answers the challenge of the page of the passkeys.
async fn answer(browser: &mut Browser, page: &Page, passkey: &Passkey, name: &str) -> Page {
    let credential = passkey.registration(&PasskeyOptions::of_page(page));
    let fields = [("credential", credential.as_str()), ("name", name)];
    browser.submit(page, &fields).await
}

/// A user with a passkey.
async fn enrolled(world: &World) -> (User, Passkey) {
    let user = world.user().await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    (user, passkey)
}

/// A user with a passkey and a confirmed address, who gets notices.
async fn enrolled_and_confirmed(world: &World) -> (User, Passkey) {
    let user = world.sign_up_confirmed().await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    (user, passkey)
}

/// Expects that the passkey is refused with this status and these words, and that nobody is signed in.
async fn expect_refused(world: &World, passkey: &Passkey, status: u16, words: &str) {
    let mut browser = world.browser();
    let refused = passkey.sign_in(&mut browser).await;
    expect_words(&refused, status, words);
    assert_eq!(browser.cookie("sid"), None);
    // The page has another challenge.
    assert!(PasskeyOptions::find(&refused).is_some(), "{}", refused.reply);
}

async fn listed(user: &User) -> Vec<Value> {
    let list = user.get("/me/passkeys").await.expect(200).json();
    list["items"].as_array().unwrap().clone()
}

async fn a_user_adds_a_passkey_and_signs_in_with_it(world: SharedWorld) {
    let user = world.sign_up_confirmed().await;
    let mut browser = user.browser();
    let account = browser.open("/account").await;
    expect_words(&account, 200, "Next time, sign in faster, without your password.");
    let page = open(&mut browser).await;
    let options = PasskeyOptions::of_page(&page);
    assert_eq!(options.0["rp"]["id"], "localhost");
    let mut es256 = Passkey::es256(&options, world.base());
    es256.counter = 5;
    expect_redirect(
        &answer(&mut browser, &page, &es256, " My <phone> ").await,
        "/account/passkeys",
    );
    let page = open(&mut browser).await;
    expect_words(&page, 200, "My <phone>");
    let mut rs256 = Passkey::rs256(&PasskeyOptions::of_page(&page), world.base());
    rs256.backed_up = Some(false);
    expect_redirect(
        &answer(&mut browser, &page, &rs256, "Laptop").await,
        "/account/passkeys",
    );
    world.mail(&user.email, "A passkey was added", 2).await;
    let account = browser.open("/account").await;
    expect_words(&account, 200, "Your account has 2 passkeys.");
    expect_words(&account, 200, "A passkey was added");
    assert!(!account.visible_text().contains("Next time"), "{}", account.reply);

    // No other session ends.
    user.get("/me").await.expect(200);
    let before = listed(&user).await;
    let names: Vec<_> = before.iter().map(|passkey| &passkey["name"]).collect();
    assert_eq!(names, ["My <phone>", "Laptop"]);
    assert!(before.iter().all(|passkey| passkey["last_used_at"].is_null()));
    assert!(before.iter().all(|passkey| passkey["is_synced"] == false));

    es256.counter = 6;
    rs256.backed_up = Some(true);
    for passkey in [&es256, &rs256] {
        let mut elsewhere = world.browser();
        let signed_in = passkey.sign_in(&mut elsewhere).await;
        expect_redirect(&signed_in, "/account");
        let account = elsewhere.open("/account").await;
        expect_words(&account, 200, &user.email);
    }
    let after = listed(&user).await;
    assert!(after.iter().all(|passkey| passkey["last_used_at"].is_string()));
    let synced: Vec<_> = after.iter().map(|passkey| &passkey["is_synced"]).collect();
    assert_eq!(synced, [false, true]);
    let page = open(&mut browser).await;
    for words in ["on several devices", "· used"] {
        expect_words(&page, 200, words);
    }
}

/// A passkey counts as two factors. Two-step sign-in stays on for the password.
async fn a_passkey_needs_no_code(world: SharedWorld) {
    let (user, passkey) = enrolled(&world).await;
    let app = world.app().register();
    let mut browser = world.browser();
    let codes = Authenticator::enable(&world, &user).await;
    let page = browser.open(&app.authorization().path()).await;
    let page = browser.open(page.location().unwrap().as_str()).await;
    let credential = passkey.assertion(&PasskeyOptions::of_page(&page));
    let page = browser.submit(&page, &[("credential", &credential)]).await;
    expect_redirect(&page, "/consent");
    let consent = browser.open(page.location().unwrap().as_str()).await;
    expect_words(&consent, 200, "Some App");
    let me = world.anyone().login(&user.email, PASSWORD).await;
    me.expect_error(403, "mfa_required");
    world.log_in_with(&codes.sign_in(&world, &user)).await;
}

/// Each of these answers differs from the right one in a single property.
async fn a_wrong_answer_signs_nobody_in(world: SharedWorld) {
    let (_, mut passkey) = enrolled(&world).await;
    let (other, _) = enrolled(&world).await;
    let refused = "You cannot sign in with this passkey.";
    let base = world.base().to_owned();
    for origin in [
        "https://evil.example",
        "http://localhost",
        "https://localhost",
        &base.replace("localhost", "evil.localhost"),
        &base.replace("http:", "https:"),
        "null",
    ] {
        passkey.origin = origin.to_owned();
        expect_refused(&world, &passkey, 401, refused).await;
    }
    passkey.origin = base;
    passkey.verifies_user = false;
    expect_refused(&world, &passkey, 401, refused).await;
    passkey.verifies_user = true;
    let own_handle = passkey.user_handle.clone();
    let id: u64 = other.id.try_into().unwrap();
    passkey.user_handle = [&[0; 8], id.to_be_bytes().as_slice()].concat();
    expect_refused(&world, &passkey, 401, refused).await;
    passkey.user_handle = Vec::new();
    expect_refused(&world, &passkey, 401, refused).await;
    passkey.user_handle = own_handle;
    let id = std::mem::replace(&mut passkey.id, vec![7; 32]);
    expect_refused(&world, &passkey, 401, refused).await;
    passkey.id = id;

    let mut browser = world.browser();
    let (page, another) = (browser.open("/signin").await, browser.open("/signin").await);
    let of_another = passkey.assertion(&PasskeyOptions::of_page(&another));
    let own = passkey.assertion(&PasskeyOptions::of_page(&page));
    let mut altered: Value = serde_json::from_str(&own).unwrap();
    altered["response"]["signature"] = json!("AAAA");
    let altered = altered.to_string();
    let mut large: Value = serde_json::from_str(&own).unwrap();
    large["response"]["authenticatorData"] = json!("A".repeat(1_500));
    let large = large.to_string();
    for credential in [
        of_another.as_str(),
        &altered,
        &large,
        "",
        "{}",
        "null",
        &"[".repeat(10_000),
    ] {
        let page = browser.submit(&page, &[("credential", credential)]).await;
        expect_words(&page, 401, refused);
    }
    for state in ["", "x", "AAAA"] {
        let fields = [("credential", own.as_str()), ("state", state)];
        expect_words(&browser.submit(&page, &fields).await, 422, "open for too long");
    }
    // The challenge belongs to the browser that got it.
    let mut thief = world.browser();
    let csrf = thief.open("/signin").await.hidden("csrf").unwrap();
    let fields = [("credential", own.as_str()), ("csrf", &csrf)];
    let stolen = thief.submit(&page, &fields).await;
    expect_words(&stolen, 422, "open for too long");
    assert_eq!(thief.cookie("sid"), None);
    let fields = [("credential", own.as_str()), ("csrf", "another-token")];
    assert_eq!(browser.submit(&page, &fields).await.reply.status, 403);
    assert_eq!(browser.cookie("sid"), None);
    expect_redirect(&browser.submit(&page, &[("credential", &own)]).await, "/account");
}

/// An answer signs in once, also if many requests send it at the same time, and none to an older challenge
/// follows.
async fn an_answer_signs_in_once(world: SharedWorld) {
    let (user, passkey) = enrolled(&world).await;
    let mut browser = world.browser();
    let older = browser.open("/signin").await;
    let page = browser.open("/signin").await;
    let credential = passkey.assertion(&PasskeyOptions::of_page(&page));
    let submit = |_| {
        let call = browser.submit_call(&page, &[("credential", &credential)]);
        call.into_future()
    };
    let replies = run_concurrently(8, submit).await;
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    let signed_in = statuses.iter().filter(|status| **status == 303).count();
    assert_eq!(signed_in, 1, "{statuses:?}");
    assert!(
        statuses.iter().all(|status| [303, 422].contains(status)),
        "{statuses:?}"
    );
    let credential = passkey.assertion(&PasskeyOptions::of_page(&older));
    let late = browser.submit(&older, &[("credential", &credential)]).await;
    expect_words(&late, 422, "open for too long");
    // The page shows another challenge, which signs in.
    let credential = passkey.assertion(&PasskeyOptions::of_page(&late));
    let signed_in = browser.submit(&late, &[("credential", &credential)]).await;
    expect_redirect(&signed_in, "/account");
    let sessions = user.get("/me/sessions").await.expect(200).json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 3);
}

/// A counter that does not grow shows a copy of the key (Web Authentication §6.1.1).
async fn a_counter_that_does_not_grow_is_refused(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    let mut passkey = Passkey::es256(&PasskeyOptions::of_page(&page), world.base());
    passkey.counter = 7;
    answer(&mut browser, &page, &passkey, "Key").await;
    for counter in [7, 6, 0] {
        passkey.counter = counter;
        expect_refused(&world, &passkey, 401, "You cannot sign in with this passkey.").await;
    }
    passkey.counter = 8;
    expect_redirect(&passkey.sign_in(&mut world.browser()).await, "/account");
    expect_refused(&world, &passkey, 401, "You cannot sign in with this passkey.").await;
    let account = browser.open("/account").await;
    expect_words(&account, 200, "A sign-in failed");
    expect_words(&account, 200, "Signed in with a passkey");
    let db = world.db().await;
    let query = "SELECT detail FROM security_events WHERE user_id = $1 AND name = 'authn_login_fail'";
    let (detail,) = fetch_one!(db.reader(), (String,), query, user.id).unwrap();
    assert_eq!(detail, "passkey: its counter did not grow");
}

async fn a_wrong_answer_adds_no_passkey(world: SharedWorld) {
    let (user, other) = (world.user().await, world.user().await);
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    let options = PasskeyOptions::of_page(&page);
    let mut passkey = Passkey::es256(&options, world.base());
    passkey.verifies_user = false;
    let unverified = passkey.registration(&options);
    passkey.verifies_user = true;
    passkey.origin = "https://evil.example".to_owned();
    let elsewhere = passkey.registration(&options);
    world.base().clone_into(&mut passkey.origin);
    let of_another_page = passkey.registration(&PasskeyOptions::of_page(&open(&mut browser).await));
    let id = std::mem::replace(&mut passkey.id, vec![7; 1_024]);
    let long_id = passkey.registration(&options);
    passkey.id = id;
    let right = passkey.registration(&options);
    let mut large: Value = serde_json::from_str(&right).unwrap();
    large["response"]["attestationObject"] = json!("A".repeat(12_000));
    let large = large.to_string();
    for credential in [
        unverified.as_str(),
        &elsewhere,
        &of_another_page,
        &long_id,
        &large,
        "",
        "{}",
    ] {
        let fields = [("credential", credential), ("name", "Phone")];
        let refused = browser.submit(&page, &fields).await;
        expect_words(
            &refused,
            422,
            "The passkey could not be checked, so it was not added.",
        );
    }
    for name in ["", " ", "a\nb", &"x".repeat(65)] {
        let fields = [("credential", right.as_str()), ("name", name)];
        let refused = browser.submit(&page, &fields).await;
        expect_words(&refused, 422, "Enter a name of 1 to 64 characters");
    }
    let state_of_other = open(&mut other.browser()).await.hidden("state").unwrap();
    let state_of_sign_in = world.browser().open("/signin").await.hidden("state").unwrap();
    for state in [state_of_other.as_str(), &state_of_sign_in, ""] {
        let fields = [
            ("credential", right.as_str()),
            ("name", "Phone"),
            ("state", state),
        ];
        expect_words(&browser.submit(&page, &fields).await, 422, "open for too long");
    }
    let forged = [("credential", right.as_str()), ("csrf", "another-token")];
    assert_eq!(browser.submit(&page, &forged).await.reply.status, 403);
    assert_eq!(listed(&user).await.len(), 0);
    // After all that, the right answer adds it, and adds it once.
    let fields = [("credential", right.as_str()), ("name", "Phone")];
    expect_redirect(&browser.submit(&page, &fields).await, "/account/passkeys");
    let again = browser.submit(&page, &fields).await;
    expect_words(&again, 409, "This device already has a passkey for your account.");
    let excluded = PasskeyOptions::of_page(&again).0["excludeCredentials"].take();
    assert_eq!(excluded.as_array().unwrap().len(), 1);
    assert_eq!(listed(&user).await.len(), 1);
}

async fn a_user_has_at_most_20_passkeys(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    for _ in 1..MAX_PASSKEYS {
        world.add_passkey(&mut browser).await;
    }
    let page = open(&mut browser).await;
    let passkey = Passkey::es256(&PasskeyOptions::of_page(&page), world.base());
    world.add_passkey(&mut browser).await;
    // An authenticator would store a passkey that cannot be added.
    let full = open(&mut browser).await;
    expect_words(&full, 200, "An account can have at most 20 passkeys.");
    assert!(PasskeyOptions::find(&full).is_none(), "{}", full.reply);
    let refused = answer(&mut browser, &page, &passkey, "one more").await;
    expect_words(&refused, 409, "An account can have at most 20 passkeys.");
    assert_eq!(listed(&user).await.len(), MAX_PASSKEYS);
    expect_refused(&world, &passkey, 401, "You cannot sign in with this passkey.").await;
}

/// The fields of the form that removes the first passkey of the page.
fn removal_form(page: &Page, csrf: &str) -> Vec<(String, String)> {
    let passkey = page.hidden("passkey").unwrap();
    [("passkey", passkey.as_str()), ("csrf", csrf)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

async fn a_removed_passkey_ends_all_other_sessions(world: SharedWorld) {
    let (user, passkey) = enrolled_and_confirmed(&world).await;
    let app = world.app().first_party().register();
    let tokens = app.tokens(&user, "posts:read").await;
    let mut elsewhere = world.browser();
    passkey.sign_in(&mut elsewhere).await;
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    let before = page.clone();
    let (csrf, action) = (
        page.hidden("csrf").unwrap(),
        page.url.join("/account/passkeys/removal").unwrap(),
    );
    let foreign = world.user().await;
    let mut stranger = foreign.browser();
    let own = open(&mut stranger).await;
    let second = Passkey::es256(&PasskeyOptions::of_page(&page), world.base());
    let of_stranger = removal_form(&page, &own.hidden("csrf").unwrap());
    expect_redirect(&stranger.post(&action, &of_stranger).await, "/account/passkeys");
    assert_eq!(listed(&user).await.len(), 1);
    foreign.get("/me").await.expect(200);

    let removed = browser.post(&action, &removal_form(&page, &csrf)).await;
    expect_redirect(&removed, "/account/passkeys");
    let page = open(&mut browser).await;
    assert_eq!(page.hidden("passkey"), None, "{}", page.reply);
    expect_refused(&world, &passkey, 401, "You cannot sign in with this passkey.").await;
    let ended = elsewhere.open("/account").await;
    let ended = elsewhere.open(ended.location().unwrap().as_str()).await;
    expect_words(
        &ended,
        200,
        "because a passkey of your account was removed on another device.",
    );
    let refused = app.refresh(&world.anyone(), &tokens.refresh).await;
    let refused = refused.expect_token_error(400, "invalid_grant");
    let words = "the user removed a passkey";
    assert!(refused.text().contains(words), "{refused}");
    world.mail(&user.email, "A passkey was removed", 1).await;
    let account = browser.open("/account").await;
    expect_words(&account, 200, "A passkey was removed");
    let late = answer(&mut browser, &before, &second, "Second").await;
    expect_words(&late, 422, "open for too long");
}

async fn the_api_lists_renames_and_removes_passkeys(world: SharedWorld) {
    let (user, passkey) = enrolled(&world).await;
    let (other, _) = enrolled(&world).await;
    let item = listed(&user).await[0].clone();
    let path = format!("/me/passkeys/{}", item["id"]);
    let rename = |user: &User, name: Value| {
        let call = user.call("PUT", &format!("{path}/name"));
        call.json(&json!({ "name": name })).into_future()
    };
    let renamed = rename(&user, json!(" Tablet ")).await.expect(200).json();
    let mut expected = item.clone();
    expected["name"] = json!("Tablet");
    assert_eq!(renamed, expected);
    assert_eq!(listed(&user).await, [expected.clone()]);
    rename(&other, json!("Mine")).await.expect_error(404, "not_found");
    for name in [
        json!(""),
        json!("a\nb"),
        json!("x".repeat(65)),
        json!(null),
        json!(7),
    ] {
        rename(&user, name).await.expect_validation_errors(&["/name"]);
    }
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    let fields = [
        ("passkey", item["id"].to_string()),
        ("name", "Watch".to_owned()),
        ("csrf", page.hidden("csrf").unwrap()),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    let action = page.url.join("/account/passkeys/name").unwrap();
    let saved = browser.post(&action, &fields).await;
    expect_redirect(&saved, "/account/passkeys");
    assert_eq!(listed(&user).await[0]["name"], "Watch");
    let is_renamed = |page: &Page| page.visible_text().contains("The passkey has its new name.");
    assert!(is_renamed(&open(&mut browser).await));
    // It was removed in another tab, or never was one of the user.
    for unknown in ["9223372036854775807", "x"] {
        let mut of_none = fields.clone();
        of_none[0].1 = unknown.to_owned();
        expect_redirect(&browser.post(&action, &of_none).await, "/account/passkeys");
        assert!(!is_renamed(&open(&mut browser).await));
    }
    // After an error the form shows what was typed.
    let mut too_long = fields.clone();
    too_long[1].1 = "Watch".repeat(13);
    let refused = browser.post(&action, &too_long).await;
    expect_words(&refused, 422, "Enter a name of 1 to 64 characters");
    let html = refused.reply.text();
    assert!(
        html.contains("<details open>") && html.contains(&too_long[1].1),
        "{html}"
    );

    let remove = |user: &User, password: &str| {
        let call = user.delete(&path).json(&json!({ "password": password }));
        call.into_future()
    };
    remove(&other, PASSWORD).await.expect_error(404, "not_found");
    other.get("/me").await.expect(200);
    let wrong = remove(&user, "not the password").await;
    wrong.expect_validation_errors(&["/password"]);
    let elsewhere = world.log_in(&user.email, PASSWORD).await;
    let removed = remove(&user, PASSWORD).await.expect(204);
    elsewhere.get("/me").await.expect_error(401, "unauthenticated");
    user.get("/me").await.expect_error(401, "unauthenticated");
    let kept = world.anyone().session(&removed.cookie("sid"), &user.csrf);
    let list = kept.get("/me/passkeys").await.expect(200).json();
    assert_eq!(list, json!({ "items": [] }));
    expect_refused(&world, &passkey, 401, "You cannot sign in with this passkey.").await;
}

async fn a_reset_by_an_administrator_removes_passkeys(world: SharedWorld) {
    let (user, passkey) = enrolled_and_confirmed(&world).await;
    let admin = world.user_with_role("admin").await;
    let path = format!("/admin/users/{}", user.id);
    assert_eq!(admin.get(&path).await.expect(200).json()["passkeys"], 1);
    admin.delete(&format!("{path}/mfa")).await.expect(204);
    assert_eq!(admin.get(&path).await.expect(200).json()["passkeys"], 0);
    user.get("/me").await.expect_error(401, "unauthenticated");
    expect_refused(&world, &passkey, 401, "You cannot sign in with this passkey.").await;
    let subject = "Your passkeys were removed by an administrator";
    world.mail(&user.email, subject, 1).await;
    world.log_in(&user.email, PASSWORD).await;
}

/// Nobody signs in to an account that is disabled or deleted, or whose password was reset, with a passkey
/// from before.
async fn an_ended_account_has_no_passkey(world: SharedWorld) {
    let refused = "You cannot sign in with this passkey.";
    let (user, passkey) = enrolled(&world).await;
    let admin = world.user_with_role("admin").await;
    let path = format!("/admin/users/{}", user.id);
    admin.post(&format!("{path}/disablements")).await.expect(200);
    let advice = "If the account is disabled, contact the administrator.";
    expect_refused(&world, &passkey, 401, advice).await;
    admin.post(&format!("{path}/enablements")).await.expect(200);
    expect_redirect(&passkey.sign_in(&mut world.browser()).await, "/account");
    let user = world.log_in(&user.email, PASSWORD).await;
    let export = user.get("/me/export").await.expect(200).json();
    assert_eq!(export["passkeys"][0]["name"], "Phone", "{export}");
    user.delete("/me")
        .json(&json!({ "password": PASSWORD }))
        .await
        .expect(204);
    expect_refused(&world, &passkey, 401, refused).await;

    // Somebody else may have added the passkey: it would sign in after the recovery of the account.
    let (user, passkey) = enrolled(&world).await;
    let set = admin.call("PUT", &format!("/admin/users/{}/password", user.id));
    let set = set.json(&json!({ "password": "another good password" }));
    assert_eq!(set.await.expect(200).json()["passkeys"], 0);
    expect_refused(&world, &passkey, 401, refused).await;
    let (user, passkey) = enrolled_and_confirmed(&world).await;
    let body = json!({ "email": user.email });
    let reset = world.anyone().post("/password-resets").json(&body);
    reset.await.expect(202);
    let token = world.mail(&user.email, "Reset your password", 1).await.token();
    let body = json!({ "token": token, "new_password": "another good password" });
    let reset = world.anyone().post("/password-resets/confirmations").json(&body);
    reset.await.expect(204);
    expect_refused(&world, &passkey, 401, refused).await;
}

/// A challenge can be answered for ten minutes.
async fn a_challenge_expires(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (_, passkey) = enrolled(&world).await;
    world.advance(Duration::from_secs(1));
    let mut browser = world.browser();
    let page = browser.open("/signin").await;
    let credential = passkey.assertion(&PasskeyOptions::of_page(&page));
    world.advance(Duration::from_secs(10 * 60 - 30));
    expect_redirect(
        &browser.submit(&page, &[("credential", &credential)]).await,
        "/account",
    );
    let mut browser = world.browser();
    let page = browser.open("/signin").await;
    let credential = passkey.assertion(&PasskeyOptions::of_page(&page));
    world.advance(Duration::from_secs(10 * 60));
    let late = browser.submit(&page, &[("credential", &credential)]).await;
    expect_words(&late, 422, "open for too long");
    let query = "SELECT detail FROM security_events WHERE name = 'authn_login_fail'";
    let (detail,) = fetch_one!(world.db().await.reader(), (String,), query).unwrap();
    assert!(detail.ends_with("or the challenge has expired"), "{detail}");
}

/// A passkey belongs to a domain, so an installation at an IP address has none.
async fn an_installation_at_an_address_has_no_passkeys(shape: Shape) {
    let setup = World::builder(shape).flag("--base-url", "http://127.0.0.1");
    let world = setup.start().await;
    let mut browser = world.user().await.browser();
    assert_eq!(browser.open("/account/passkeys").await.reply.status, 404);
    let account = browser.open("/account").await;
    assert!(!account.visible_text().contains("asskey"), "{}", account.reply);
    let sign_in = world.browser().open("/signin").await;
    assert!(PasskeyOptions::find(&sign_in).is_none(), "{}", sign_in.reply);
    let endpoints = world.anyone().get("/.well-known/passkey-endpoints").await;
    assert_eq!(endpoints.status, 404);
}

async fn password_managers_find_the_page(world: SharedWorld) {
    let endpoints = world.anyone().get("/.well-known/passkey-endpoints").await;
    let page = format!("{}/account/passkeys", world.base());
    assert_eq!(
        endpoints.expect(200).json(),
        json!({ "enroll": page, "manage": page })
    );
}

on_every_shape!(
    a_user_adds_a_passkey_and_signs_in_with_it,
    a_passkey_needs_no_code,
    a_wrong_answer_signs_nobody_in,
    an_answer_signs_in_once,
    a_counter_that_does_not_grow_is_refused,
    a_wrong_answer_adds_no_passkey,
    a_user_has_at_most_20_passkeys,
    a_removed_passkey_ends_all_other_sessions,
    the_api_lists_renames_and_removes_passkeys,
    a_reset_by_an_administrator_removes_passkeys,
    an_ended_account_has_no_passkey,
    a_challenge_expires,
    password_managers_find_the_page,
);
on_shapes!(an_installation_at_an_address_has_no_passkeys: sqlite Sqlite);
