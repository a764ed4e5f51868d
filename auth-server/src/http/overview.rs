//! Reading the data of the pages of one account, for its user and for administrators.

use crate::pages::Overview;
use audit::events::list::SecurityEvent;
use foundation::clock::Timestamp;
use identity::refresh_families::FamilyCount;
use identity::sessions::{self, Session};
use identity::users::account::Account;
use identity::{Identity, consents};
use std::collections::HashMap;
use storage::db;
use storage::paging::Page;

/// Reads what belongs to an account: its sessions, the most recently used first, its apps, ordered by id, and
/// these of its events. Marks `session` if it is one of the sessions.
pub(super) async fn read_overview(
    account: Account,
    events: Vec<SecurityEvent>,
    identity: &Identity,
    session: &Session,
    now: Timestamp,
) -> Result<Overview, db::Error> {
    let (db, id) = (&identity.db, account.user.id);
    Ok(Overview {
        account,
        requested_email: None,
        sessions: sessions::list(identity, id, session, now).await?,
        apps: consents::list(db, id).await?,
        events,
        names: HashMap::new(),
        changes: Page::empty(),
        families: FamilyCount::default(),
        blocked_at: None,
        emails: HashMap::new(),
    })
}
