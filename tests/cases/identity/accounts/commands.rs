//! What `users …` does from the shell, beside a running server.

use serde_json::{Value, json};
use shared::fetch_all;
use std::time::Duration;
use tests::{App, Authenticator, PASSWORD, Person, Tokens, World, on_every_shape};

const NEW: &str = "a new good password";

/// Someone signed in twice, with an app connected.
struct Cast {
    ann: Person,
    elsewhere: Person,
    app: App,
    tokens: Tokens,
}

impl Cast {
    async fn assemble(world: &World) -> Self {
        let (ann, app) = world.person_and_app().await;
        Self {
            elsewhere: world.log_in(&ann.email, PASSWORD).await,
            tokens: app.tokens(&ann, "posts:read").await,
            ann,
            app,
        }
    }

    /// What a command ended, the servers beside it know within a second.
    async fn is_out(&self, world: &World) {
        world
            .expect_revoked_within(Duration::from_secs(1), &self.tokens.access)
            .await;
        self.tokens.expect_dead(world, &self.app).await;
        for session in [&self.ann, &self.elsewhere] {
            session.get("/me").await.expect_error(401, "unauthenticated");
        }
    }
}

fn users(world: &World, person: &Person, command: &[&str], stdin: &str) -> Value {
    let args = [&["users"], command, &["--email", &person.email, "--json"]].concat();
    world.cli(&args, stdin)
}

async fn set_password_ends_everything_and_is_told(world: World) {
    let cast = Cast::assemble(&world).await;
    let set = users(&world, &cast.ann, &["set-password", "--password-stdin"], NEW);
    assert_eq!(set["id"], cast.ann.id);
    assert!(set["one_time_password"].is_null(), "{set}");
    cast.is_out(&world).await;
    let old = json!({ "email": cast.ann.email, "password": PASSWORD });
    world.anyone().post("/login").json(&old).await.expect(401);
    let ann = world.log_in(&cast.ann.email, NEW).await;
    ann.get("/posts").await.expect(200);
    let subject = "Your password was set by an administrator";
    world.letter(&ann.email, subject, 1).await;
    let args = ["users", "set-password", "--email", &ann.email, "--password-stdin"];
    let short = world.run(&args, "short");
    assert_eq!(short.status.code(), Some(64), "{short:?}");
    ann.get("/me").await.expect(200);
}

async fn a_password_that_is_not_typed_is_good_for_a_change_only(world: World) {
    let cast = Cast::assemble(&world).await;
    let set = users(&world, &cast.ann, &["set-password"], "");
    let one_time = set["one_time_password"].as_str().unwrap();
    let ann = world.log_in(&cast.ann.email, one_time).await;
    ann.get("/posts")
        .await
        .expect_error(403, "password_change_required");
    let change = json!({ "current_password": one_time, "new_password": NEW });
    ann.call("PUT", "/me/password").json(&change).await.expect(204);
    let ann = world.log_in(&ann.email, NEW).await;
    ann.get("/posts").await.expect(200);
}

async fn another_role_is_of_effect_at_once(world: World) {
    let cast = Cast::assemble(&world).await;
    let bob = world.sign_up().await;
    let draft = bob.draft("A draft").await;
    cast.ann.get(&draft.path).await.expect_error(404, "not_found");
    let set = users(&world, &cast.ann, &["set-role", "--role", "editor"], "");
    assert_eq!(set["role"], "editor");
    cast.is_out(&world).await;
    let ann = world.log_in(&cast.ann.email, PASSWORD).await;
    ann.get(&draft.path).await.expect(200);
    // The role that somebody has changes nothing.
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

async fn a_locked_account_is_unlocked(world: World) {
    let ann = world.sign_up().await;
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

async fn reset_mfa_lets_in_who_has_lost_everything(world: World) {
    let cast = Cast::assemble(&world).await;
    let args = ["users", "reset-mfa", "--email", &cast.ann.email];
    let nothing = world.run(&args, "");
    assert_eq!(nothing.status.code(), Some(1), "{nothing:?}");
    cast.ann.get("/me").await.expect(200);
    let codes = Authenticator::turn_on(&world, &cast.ann).await;
    let ann = world.log_in_by(&codes.sign_in(&world, &cast.ann)).await;
    let cast = Cast {
        tokens: cast.app.tokens(&ann, "posts:read").await,
        elsewhere: ann.clone(),
        ann,
        app: cast.app,
    };
    users(&world, &cast.ann, &["reset-mfa"], "");
    cast.is_out(&world).await;
    world.log_in(&cast.ann.email, PASSWORD).await;
    for subject in ["Two-step sign-in is on", "Two-step sign-in is off"] {
        world.letter(&cast.ann.email, subject, 1).await;
    }
}

async fn nobody_is_not_changed(world: World) {
    for command in [
        ["set-role", "--role", "admin"].as_slice(),
        &["set-password"],
        &["unlock"],
        &["reset-mfa"],
    ] {
        let args = [&["users"], command, &["--email", "nobody@example.org"]].concat();
        let refused = world.run(&args, "");
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    }
}

on_every_shape!(
    set_password_ends_everything_and_is_told,
    a_password_that_is_not_typed_is_good_for_a_change_only,
    another_role_is_of_effect_at_once,
    a_locked_account_is_unlocked,
    reset_mfa_lets_in_who_has_lost_everything,
    nobody_is_not_changed,
);
