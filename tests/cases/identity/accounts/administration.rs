//! `/admin/users`, `/admin/sessions` and `/admin/consents`: accounts in the hand of an administrator.

mod changes;
mod consents;
mod creation;
mod lists;
mod own_account;
mod pages;
mod races;
mod sessions;

use serde_json::Value;
use storage::fetch_all;
use tests::{Reply, User, World};

const USERS: &str = "/admin/users";

fn path(user: &User) -> String {
    format!("{USERS}/{}", user.id)
}

/// The user as `users list` prints them.
fn listed(world: &World, id: &Value) -> Value {
    let users = world.cli(&["users", "list", "--json"], "");
    let mut users = users.as_array().unwrap().iter();
    users.find(|user| &user["id"] == id).unwrap().clone()
}

/// Expects that the last event with the correlation id of a response has this name, user, client and
/// administrator.
async fn expect_event(world: &World, reply: &Reply, name: &str, user: i64, client: Option<&str>, by: &User) {
    type Event = (String, Option<i64>, Option<String>, Option<i64>, Option<String>);
    let query = "SELECT name, user_id, client_id, administrator_id, address FROM security_events
                 WHERE trace_id = $1 ORDER BY id";
    let events = fetch_all!(world.db().await.reader(), Event, query, reply.correlation_id()).unwrap();
    assert!(events.iter().all(|event| event.3 == Some(by.id)), "{events:?}");
    let expected = (
        name.to_owned(),
        Some(user),
        client.map(str::to_owned),
        Some(by.id),
        Some(by.address().to_string()),
    );
    assert_eq!(events.last(), Some(&expected), "{reply}");
}
