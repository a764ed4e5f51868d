//! The histories of accounts and apps: the events that are changes of them, apart from the sign-ins.

use super::{SecurityEvent, columns};
use storage::db::{Db, Error};
use storage::{fetch_all, sql};

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
          OR name = 'client_enabled')"
    };
}

sql! {
    OF_USER = concat!("SELECT ", columns!(), " FROM security_events WHERE user_id = $1 AND ", is_change!(),
                      " ORDER BY at DESC, id DESC LIMIT 10");
    OF_CLIENT = concat!("SELECT ", columns!(), " FROM security_events WHERE client_id = $1 AND ", is_change!(),
                        " ORDER BY at DESC, id DESC LIMIT 10");
}

/// Returns the newest ten changes of the account of a user, the newest first.
pub async fn of_user(db: &Db, id: i64) -> Result<Vec<SecurityEvent>, Error> {
    fetch_all!(db.reader(), SecurityEvent, OF_USER, id)
}

/// Returns the newest ten changes of a client, the newest first.
pub async fn of_client(db: &Db, id: &str) -> Result<Vec<SecurityEvent>, Error> {
    fetch_all!(db.reader(), SecurityEvent, OF_CLIENT, id)
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
