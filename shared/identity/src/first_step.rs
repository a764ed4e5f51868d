//! The first step of a sign-in in two: the password was right, and the code follows on another page.

use crate::sealed_state;
use crate::users::StoredCredentials;
use foundation::clock::Timestamp;
use foundation::sealing::SealingKey;
use foundation::secret::Secret;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The name under which a first step is sealed.
const SEAL_NAME: &str = "first step of a sign-in";

/// The fact that the password of an account was verified which requires a code too. It counts until the
/// user's epoch ends, for at most [`LIFETIME`](Self::LIFETIME).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FirstStep {
    /// The address of the account.
    pub email: String,
    /// The user.
    pub user_id: i64,
    pub(crate) epoch: i64,
    expires_at: Timestamp,
}

impl FirstStep {
    /// The time in which the code must follow.
    pub const LIFETIME: Duration = Duration::from_secs(5 * 60);

    /// Returns the first step of a user whose password was verified at `now`.
    pub(crate) fn new(verified: &StoredCredentials, now: Timestamp) -> Self {
        Self {
            email: verified.email.clone(),
            user_id: verified.id,
            epoch: verified.epoch,
            expires_at: now.after(Self::LIFETIME),
        }
    }

    /// Returns the text that the browser keeps: sealed, in base64url. It is as good as the password until it
    /// expires.
    pub fn seal(&self, key: &SealingKey) -> Secret {
        sealed_state::seal(key, SEAL_NAME, self)
    }

    /// Returns the first step that the browser kept. Returns `None` if it was sealed under another key,
    /// altered, or has expired at `now`.
    pub fn open(key: &SealingKey, text: &str, now: Timestamp) -> Option<Self> {
        let step: Self = sealed_state::open(key, SEAL_NAME, text)?;
        (step.expires_at > now).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_step_opens_until_it_expires() {
        let (key, now) = (SealingKey::generate(), Timestamp::from_micros(1_000_000));
        let step = FirstStep {
            email: "ann@example.org".to_owned(),
            user_id: 7,
            epoch: 3,
            expires_at: now.after(FirstStep::LIFETIME),
        };
        let text = step.seal(&key);
        let opened =
            |key: &SealingKey, now| FirstStep::open(key, text.expose(), now).map(|step| step.user_id);
        assert_eq!(opened(&key, now), Some(7));
        assert_eq!(opened(&key, now.after(FirstStep::LIFETIME)), None);
        assert_eq!(opened(&SealingKey::generate(), now), None);
        assert!(FirstStep::open(&key, "x", now).is_none());
    }
}
