//! Messages about changes that succeeded. The next page of the browser shows such a message once.

use axum::http::{HeaderMap, HeaderValue};
use foundation::names;
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

// The values of the cookie.
names! {
    Done:
    AccountChanged = "account-changed",
    AppChanged = "app-changed",
    SessionEnded = "session-ended",
    OtherSessionsEnded = "other-sessions-ended",
    AppDisconnected = "app-disconnected",
    PasskeyAdded = "passkey-added",
    PasskeyRenamed = "passkey-renamed",
    PasskeyRemoved = "passkey-removed",
    PasswordChanged = "password-changed",
    PasswordRemoved = "password-removed",
}

impl Done {
    /// Returns the change that the next page has to report, if there is one.
    pub(super) fn of_request(headers: &HeaderMap) -> Option<Self> {
        Self::named(cookies::single(headers, COOKIE)?)
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
