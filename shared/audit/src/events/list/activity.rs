//! The activity in an account: the events that tell its user something.

use super::{SecurityEvent, columns};
use storage::db::{Db, Error};
use storage::{fetch_all, sql};

sql! {
    // Apps that renew their access by the minute would displace all other events. The scalar subquery bounds
    // the search among them.
    OF_USER = concat!(
        "SELECT ", columns!(), " FROM security_events WHERE user_id = $1
           AND name NOT IN ('authz_access_renewed', 'authz_fail', 'malicious_csrf', 'idempotency_conflict')
           AND at >= COALESCE((SELECT at FROM security_events WHERE user_id = $1
                               ORDER BY at DESC, id DESC LIMIT 1 OFFSET 10000), 0)
         ORDER BY at DESC, id DESC LIMIT 20");
}

/// Returns the newest twenty events that tell a user something about their account, the newest first: not the
/// refused requests of an app, and no access that an app had before. Searches the newest 10,000 events.
pub async fn of_user(db: &Db, id: i64) -> Result<Vec<SecurityEvent>, Error> {
    fetch_all!(db.reader(), SecurityEvent, OF_USER, id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventName;

    #[test]
    fn the_events_that_are_left_out_have_names() {
        for (_, text) in STATEMENTS {
            let (_, names) = text.split_once("NOT IN ('").unwrap();
            let (names, _) = names.split_once("')").unwrap();
            for name in names.split("', '") {
                assert!(EventName::named(name).is_some(), "{name}");
            }
        }
    }
}
