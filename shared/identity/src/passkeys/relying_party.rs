//! The issuer as a relying party of Web Authentication (W3C, Level 3): its challenges, and the checks of the
//! answers to them.

use super::answer::check_credential_id;
use super::assertion::Assertion;
use super::challenge::{Challenge, ENROLLMENT, LIFETIME, SIGN_IN, SignInState, is_live, name_of};
use super::{Answer, Credential, Error};
use crate::sealed_state;
use foundation::clock::Timestamp;
use foundation::sealing::SealingKey;
use serde::{Deserialize, Serialize};
use url::Url;
use webauthn_rs::prelude::{
    AuthenticationResult, ParsedAttestation, PasskeyRegistration, Uuid, WebauthnError,
};
use webauthn_rs::{Webauthn, WebauthnBuilder};
use webauthn_rs_proto::ResidentKeyRequirement;

/// The relying party to which the passkeys of this installation belong.
#[derive(Clone, Debug)]
pub struct RelyingParty(Webauthn);

/// The user for whom a passkey is enrolled.
#[derive(Clone, Copy, Debug)]
pub struct EnrollingUser<'a> {
    /// The user's id.
    pub id: i64,
    /// The epoch of the user in the present session.
    pub epoch: i64,
    /// The user's address, which authenticators show.
    pub email: &'a str,
}

#[derive(Serialize, Deserialize)]
struct EnrollmentState {
    user_id: i64,
    /// The epoch of the user. It ends with all sessions of the user, so that an answer from before adds
    /// nothing afterwards.
    epoch: i64,
    challenged_at: Timestamp,
    registration: PasskeyRegistration,
}

impl RelyingParty {
    /// Returns the relying party with this name. Its id is the host of the base URL, and it accepts no other
    /// origin than that of the base URL. Returns `None` if the host is an IP address, which no passkey can
    /// belong to (Web Authentication §5.1.2).
    pub fn new(name: &str, base_url: &Url) -> Option<Self> {
        let builder = WebauthnBuilder::new(base_url.domain()?, base_url).ok()?;
        builder.rp_name(name).timeout(LIFETIME).build().ok().map(Self)
    }

    /// Returns a challenge for an authenticator that has none of the credentials with the ids `existing`, to
    /// make one that it finds without the user's address. It is sealed under this key, and only the browser
    /// with this secret can answer it.
    pub fn begin_enrollment(
        &self,
        (key, browser_secret): (&SealingKey, &str),
        user: EnrollingUser<'_>,
        existing: Vec<Vec<u8>>,
        now: Timestamp,
    ) -> Result<Challenge, Error> {
        let (handle, email) = (user_handle(user.id), user.email);
        let (options, registration) =
            self.0
                .start_passkey_registration(handle, email, email, Some(existing))?;
        let mut options = options.public_key;
        if let Some(selection) = &mut options.authenticator_selection {
            selection.resident_key = Some(ResidentKeyRequirement::Required);
            selection.require_resident_key = true;
        }
        let state = EnrollmentState {
            user_id: user.id,
            epoch: user.epoch,
            challenged_at: now,
            registration,
        };
        Ok(Challenge {
            options: serde_json::to_string(&options).unwrap_or_default(),
            state: sealed_state::seal(key, &name_of(ENROLLMENT, browser_secret), &state),
            lifetime: LIFETIME,
        })
    }

    /// Verifies the answer to a challenge for this user (Web Authentication §7.1). Returns the new credential
    /// and the time of the challenge. Fails with [`Error::Stale`] if the challenge is not one of this
    /// installation, browser and epoch of the user, or has expired at `now`; with [`Error::TooLarge`]; and
    /// with [`Error::Refused`].
    pub fn finish_enrollment(
        &self,
        key: &SealingKey,
        user: EnrollingUser<'_>,
        answer: Answer<'_>,
        now: Timestamp,
    ) -> Result<(Credential, Timestamp), Error> {
        let name = name_of(ENROLLMENT, answer.browser_secret);
        let state: EnrollmentState = sealed_state::open(key, &name, answer.state).ok_or(Error::Stale)?;
        let is_of_user = (state.user_id, state.epoch) == (user.id, user.epoch);
        if !is_of_user || !is_live(state.challenged_at, now) {
            return Err(Error::Stale);
        }
        let credential = answer.registration()?;
        let passkey = self
            .0
            .finish_passkey_registration(&credential, &state.registration)?;
        check_credential_id(passkey.cred_id())?;
        Ok((without_attestation(passkey), state.challenged_at))
    }

    /// Returns a challenge for any authenticator with a passkey of this relying party, sealed under this key.
    /// Only the browser with this secret can answer it.
    pub fn begin_sign_in(
        &self,
        key: &SealingKey,
        browser_secret: &str,
        now: Timestamp,
    ) -> Result<Challenge, Error> {
        let (options, authentication) = self.0.start_discoverable_authentication()?;
        let state = SignInState {
            challenged_at: now,
            authentication,
        };
        Ok(Challenge {
            options: serde_json::to_string(&options.public_key).unwrap_or_default(),
            state: sealed_state::seal(key, &name_of(SIGN_IN, browser_secret), &state),
            lifetime: LIFETIME,
        })
    }

    /// Verifies the signature, the origin and the flags of an assertion with the stored credential of this
    /// user.
    pub(super) fn verify(
        &self,
        assertion: Assertion,
        user_id: i64,
        credential: &Credential,
    ) -> Result<AuthenticationResult, Error> {
        let (handle, _) = self
            .0
            .identify_discoverable_authentication(&assertion.credential)?;
        if handle != user_handle(user_id) {
            return Err(WebauthnError::InvalidUserUniqueId.into());
        }
        let authentication = assertion.state.authentication;
        Ok(self
            .0
            .finish_discoverable_authentication_v2(&assertion.credential, authentication, credential)?)
    }
}

/// Returns a credential without the statement about its authenticator, which was not asked for and is not
/// verified.
fn without_attestation(passkey: Credential) -> Credential {
    let mut credential = webauthn_rs::prelude::Credential::from(passkey);
    credential.attestation = ParsedAttestation::default();
    credential.into()
}

/// Returns the user handle that authenticators store and return (Web Authentication §5.4.3): the id of the
/// user, which apps know as `sub`.
const fn user_handle(user_id: i64) -> Uuid {
    Uuid::from_u64_pair(0, user_id.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passkeys::challenge::CLOCK_TOLERANCE;
    use std::time::Duration;

    #[test]
    fn a_relying_party_has_a_domain() {
        let party = |url: &str| RelyingParty::new("Latchkey", &Url::parse(url).unwrap());
        assert!(party("https://id.example.org").is_some());
        assert!(party("http://localhost:8080").is_some());
        assert!(party("http://127.0.0.1:8080").is_none());
        assert!(party("https://[2001:db8::1]").is_none());
    }

    #[test]
    fn a_state_opens_for_its_own_ceremony_until_it_expires() {
        let (key, now) = (SealingKey::generate(), Timestamp::from_micros(1_000_000));
        let party = RelyingParty::new("Latchkey", &Url::parse("https://id.example.org").unwrap()).unwrap();
        let user = EnrollingUser {
            id: 7,
            epoch: 3,
            email: "ann@example.org",
        };
        let sign_in = party.begin_sign_in(&key, "a", now).unwrap();
        let enrollment = party.begin_enrollment((&key, "a"), user, Vec::new(), now);
        let enrollment = enrollment.unwrap();
        let is_stale_in = |browser, challenge: &Challenge, now| {
            let answer = Answer {
                browser_secret: browser,
                state: challenge.state.expose(),
                credential: "{}",
            };
            let sign_in = matches!(Assertion::read(&key, answer, now), Err(Error::Stale));
            let enrollment = party.finish_enrollment(&key, user, answer, now);
            (sign_in, matches!(enrollment, Err(Error::Stale)))
        };
        let is_stale = |challenge: &Challenge, now| is_stale_in("a", challenge, now);
        assert_eq!(is_stale(&sign_in, now), (false, true));
        assert_eq!(is_stale(&enrollment, now), (true, false));
        let expired = now.after(LIFETIME);
        assert_eq!(is_stale(&sign_in, expired), (true, true));
        assert_eq!(is_stale(&enrollment, expired), (true, true));
        assert_eq!(is_stale_in("b", &sign_in, now), (true, true));
        assert_eq!(is_stale_in("b", &enrollment, now), (true, true));
        let of_slow_clock = now.before(CLOCK_TOLERANCE);
        assert_eq!(is_stale(&sign_in, of_slow_clock), (false, true));
        assert_eq!(
            is_stale(&sign_in, of_slow_clock.before(Duration::from_secs(1))),
            (true, true)
        );
    }

    #[test]
    fn an_enrollment_asks_for_a_passkey_that_is_found_without_the_address() {
        let key = SealingKey::generate();
        let party = RelyingParty::new("Latchkey", &Url::parse("https://id.example.org").unwrap()).unwrap();
        let user = EnrollingUser {
            id: 7,
            epoch: 0,
            email: "ann@example.org",
        };
        let challenge = party
            .begin_enrollment((&key, "a"), user, vec![vec![1, 2]], Timestamp::from_micros(0))
            .unwrap();
        let options: serde_json::Value = serde_json::from_str(&challenge.options).unwrap();
        assert_eq!(options["rp"]["id"], "id.example.org");
        assert_eq!(options["excludeCredentials"][0]["id"], "AQI");
        let selection = &options["authenticatorSelection"];
        assert_eq!(selection["residentKey"], "required");
        assert_eq!(selection["userVerification"], "required");
        let algorithms: Vec<_> = options["pubKeyCredParams"]
            .as_array()
            .unwrap()
            .iter()
            .map(|parameters| parameters["alg"].as_i64().unwrap())
            .collect();
        assert!(
            algorithms.contains(&-7) && algorithms.contains(&-257),
            "{algorithms:?}"
        );
    }
}
