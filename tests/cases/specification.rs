//! The API's specification, statement by statement: to be read with it alongside. A file holds a section, in
//! its order, and a test a statement: a row of a table with its request, its success and each of its errors;
//! a numbered rule; a sentence. Each begins with the number of its section and what is said there; what the
//! specification leaves open and this product settles is called settled. The other modules go deeper.

mod authentication;
mod errors;
mod events;
mod limits;
mod multi_factor;
mod password_reset;
mod payments;
mod posts_and_comments;
mod users_and_sessions;

use serde_json::json;
use std::time::Duration;
use tests::{Call, Caller, Reply, Shape, World};

/// The path of a post that is not there.
const NO_POST: &str = "/posts/999999";
/// The one that nobody has.
const WRONG: &str = "not the password";
const SECOND: Duration = Duration::from_secs(1);

fn log_in(caller: &Caller, email: &str, password: &str) -> Call {
    caller
        .post("/login")
        .json(&json!({ "email": email, "password": password }))
}

/// Signs in with a wrong password, so often.
async fn fail(caller: &Caller, email: &str, times: usize) {
    for _ in 0..times {
        log_in(caller, email, WRONG).await.expect(401);
    }
}

/// A world in production: its clients reach it by https, through a proxy.
async fn in_production(shape: Shape) -> World {
    World::of(shape)
        .flag("--base-url", "https://blog.test")
        .start()
        .await
}

/// The attributes that a cookie is set with, in lower case.
#[track_caller]
fn attributes(reply: &Reply, cookie: &str) -> Vec<String> {
    let line = reply.set_cookie(cookie);
    let line = line.unwrap_or_else(|| panic!("expected a cookie {cookie}: {reply}"));
    let attributes = line.split(';').skip(1);
    attributes.map(|part| part.trim().to_lowercase()).collect()
}
