//! The commands for users, sessions and consents while the server is running.

use serde_json::{Value, json};
use storage::fetch_all;
use tests::{App, Authenticator, PASSWORD, SharedWorld, Tokens, User, World, on_every_shape};

const NEW: &str = "a new good password";

/// A user with two sessions, and an app with tokens of the user.
pub(super) struct Fixture {
    pub(super) ann: User,
    pub(super) elsewhere: User,
    pub(super) app: App,
    pub(super) tokens: Tokens,
}

impl Fixture {
    pub(super) async fn create(world: &World) -> Self {
        let (ann, app) = (world.sign_up().await, world.app().register());
        Self {
            elsewhere: world.log_in(&ann.email, PASSWORD).await,
            tokens: app.tokens(&ann, "posts:read").await,
            ann,
            app,
        }
    }

    /// Expects that all sessions and tokens ended. A change by a command or by another server takes effect
    /// within a second.
    pub(super) async fn expect_signed_out(&self, world: &World) {
        world.expect_revoked_soon(&self.tokens.access).await;
        self.tokens.expect_revoked(world, &self.app).await;
        for session in [&self.ann, &self.elsewhere] {
            session.get("/me").await.expect_error(401, "unauthenticated");
        }
    }
}

fn users(world: &World, user: &User, command: &[&str], stdin: &str) -> Value {
    let args = [&["users"], command, &["--email", &user.email, "--json"]].concat();
    world.cli(&args, stdin)
}

async fn set_password_ends_all_access_and_notifies_the_user(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    world.confirm_email(&fixture.ann.email).await;
    let set = users(&world, &fixture.ann, &["set-password", "--password-stdin"], NEW);
    assert_eq!(set["id"], fixture.ann.id);
    assert!(set["initial_password"].is_null(), "{set}");
    fixture.expect_signed_out(&world).await;
    let old = json!({ "email": fixture.ann.email, "password": PASSWORD });
    world.anyone().post("/login").json(&old).await.expect(401);
    let ann = world.log_in(&fixture.ann.email, NEW).await;
    ann.get("/posts").await.expect(200);
    let subject = "Your password was set by an administrator";
    world.mail(&ann.email, subject, 1).await;
    let args = ["users", "set-password", "--email", &ann.email, "--password-stdin"];
    let short = world.run(&args, "short");
    assert_eq!(short.status.code(), Some(64), "{short:?}");
    ann.get("/me").await.expect(200);
}

async fn a_generated_password_only_allows_a_password_change(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    let set = users(&world, &fixture.ann, &["set-password"], "");
    let initial = set["initial_password"].as_str().unwrap();
    let ann = world.log_in(&fixture.ann.email, initial).await;
    ann.get("/posts")
        .await
        .expect_error(403, "password_change_required");
    let change = json!({ "current_password": initial, "new_password": NEW });
    ann.call("PUT", "/me/password").json(&change).await.expect(204);
    let ann = world.log_in(&ann.email, NEW).await;
    ann.get("/posts").await.expect(200);
}

async fn a_role_change_takes_effect_immediately(world: World) {
    let fixture = Fixture::create(&world).await;
    let bob = world.user().await;
    let draft = bob.draft("A draft").await;
    fixture.ann.get(&draft.path).await.expect_error(404, "not_found");
    let set = users(&world, &fixture.ann, &["set-role", "--role", "editor"], "");
    assert_eq!(set["role"], "editor");
    fixture.expect_signed_out(&world).await;
    let ann = world.log_in(&fixture.ann.email, PASSWORD).await;
    ann.get(&draft.path).await.expect(200);
    // Setting the current role changes nothing.
    users(&world, &ann, &["set-role", "--role", "editor"], "");
    ann.get(&draft.path).await.expect(200);
    users(&world, &ann, &["set-role", "--role", "user"], "");
    ann.get("/me").await.expect_error(401, "unauthenticated");
    let ann = world.log_in(&ann.email, PASSWORD).await;
    ann.get(&draft.path).await.expect_error(404, "not_found");
    let query = "SELECT detail FROM security_events WHERE name = 'privilege_permissions_changed' ORDER BY id";
    let details = fetch_all!(world.db().await.reader(), (String,), query).unwrap();
    let details: Vec<&str> = details.iter().map(|(detail,)| detail.as_str()).collect();
    assert_eq!(details, ["user to editor", "editor to user"]);
}

async fn unlock_lifts_a_lockout(world: SharedWorld) {
    let ann = world.user().await;
    let log_in = |password: &str| {
        let body = json!({ "email": ann.email, "password": password });
        world.anyone().post("/login").json(&body)
    };
    for _ in 0..5 {
        log_in("not the password").await.expect(401);
    }
    log_in(PASSWORD).await.expect_error(429, "login_locked");
    users(&world, &ann, &["unlock"], "");
    for _ in 0..4 {
        log_in("not the password").await.expect(401);
    }
    log_in(PASSWORD).await.expect(200);
    ann.get("/me").await.expect(200);
}

async fn reset_mfa_allows_sign_in_with_the_password_alone(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    let args = ["users", "reset-mfa", "--email", &fixture.ann.email];
    let nothing = world.run(&args, "");
    assert_eq!(nothing.status.code(), Some(1), "{nothing:?}");
    fixture.ann.get("/me").await.expect(200);
    world.confirm_email(&fixture.ann.email).await;
    let codes = Authenticator::enable(&world, &fixture.ann).await;
    let ann = world.log_in_with(&codes.sign_in(&world, &fixture.ann)).await;
    let fixture = Fixture {
        tokens: fixture.app.tokens(&ann, "posts:read").await,
        elsewhere: ann.clone(),
        ann,
        app: fixture.app,
    };
    users(&world, &fixture.ann, &["reset-mfa"], "");
    fixture.expect_signed_out(&world).await;
    world.log_in(&fixture.ann.email, PASSWORD).await;
    for subject in ["Two-step sign-in is on", "Two-step sign-in is off"] {
        world.mail(&fixture.ann.email, subject, 1).await;
    }
}

async fn commands_fail_for_unknown_users(world: SharedWorld) {
    for command in [
        ["set-role", "--role", "admin"].as_slice(),
        &["set-password"],
        &["unlock"],
        &["reset-mfa"],
        &["sign-out"],
    ] {
        let args = [&["users"], command, &["--email", "nobody@example.org"]].concat();
        let refused = world.run(&args, "");
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    }
}

async fn sign_out_ends_all_access(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    let ended = users(&world, &fixture.ann, &["sign-out"], "");
    assert_eq!(ended["id"], fixture.ann.id);
    fixture.expect_signed_out(&world).await;
    world.log_in(&fixture.ann.email, PASSWORD).await;
}

/// Lists what belongs to a user by this command.
fn list(world: &World, command: &str, user: &User, options: &[&str]) -> Value {
    let id = user.id.to_string();
    world.cli(
        &[&[command, "list", "--user", &id, "--json"], options].concat(),
        "",
    )
}

/// Expects that a command fails with this message.
fn expect_failure(world: &World, args: &[&str], message: &str) {
    let failed = world.run(args, "");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let stderr = String::from_utf8_lossy(&failed.stderr);
    assert!(stderr.contains(message), "{stderr}");
}

async fn sessions_are_listed_by_page_and_ended(world: SharedWorld) {
    let (admin, ann) = (world.user_with_role("admin").await, world.user().await);
    let sessions = ann.get("/me/sessions").await.expect(200).json();
    let mut sessions = sessions["items"].as_array().unwrap().iter();
    let session = sessions.find(|session| session["current"] == true).unwrap();
    let session = session["id"].to_string();
    let elsewhere = world.log_in(&ann.email, PASSWORD).await;
    world.start_sessions(&ann, 20).await;
    let path = format!("/admin/sessions?user_id={}", ann.id);
    let first = list(&world, "sessions", &ann, &[]);
    let by_call = admin.get(&path).await.expect(200).json();
    assert_eq!(first["items"], by_call["items"]);
    assert_eq!(first["items"].as_array().unwrap().len(), 20);
    let next = first["next"].as_str().unwrap();
    let last = list(&world, "sessions", &ann, &["--cursor", next]);
    assert_eq!(last["items"].as_array().unwrap().len(), 2, "{last}");
    assert!(last["next"].is_null(), "{last}");
    let reversed = list(&world, "sessions", &ann, &["--order", "asc"]);
    assert_eq!(reversed["items"][0]["id"].to_string(), session);

    let ended = world.cli(&["sessions", "end", &session, "--json"], "");
    assert_eq!(ended["id"].to_string(), session);
    ann.get("/me").await.expect_error(401, "unauthenticated");
    elsewhere.get("/me").await.expect(200);
    let reason = format!("no session has the id {session}");
    expect_failure(&world, &["sessions", "end", &session], &reason);
    for option in ["--user=0", "--cursor=x", "--order=newest"] {
        let refused = world.run(&["sessions", "list", option], "");
        assert_eq!(refused.status.code(), Some(64), "{refused:?}");
    }
}

async fn consents_are_listed_and_revoked(world: SharedWorld) {
    let (admin, fixture) = (world.user_with_role("admin").await, Fixture::create(&world).await);
    let (ann, app, kept) = (&fixture.ann, &fixture.app, world.app().register());
    let remaining = kept.tokens(ann, "posts:read").await;
    assert_eq!(
        list(&world, "consents", ann, &[])["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let listed = list(&world, "consents", ann, &["--client", &app.id]);
    let path = format!("/admin/consents?user_id={}&client_id={}", ann.id, app.id);
    let by_call = admin.get(&path).await.expect(200).json();
    assert_eq!(listed["items"], by_call["items"]);
    let id = listed["items"][0]["id"].as_str().unwrap();
    let revoked = world.cli(&["consents", "revoke", id, "--json"], "");
    assert_eq!(revoked["id"], id);
    world.expect_revoked_soon(&fixture.tokens.access).await;
    fixture.tokens.expect_revoked(&world, app).await;
    world.expect_accepted(&remaining.access).await;
    expect_failure(&world, &["consents", "revoke", id], "no consent has the id");
}

on_every_shape!(
    set_password_ends_all_access_and_notifies_the_user,
    a_generated_password_only_allows_a_password_change,
    a_role_change_takes_effect_immediately,
    unlock_lifts_a_lockout,
    reset_mfa_allows_sign_in_with_the_password_alone,
    commands_fail_for_unknown_users,
    sign_out_ends_all_access,
    sessions_are_listed_by_page_and_ended,
    consents_are_listed_and_revoked,
);
