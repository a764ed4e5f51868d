//! The data of the pages of one account, for its user and for administrators.

use audit::events::list::SecurityEvent;
use identity::consents::{self, ConnectedApp};
use identity::sessions::OwnSession;
use identity::users::account::Account;

/// An account, and what belongs to it.
pub(crate) struct Overview {
    pub(crate) account: Account,
    pub(crate) sessions: Vec<OwnSession>,
    /// The apps to which the user has given access.
    pub(crate) apps: Vec<ConnectedApp>,
    /// The newest events.
    pub(crate) events: Vec<SecurityEvent>,
}

impl Overview {
    /// Returns whether the user may have more apps than these.
    pub(super) fn may_lack_apps(&self) -> bool {
        self.apps.len() >= consents::MAX_LISTED
    }
}
