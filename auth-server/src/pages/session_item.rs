//! A session in a list.

use super::{text, user_agent};
use foundation::clock::Timestamp;
use identity::sessions::SessionSummary;

/// A session in the list of its user or of an administrator.
pub(super) struct SessionItem {
    pub(super) id: i64,
    pub(super) browser: String,
    pub(super) began: Timestamp,
    pub(super) last_used: Timestamp,
    pub(super) address: String,
    /// Whether it is the session of the request.
    pub(super) is_current: bool,
}

impl SessionItem {
    /// Describes a session.
    pub(super) fn new(session: &SessionSummary, is_current: bool) -> Self {
        let address = session.address.clone();
        Self {
            id: session.id,
            browser: user_agent::in_words(session.user_agent.as_deref()),
            began: session.created_at,
            last_used: session.last_seen_at,
            address: address.unwrap_or_else(|| text::of("address-unknown").plain()),
            is_current,
        }
    }
}
