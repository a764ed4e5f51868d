//! Messages about changes that succeeded. The next page of the browser shows such a message once.

use axum::http::{HeaderMap, HeaderValue};
use std::time::Duration;
use web::cookies;

const COOKIE: &str = "notice";
const COOKIE_ATTRIBUTES: &str = "; HttpOnly; Secure";
/// The time within which the browser has to open the next page.
const LIFETIME: Duration = Duration::from_secs(60);

/// A change that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// An administrator changed an account.
    AccountChanged,
    /// An administrator changed an app.
    AppChanged,
    /// A session was ended from another browser.
    SessionEnded,
    /// All sessions but that of the browser were ended.
    OtherSessionsEnded,
    /// An app was disconnected.
    AppDisconnected,
    /// A passkey was added.
    PasskeyAdded,
    /// A passkey was renamed.
    PasskeyRenamed,
    /// A passkey was removed.
    PasskeyRemoved,
    /// The password was changed or set.
    PasswordChanged,
    /// The password was removed.
    PasswordRemoved,
}

impl Done {
    const ALL: [Self; 10] = [
        Self::AccountChanged,
        Self::AppChanged,
        Self::SessionEnded,
        Self::OtherSessionsEnded,
        Self::AppDisconnected,
        Self::PasskeyAdded,
        Self::PasskeyRenamed,
        Self::PasskeyRemoved,
        Self::PasswordChanged,
        Self::PasswordRemoved,
    ];

    /// Returns the value of the cookie.
    const fn as_str(self) -> &'static str {
        match self {
            Self::AccountChanged => "account-changed",
            Self::AppChanged => "app-changed",
            Self::SessionEnded => "session-ended",
            Self::OtherSessionsEnded => "other-sessions-ended",
            Self::AppDisconnected => "app-disconnected",
            Self::PasskeyAdded => "passkey-added",
            Self::PasskeyRenamed => "passkey-renamed",
            Self::PasskeyRemoved => "passkey-removed",
            Self::PasswordChanged => "password-changed",
            Self::PasswordRemoved => "password-removed",
        }
    }

    /// Returns the change that the next page has to report, if there is one.
    pub(super) fn of_request(headers: &HeaderMap) -> Option<Self> {
        let value = cookies::single(headers, COOKIE)?;
        Self::ALL.into_iter().find(|done| done.as_str() == value)
    }

    /// Returns the `Set-Cookie` value that keeps the change for the next page.
    pub(crate) fn cookie(self) -> HeaderValue {
        cookies::set(COOKIE, self.as_str(), Some(LIFETIME), COOKIE_ATTRIBUTES)
    }

    /// Returns the `Set-Cookie` value that removes the change, after a page has reported it.
    pub(super) fn removal() -> HeaderValue {
        cookies::set(COOKIE, "", Some(Duration::ZERO), COOKIE_ATTRIBUTES)
    }
}
