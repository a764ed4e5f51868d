//! Two-step sign-in: enabling, disabling, codes and recovery codes.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use storage::fetch_all;
use tests::{Authenticator, Caller, PASSWORD, Reply, Shape, SharedWorld, User, World, on_every_shape};

async fn sign_in_requires_codes_only_after_enrollment_is_confirmed(world: SharedWorld) {
    let (ann, bystander) = (world.user().await, world.user().await);
    assert_eq!(ann.get("/me").await.expect(200).json()["mfa_enabled"], false);
    let again = json!({ "password": PASSWORD });
    let begun = ann.post("/me/mfa/totp").json(&again).await.expect(201);
    assert_eq!(begun.header("cache-control"), "no-store");
    let secret = begun.json()["secret"].as_str().unwrap().to_owned();
    assert_eq!(secret.len(), 32, "160 bits in base32");
    let url = begun.json()["otpauth_url"].as_str().unwrap().to_owned();
    let email = ann.email.replace('@', "%40");
    assert_eq!(
        url,
        format!("otpauth://totp/Latchkey:{email}?secret={secret}&issuer=Latchkey")
    );
    // Enrollment alone does not enable it.
    world.log_in(&ann.email, PASSWORD).await;
    ann.delete("/me/mfa/totp")
        .json(&again)
        .await
        .expect_error(404, "not_found");
    let app = Authenticator::enable(&world, &ann).await;
    let codes: BTreeSet<&String> = app.recovery_codes.iter().collect();
    assert_eq!(codes.len(), 10);
    assert!(codes.iter().all(|code| code.len() == 19), "{codes:?}");
    ann.get("/me").await.expect_error(401, "unauthenticated");
    let password_alone = json!({ "email": ann.email, "password": PASSWORD });
    let refused = world.anyone().post("/login").json(&password_alone).await;
    let refused = refused.expect_error(403, "mfa_required");
    assert!(refused.set_cookie("sid").is_none(), "{refused}");
    let ann = world.log_in_with(&app.sign_in(&world, &ann)).await;
    assert_eq!(ann.get("/me").await.expect(200).json()["mfa_enabled"], true);
    bystander.get("/me").await.expect(200);
    world.log_in(&bystander.email, PASSWORD).await;
}

async fn enrollment_requires_the_password_and_a_code(world: SharedWorld) {
    let ann = world.user().await;
    let begin = |password: &str| ann.post("/me/mfa/totp").json(&json!({ "password": password }));
    let confirm = |otp: &str| {
        ann.post("/me/mfa/totp/verifications")
            .json(&json!({ "otp": otp }))
    };
    confirm("123456").await.expect_error(404, "not_found");
    begin("not the password")
        .await
        .expect_validation_errors(&["/password"]);
    let first = Authenticator::begin(&ann).await;
    let app = Authenticator::begin(&ann).await;
    confirm(&first.code(&world, 0))
        .await
        .expect_validation_errors(&["/otp"]);
    for otp in ["", &"1".repeat(65)] {
        confirm(otp).await.expect_validation_errors(&["/otp"]);
    }
    let confirmed = confirm(&app.code(&world, 0)).await.expect(200);
    let kept = world.anyone().session(&confirmed.cookie("sid"), &ann.csrf);
    confirm(&app.code(&world, 1))
        .await
        .expect_error(401, "unauthenticated");
    let again = kept
        .post("/me/mfa/totp")
        .json(&json!({ "password": PASSWORD }))
        .await;
    again.expect_error(403, "forbidden");
}

async fn codes_work_once_and_one_time_step_to_either_side(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.user().await;
    let app = Authenticator::enable(&world, &ann).await;
    let log_in = |otp: &str| {
        let body = json!({ "email": ann.email, "password": PASSWORD, "otp": otp });
        world.anyone().post("/login").json(&body)
    };
    log_in(&app.code(&world, 0))
        .await
        .expect_error(403, "mfa_required");
    world.advance(Duration::from_secs(120));
    for steps in [-2, 2] {
        log_in(&app.code(&world, steps))
            .await
            .expect_error(403, "mfa_required");
    }
    for steps in [-1, 0, 1] {
        let code = app.code(&world, steps);
        log_in(&code).await.expect(200);
        log_in(&code).await.expect_error(403, "mfa_required");
    }
    // A code older than the last used one is rejected too.
    log_in(&app.code(&world, 0))
        .await
        .expect_error(403, "mfa_required");
}

/// Authenticators show the digits in groups, and pages copy them with blanks.
async fn codes_may_hold_blanks_and_hyphens(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.user().await;
    let app = Authenticator::begin(&ann).await;
    let first = json!({ "otp": grouped(&app.next_code(&world), " ") });
    let enabled = ann.post("/me/mfa/totp/verifications").json(&first).await;
    let codes = enabled.expect(200).json();
    for separator in [" ", "-", "\u{a0}", "\u{202f}", " - ", "\u{2011}"] {
        let otp = format!(" {}\n", grouped(&app.next_code(&world), separator));
        let body = json!({ "email": ann.email, "password": PASSWORD, "otp": otp });
        world.anyone().post("/login").json(&body).await.expect(200);
    }
    let code = codes["recovery_codes"][0].as_str().unwrap();
    let otp = format!("\t{} ", code.replace('-', "\u{a0}"));
    let body = json!({ "email": ann.email, "password": PASSWORD, "otp": otp });
    world.anyone().post("/login").json(&body).await.expect(200);
    let dotted = grouped(&app.next_code(&world), ".");
    let body = json!({ "email": ann.email, "password": PASSWORD, "otp": dotted });
    let refused = world.anyone().post("/login").json(&body).await;
    refused.expect_error(403, "mfa_required");
}

/// Six digits with a separator in the middle.
fn grouped(code: &str, separator: &str) -> String {
    format!("{}{separator}{}", &code[..3], &code[3..])
}

async fn recovery_codes_work_once_instead_of_a_code(world: World) {
    let ann = world.sign_up_confirmed().await;
    let app = Authenticator::enable(&world, &ann).await;
    let log_in = |otp: &str| {
        let body = json!({ "email": ann.email, "password": PASSWORD, "otp": otp });
        world.anyone().post("/login").json(&body)
    };
    let code = app.recovery_codes[3].to_uppercase().replace('-', " ");
    let used = log_in(&code).await.expect(200);
    log_in(&app.recovery_codes[3])
        .await
        .expect_error(403, "mfa_required");
    log_in(&app.recovery_codes[4]).await.expect(200);
    let query = "SELECT name, detail FROM security_events WHERE trace_id = $1 ORDER BY id";
    let db = world.db().await;
    let events = fetch_all!(
        db.reader(),
        (String, Option<String>),
        query,
        used.correlation_id()
    )
    .unwrap();
    let expected = ("authn_recovery_code_used".to_owned(), Some("9 left".to_owned()));
    assert_eq!(events, [expected, ("authn_login_success".to_owned(), None)]);
    world.mail(&ann.email, "Two-step sign-in is on", 1).await;
    world.mail(&ann.email, "A recovery code was used", 2).await;
    let dump = world.dump();
    world.expect_no_secrets_in(&dump, "the database");
    assert!(
        app.recovery_codes
            .iter()
            .all(|code| !dump.contains(&code.replace('-', "")))
    );
}

async fn recovery_codes_are_renewed(world: SharedWorld) {
    let ann = world.sign_up_confirmed().await;
    let app = Authenticator::enable(&world, &ann).await;
    let ann = world.log_in_with(&app.sign_in(&world, &ann)).await;
    let renew = |password: &str, otp: &str| {
        ann.post("/me/mfa/recovery-codes")
            .json(&json!({ "password": password, "otp": otp }))
    };
    renew("not the password", &app.recovery_codes[0])
        .await
        .expect_validation_errors(&["/password"]);
    renew(PASSWORD, "no code").await.expect_error(403, "mfa_required");
    let renewed = renew(PASSWORD, &app.recovery_codes[0]).await.expect(201);
    assert_eq!(renewed.header("cache-control"), "no-store");
    let codes: Vec<String> = serde_json::from_value(renewed.json()["recovery_codes"].take()).unwrap();
    assert_eq!(codes.len(), 10);
    world
        .mail(&ann.email, "Your recovery codes were replaced", 1)
        .await;
    for (code, status, left) in [(&app.recovery_codes[1], 403, 10), (&codes[0], 200, 9)] {
        let body = json!({ "email": ann.email, "password": PASSWORD, "otp": code });
        world.anyone().post("/login").json(&body).await.expect(status);
        // The session in which the codes were renewed goes on.
        assert_eq!(
            ann.get("/me").await.expect(200).json()["recovery_codes_left"],
            left
        );
    }
}

async fn recovery_codes_of_other_users_are_rejected(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let anns = Authenticator::enable(&world, &ann).await;
    Authenticator::enable(&world, &bob).await;
    let body = json!({ "email": bob.email, "password": PASSWORD, "otp": anns.recovery_codes[0] });
    let stolen = world.anyone().post("/login").json(&body).await;
    stolen.expect_error(403, "mfa_required");
}

/// Expects that the response to a change in the session of `user` set the cookie of a session that takes its
/// place, and that it is the only session of the user. Returns a caller with the new cookie.
async fn expect_only_session(world: &World, user: &User, former: &Value, reply: &Reply) -> Caller {
    assert_ne!(reply.cookie("sid"), user.sid);
    user.get("/me").await.expect_error(401, "unauthenticated");
    let kept = world.anyone().session(&reply.cookie("sid"), &user.csrf);
    assert_eq!(kept.get("/me").await.expect(200).json()["id"], user.id);
    let [session] = sessions(&kept).await.try_into().unwrap();
    assert_eq!(session["current"], true, "{session}");
    assert_ne!(session["id"], former["id"]);
    // It lives no longer than the session whose place it takes.
    for member in ["created_at", "expires_at"] {
        assert_eq!(session[member], former[member], "{member}");
    }
    kept
}

async fn sessions(caller: &Caller) -> Vec<Value> {
    let listed = caller.get("/me/sessions").await.expect(200).json();
    listed["items"].as_array().unwrap().clone()
}

async fn enabling_mfa_keeps_the_session_and_ends_all_others_and_all_tokens(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    let [former] = sessions(&ann).await.try_into().unwrap();
    let elsewhere = world.log_in(&ann.email, PASSWORD).await;
    world.advance(Duration::from_secs(600));
    let codes = Authenticator::begin(&ann).await;
    let first = json!({ "otp": codes.next_code(&world) });
    let done = ann.post("/me/mfa/totp/verifications").json(&first).await;
    let kept = expect_only_session(&world, &ann, &former, &done.expect(200)).await;
    tokens.expect_revoked(&world, &app).await;
    elsewhere.get("/me").await.expect_error(401, "unauthenticated");
    assert_eq!(kept.get("/me").await.json()["mfa_enabled"], true);
    kept.post("/posts")
        .json(&json!({ "title": "A post" }))
        .await
        .expect(201);
}

async fn disabling_mfa_keeps_the_session_and_ends_all_others_and_all_tokens(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let codes = Authenticator::enable(&world, &ann).await;
    let ann = world.log_in_with(&codes.sign_in(&world, &ann)).await;
    let elsewhere = world.log_in_with(&codes.sign_in(&world, &ann)).await;
    let tokens = app.tokens(&ann, "posts:read").await;
    let off = |password: &str, otp: &str| {
        ann.delete("/me/mfa/totp")
            .json(&json!({ "password": password, "otp": otp }))
    };
    off("not the password", &codes.recovery_codes[0])
        .await
        .expect_validation_errors(&["/password"]);
    off(PASSWORD, "no code").await.expect_error(403, "mfa_required");
    ann.get("/me").await.expect(200);
    let all = sessions(&ann).await;
    let former = all.iter().find(|session| session["current"] == true).unwrap();
    world.advance(Duration::from_secs(600));
    let done = off(PASSWORD, &codes.recovery_codes[0]).await.expect(204);
    let kept = expect_only_session(&world, &ann, former, &done).await;
    tokens.expect_revoked(&world, &app).await;
    elsewhere.get("/me").await.expect_error(401, "unauthenticated");
    assert_eq!(kept.get("/me").await.json()["mfa_enabled"], false);
    let ann = world.log_in(&ann.email, PASSWORD).await;
    let other = Authenticator::enable(&world, &ann).await;
    let old = json!({ "email": ann.email, "password": PASSWORD, "otp": codes.recovery_codes[1] });
    world
        .anyone()
        .post("/login")
        .json(&old)
        .await
        .expect_error(403, "mfa_required");
    world.log_in_with(&other.sign_in(&world, &ann)).await;
}

async fn mfa_changes_are_recorded(world: World) {
    let ann = world.user().await;
    let app = Authenticator::enable(&world, &ann).await;
    let ann = world.log_in_with(&app.sign_in(&world, &ann)).await;
    let body = json!({ "password": PASSWORD, "otp": app.recovery_codes[0] });
    ann.delete("/me/mfa/totp").json(&body).await.expect(204);
    let query = "SELECT name FROM security_events WHERE user_id = $1 AND name LIKE 'authn_mfa%' ORDER BY id";
    let names = fetch_all!(world.db().await.reader(), (String,), query, ann.id).unwrap();
    let names: Vec<&str> = names.iter().map(|(name,)| name.as_str()).collect();
    assert_eq!(names, ["authn_mfa_enabled", "authn_mfa_disabled"]);
    world.expect_no_secrets_in(&world.dump(), "the database");
}

on_every_shape!(
    sign_in_requires_codes_only_after_enrollment_is_confirmed,
    enrollment_requires_the_password_and_a_code,
    codes_work_once_and_one_time_step_to_either_side,
    codes_may_hold_blanks_and_hyphens,
    recovery_codes_work_once_instead_of_a_code,
    recovery_codes_are_renewed,
    recovery_codes_of_other_users_are_rejected,
    enabling_mfa_keeps_the_session_and_ends_all_others_and_all_tokens,
    disabling_mfa_keeps_the_session_and_ends_all_others_and_all_tokens,
    mfa_changes_are_recorded,
);
