//! Mails and what their links do: delivery, password resets, e-mail addresses.

mod addresses;
mod delivery;
mod link_races;
mod pages;
mod resets;
mod throttles;
mod timing;

use serde_json::{Value, json};
use shared::fetch_all;
use tests::{Call, Caller, PASSWORD, Person, Reply, Tokens, World};

/// The subjects of mails.
const RESET: &str = "Reset your password";
const WAS_RESET: &str = "Your password was reset";
const CONFIRM: &str = "Confirm your e-mail address";
const CONFIRM_NEW: &str = "Confirm your new e-mail address";
const ASKED_FOR: &str = "Another e-mail address was asked for";
const WAS_CHANGED: &str = "Your e-mail address was changed";

const NEW_PASSWORD: &str = "a new good password";

fn ask_reset(caller: &Caller, email: &str) -> Call {
    caller.post("/password-resets").json(&json!({ "email": email }))
}

fn reset(caller: &Caller, token: &str, new_password: &str) -> Call {
    let body = json!({ "token": token, "new_password": new_password });
    caller.post("/password-resets/confirmations").json(&body)
}

fn ask_change(person: &Person, to: &str, current_password: &str) -> Call {
    let body = json!({ "email": to, "current_password": current_password });
    person.post("/email-verifications").json(&body)
}

fn confirm(caller: &Caller, token: &str) -> Call {
    caller
        .post("/email-verifications/confirmations")
        .json(&json!({ "token": token }))
}

fn log_in(caller: &Caller, email: &str, password: &str) -> Call {
    caller
        .post("/login")
        .json(&json!({ "email": email, "password": password }))
}

fn disable(world: &World, person: &Person) {
    world.cli(&["users", "disable", "--email", &person.email, "--json"], "");
}

/// Asks for the nth reset link of this address, and gives its token.
async fn reset_token(world: &World, email: &str, nth: usize) -> String {
    ask_reset(&world.anyone(), email).await.expect(202);
    world.letter(email, RESET, nth).await.token()
}

/// Asks for the nth link that makes this address the person's, and gives its token.
async fn change_token(world: &World, person: &Person, to: &str, nth: usize) -> String {
    ask_change(person, to, PASSWORD).await.expect(202);
    world.letter(to, CONFIRM_NEW, nth).await.token()
}

/// Expects that these sessions are over.
async fn expect_signed_out(sessions: &[&Person]) {
    for session in sessions {
        session.get("/me").await.expect_error(401, "unauthenticated");
    }
}

/// Someone with two sessions, and an app with tokens of theirs.
struct Somebody {
    here: Person,
    elsewhere: Person,
    app: tests::App,
    tokens: Tokens,
}

impl Somebody {
    async fn new(world: &World) -> Self {
        let (here, app) = world.person_and_app().await;
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

    /// Expects that nothing of it is good any more, on any replica.
    async fn expect_ended(&self, world: &World) {
        self.tokens.expect_dead(world, &self.app).await;
        expect_signed_out(&[&self.here, &self.elsewhere]).await;
    }
}

/// The names and outcomes of the security events under an answer's correlation id, and whose they are.
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

async fn me(person: &Person) -> Value {
    person.get("/me").await.expect(200).json()
}
