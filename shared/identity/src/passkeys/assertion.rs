//! The answer of an authenticator to a challenge of a sign-in.

use super::challenge::{SIGN_IN, SignInState, is_live, name_of};
use super::{Answer, Error};
use crate::sealed_state;
use foundation::clock::Timestamp;
use foundation::sealing::SealingKey;
use webauthn_rs::prelude::PublicKeyCredential;

/// An answer to a challenge of a sign-in, whose signature is not verified yet.
pub(super) struct Assertion {
    pub(super) credential: PublicKeyCredential,
    pub(super) state: SignInState,
}

impl Assertion {
    /// Reads the answer to a challenge of a sign-in. Fails with [`Error::Stale`] if the challenge is not one
    /// of this installation and browser, or has expired at `now`.
    pub(super) fn read(key: &SealingKey, answer: Answer<'_>, now: Timestamp) -> Result<Self, Error> {
        let name = name_of(SIGN_IN, answer.browser_secret);
        let state: SignInState = sealed_state::open(key, &name, answer.state).ok_or(Error::Stale)?;
        if !is_live(state.challenged_at, now) {
            return Err(Error::Stale);
        }
        let credential = answer.assertion()?;
        Ok(Self { credential, state })
    }
}
