//! Mails and their links: delivery, password resets, e-mail addresses.

mod addresses;
mod delivery;
mod first_proof;
mod first_proof_with_passkey;
mod link_races;
mod pages;
mod resets;
mod throttles;

use serde_json::{Value, json};
use storage::fetch_all;
use tests::{Call, Caller, PASSWORD, Reply, Tokens, User, World};

// The subjects of mails.
const RESET: &str = "Reset your password";
const WAS_RESET: &str = "Your password was reset";
const CONFIRM: &str = "Confirm your e-mail address";
const CONFIRM_NEW: &str = "Confirm your new e-mail address";
const CHANGE_REQUESTED: &str = "A new e-mail address was requested";
const WAS_CHANGED: &str = "Your e-mail address was changed";

const NEW_PASSWORD: &str = "a new good password";

fn request_reset(caller: &Caller, email: &str) -> Call {
    caller.post("/password-resets").json(&json!({ "email": email }))
}

fn reset(caller: &Caller, token: &str, new_password: &str) -> Call {
    let body = json!({ "token": token, "new_password": new_password });
    caller.post("/password-resets/confirmations").json(&body)
}

fn request_change(user: &User, to: &str, current_password: &str) -> Call {
    let body = json!({ "email": to, "current_password": current_password });
    user.post("/email-verifications").json(&body)
}

fn disable(world: &World, user: &User) {
    world.cli(&["users", "disable", "--email", &user.email, "--json"], "");
}

/// Requests the nth reset link of this address. Returns its token.
async fn reset_token(world: &World, email: &str, nth: usize) -> String {
    world.reset_token(email, nth).await
}

/// Requests the nth link that changes the user's address to this one. Returns its token.
async fn change_token(world: &World, user: &User, to: &str, nth: usize) -> String {
    request_change(user, to, PASSWORD).await.expect(202);
    world.mail(to, CONFIRM_NEW, nth).await.token()
}

/// Expects that these sessions have ended.
async fn expect_signed_out(sessions: &[&User]) {
    for session in sessions {
        session.get("/me").await.expect_error(401, "unauthenticated");
    }
}

/// A user with two sessions, and an app with tokens of the user.
struct UserWithSessions {
    here: User,
    elsewhere: User,
    app: tests::App,
    tokens: Tokens,
}

impl UserWithSessions {
    async fn new(world: &World) -> Self {
        let (here, app) = (world.sign_up().await, world.app().register());
        let elsewhere = world.log_in(&here.email, PASSWORD).await;
        let tokens = app.tokens(&here, "posts:read profile:read").await;
        world.anyone().bearer(&tokens.access).get("/me").await.expect(200);
        Self {
            here,
            elsewhere,
            app,
            tokens,
        }
    }

    /// Expects that all sessions and tokens are rejected by every replica.
    async fn expect_ended(&self, world: &World) {
        self.tokens.expect_revoked(world, &self.app).await;
        expect_signed_out(&[&self.here, &self.elsewhere]).await;
    }
}

/// The name, outcome and user id of each security event with the correlation id of a response.
async fn events(world: &World, reply: &Reply) -> Vec<(String, String, Option<i64>)> {
    let query = "SELECT name, outcome, user_id FROM security_events WHERE trace_id = $1 ORDER BY id";
    let db = world.db().await;
    fetch_all!(
        db.reader(),
        (String, String, Option<i64>),
        query,
        reply.correlation_id()
    )
    .unwrap()
}

async fn me(user: &User) -> Value {
    user.get("/me").await.expect(200).json()
}
