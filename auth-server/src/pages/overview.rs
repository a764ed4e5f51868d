//! The data of the pages of one account, for its user and for administrators.

use audit::events::list::SecurityEvent;
use foundation::clock::Timestamp;
use identity::consents::{self, ConnectedApp};
use identity::refresh_families::FamilyCount;
use identity::sessions::OwnSession;
use identity::users::account::Account;
use std::collections::HashMap;
use storage::paging::Page;

/// An account, and what belongs to it.
pub(crate) struct Overview {
    pub(crate) account: Account,
    /// The address of a change that waits for its confirmation, for the user.
    pub(crate) requested_email: Option<String>,
    pub(crate) sessions: Vec<OwnSession>,
    /// The apps to which the user has given access.
    pub(crate) apps: Vec<ConnectedApp>,
    /// The newest events.
    pub(crate) events: Vec<SecurityEvent>,
    /// The names of the apps in the events by their ids, for the user.
    pub(crate) names: HashMap<String, String>,
    /// The changes of the account, for an administrator.
    pub(crate) changes: Page<SecurityEvent>,
    /// The number of the refresh tokens of all apps, for an administrator.
    pub(crate) families: FamilyCount,
    /// The time at which sign-in was blocked last, if it may still be blocked. Only administrators see it.
    pub(crate) blocked_at: Option<Timestamp>,
    /// The addresses of the users in the events by their ids, for an administrator.
    pub(crate) emails: HashMap<i64, String>,
}

impl Overview {
    /// Returns whether the user may have more apps than these.
    pub(super) fn may_lack_apps(&self) -> bool {
        self.apps.len() >= consents::MAX_LISTED
    }
}
