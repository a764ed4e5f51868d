//! The histories of accounts and apps: the events that are changes of them, apart from the sign-ins.

use super::{SecurityEvent, columns};
use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use storage::db::{Db, Error};
use storage::paging::{HasCursor, Page};
use storage::{fetch_all, sql};

/// The number of changes on a page. The limit in the statements is one more.
const SHOWN: usize = 10;
/// The position before which all changes are.
const END: Cursor = Cursor {
    created_at: Timestamp::from_micros(i64::MAX),
    id: i64::MAX,
};

/// A condition on `security_events`: the event is a change of an account or of an app. It is that of the
/// indexes.
macro_rules! is_change {
    () => {
        "(name = 'user_created' OR name = 'user_disabled' OR name = 'user_enabled'
          OR name = 'privilege_permissions_changed' OR name = 'authn_password_change' OR name = 'authn_password_reset'
          OR name = 'authn_password_removed' OR name = 'authn_mfa_enabled' OR name = 'authn_mfa_disabled'
          OR name = 'authn_passkey_added' OR name = 'authn_passkey_removed' OR name = 'authn_email_verified'
          OR name = 'authn_email_change' OR name = 'authn_login_unlock' OR name = 'client_created'
          OR name = 'client_updated' OR name = 'client_secret_rotated' OR name = 'client_disabled'
          OR name = 'client_enabled' OR name = 'authn_recovery_codes_renewed')"
    };
}

sql! {
    OF_USER = concat!("SELECT ", columns!(), " FROM security_events WHERE user_id = $1 AND ", is_change!(),
                      " AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT 11");
    OF_CLIENT = concat!("SELECT ", columns!(), " FROM security_events WHERE client_id = $1 AND ", is_change!(),
                        " AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT 11");
}

/// Returns changes of the account of a user, the newest first: the latest, or those before a position.
pub async fn of_user(db: &Db, id: i64, before: Option<Cursor>) -> Result<Page<SecurityEvent>, Error> {
    let Cursor { created_at, id: last } = before.unwrap_or(END);
    let events = fetch_all!(db.reader(), SecurityEvent, OF_USER, id, created_at, last)?;
    Ok(page(events, before))
}

/// Returns changes of a client in the same way.
pub async fn of_client(db: &Db, id: &str, before: Option<Cursor>) -> Result<Page<SecurityEvent>, Error> {
    let Cursor { created_at, id: last } = before.unwrap_or(END);
    let events = fetch_all!(db.reader(), SecurityEvent, OF_CLIENT, id, created_at, last)?;
    Ok(page(events, before))
}

/// Returns the page of these changes, which ends before it is as long as others.
fn page(mut events: Vec<SecurityEvent>, before: Option<Cursor>) -> Page<SecurityEvent> {
    let has_older = events.len() > SHOWN;
    events.truncate(SHOWN);
    Page {
        rest: events.last().filter(|_| has_older).map(HasCursor::cursor),
        rest_before: None,
        is_first: before.is_none(),
        items: events,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventName;

    #[test]
    fn the_changes_have_names_of_events() {
        for (_, text) in STATEMENTS {
            for rest in text.split("name = '").skip(1) {
                let name = rest.split('\'').next().unwrap();
                assert!(EventName::named(name).is_some(), "{name}");
            }
        }
    }
}
