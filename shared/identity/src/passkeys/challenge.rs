//! The challenges of the two ceremonies of Web Authentication, and the states with which they come back.

use foundation::clock::Timestamp;
use foundation::secret::Secret;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use webauthn_rs::prelude::DiscoverableAuthentication;

/// The time in which a challenge must be answered.
pub(super) const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// The longest time by which the clock of the server that made a challenge may be ahead.
pub(super) const CLOCK_TOLERANCE: Duration = Duration::from_secs(30);

/// The names under which the states of the two ceremonies are sealed.
pub(super) const ENROLLMENT: &str = "enrollment of a passkey";
pub(super) const SIGN_IN: &str = "sign-in with a passkey";

/// A challenge, with which a browser asks an authenticator for an answer.
#[derive(Debug)]
pub struct Challenge {
    /// The options for the browser's API, as JSON: `PublicKeyCredentialCreationOptionsJSON` or
    /// `PublicKeyCredentialRequestOptionsJSON`.
    pub options: String,
    /// The sealed state, which the browser sends back with the answer.
    pub state: Secret,
    /// The time in which an answer is accepted.
    pub lifetime: Duration,
}

/// The sealed state of a challenge of a sign-in.
#[derive(Serialize, Deserialize)]
pub(super) struct SignInState {
    pub(super) challenged_at: Timestamp,
    pub(super) authentication: DiscoverableAuthentication,
}

/// Returns whether a challenge of the time `challenged_at` can be answered at `now`.
pub(super) fn is_live(challenged_at: Timestamp, now: Timestamp) -> bool {
    challenged_at <= now.after(CLOCK_TOLERANCE) && now < challenged_at.after(LIFETIME)
}

/// Returns the name under which the state of a ceremony in this browser is sealed.
pub(super) fn name_of(ceremony: &str, browser_secret: &str) -> String {
    format!("{ceremony} in {browser_secret}")
}
