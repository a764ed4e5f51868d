//! The events that block sign-in to an account, and that which unblocks it.

use crate::events::EventName;
use foundation::clock::Timestamp;
use storage::db::{Db, Error};
use storage::{fetch_optional, sql};

sql! {
    // The subquery bounds the search among the events of the user.
    NEWEST = "SELECT name, at FROM (SELECT id, at, name FROM security_events WHERE user_id = $1 AND at > $2
                                    ORDER BY at DESC, id DESC LIMIT 10000) AS newest
              WHERE name IN ('authn_mfa_lock', 'authn_login_unlock') OR name = 'authn_login_lock' AND at > $3
              ORDER BY at DESC, id DESC LIMIT 1";
}

/// Returns the time at which sign-in to an account was blocked last: after wrong codes since `codes_since`, or
/// after failed attempts since `attempts_since`, which is later. `None` if it was not, or if an administrator
/// has unblocked it. Searches the newest 10,000 events of the account.
pub async fn newest(
    db: &Db,
    user_id: i64,
    codes_since: Timestamp,
    attempts_since: Timestamp,
) -> Result<Option<Timestamp>, Error> {
    let newest = fetch_optional!(
        db.reader(),
        (String, Timestamp),
        NEWEST,
        user_id,
        codes_since,
        attempts_since
    )?;
    let blocked = newest.filter(|(name, _)| name != EventName::LoginUnlock.as_str());
    Ok(blocked.map(|(_, at)| at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_have_names() {
        for (_, text) in STATEMENTS {
            for name in text.split('\'').skip(1).step_by(2) {
                assert!(EventName::named(name).is_some(), "{name}");
            }
        }
    }
}
