//! The API specification, statement by statement, in its order. A file covers a section, and a test covers a
//! statement: a row of a table, a numbered rule or a sentence. Each docstring begins with the number of the
//! section and, where there is one, a quotation. "Latchkey's choice" marks what the specification leaves
//! open. The other modules test the same subjects in depth.

mod authentication;
mod errors;
mod events;
mod limits;
mod multi_factor;
mod names;
mod password_reset;
mod payments;
mod posts_and_comments;
mod users_and_sessions;

use std::time::Duration;
use tests::{Caller, Reply, Shape, World};

/// The path of a post that does not exist.
const NO_POST: &str = "/posts/999999";
/// A password that no user has.
const WRONG: &str = "not the password";
const SECOND: Duration = Duration::from_secs(1);

/// Signs in with a wrong password, this many times.
async fn fail(caller: &Caller, email: &str, times: usize) {
    for _ in 0..times {
        caller.login(email, WRONG).await.expect(401);
    }
}

/// A world in production mode, as behind an HTTPS proxy.
async fn in_production(shape: Shape) -> World {
    World::builder(shape)
        .flag("--base-url", "https://blog.test")
        .start()
        .await
}

/// The attributes of a cookie in lower case.
#[track_caller]
fn attributes(reply: &Reply, cookie: &str) -> Vec<String> {
    let line = reply.set_cookie(cookie);
    let line = line.unwrap_or_else(|| panic!("expected a cookie {cookie}: {reply}"));
    let attributes = line.split(';').skip(1);
    attributes.map(|part| part.trim().to_lowercase()).collect()
}
