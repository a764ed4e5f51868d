//! Reading the data of the pages of one account, for its user and for administrators.

use crate::pages::Overview;
use audit::events::list::{Filter, newest};
use foundation::clock::Timestamp;
use identity::sessions::{self, Session};
use identity::users::account::Account;
use identity::{Identity, consents};
use std::collections::HashMap;
use storage::db;

/// Reads what belongs to an account: its sessions, the most recently used first, its apps, ordered by id, and
/// this number of its newest events. Marks `session` if it is one of the sessions.
pub(super) async fn read_overview(
    account: Account,
    events: usize,
    identity: &Identity,
    session: &Session,
    now: Timestamp,
) -> Result<Overview, db::Error> {
    let (db, id) = (&identity.db, account.user.id);
    let of_user = Filter {
        user_id: Some(id),
        ..Filter::default()
    };
    Ok(Overview {
        account,
        sessions: sessions::list(identity, id, session, now).await?,
        apps: consents::list(db, id).await?,
        events: newest(db, &of_user, None, events).await?,
        names: HashMap::new(),
        changes: Vec::new(),
        emails: HashMap::new(),
    })
}
