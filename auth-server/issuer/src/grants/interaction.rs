//! The interaction with the user that an authorization request demands: `prompt` and `max_age` (OpenID
//! Connect Core §3.1.2.1).

use crate::flows::FlowRequest;
use foundation::clock::Timestamp;
use identity::sessions::Session;
use std::time::Duration;

/// The values that `prompt` may contain.
pub const PROMPTS: [&str; 4] = ["none", "login", "consent", "select_account"];

/// The interaction that a request demands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interaction {
    /// Whether no page may be shown: `prompt=none`.
    pub is_silent: bool,
    /// Whether the consent page is shown even if the consent is remembered: `prompt=consent`.
    pub asks_consent: bool,
    asks_sign_in: bool,
    max_age: Option<Duration>,
}

/// The demands of an authorization request on the user.
#[derive(Clone, Copy, Debug)]
pub struct Demands {
    /// The interaction with the user.
    pub interaction: Interaction,
    /// The user whose ID token the request contains as a hint.
    pub(super) expected_user: Option<i64>,
}

impl Demands {
    /// Returns whether the request of a flow may demand that the user of this session signs in again. One
    /// with an `id_token_hint`, which is not read here, may expect another user.
    pub fn may_need_sign_in(request: &FlowRequest, session: &Session, now: Timestamp) -> bool {
        let parameter = |name| request.params.get(name);
        let interaction = Interaction::read(parameter("prompt"), parameter("max_age")).unwrap_or_default();
        let demands = Self {
            interaction,
            expected_user: None,
        };
        parameter("id_token_hint").is_some() || demands.needs_sign_in_since(request.received_at, session, now)
    }

    /// Returns whether the request admits this user: it names no user by an `id_token_hint`, or this one.
    pub fn admits(&self, user_id: i64) -> bool {
        self.expected_user.is_none_or(|expected| expected == user_id)
    }

    /// Returns whether the user must sign in although there is this session.
    pub fn needs_sign_in(&self, session: &Session, now: Timestamp) -> bool {
        !self.admits(session.user.id) || self.interaction.needs_sign_in(session.signed_in_at, now)
    }

    /// Returns whether the user of this session must sign in again before a code is issued for a request that
    /// arrived at `received_at`. A sign-in since then fulfills every demand, so that the user may take time
    /// to decide.
    pub fn needs_sign_in_since(&self, received_at: Timestamp, session: &Session, now: Timestamp) -> bool {
        session.signed_in_at < received_at && self.interaction.needs_sign_in(session.signed_in_at, now)
    }
}

/// The interaction that a request without pages lacks (OpenID Connect Core §3.1.2.6).
#[derive(Clone, Copy, Debug)]
pub enum MissingInteraction {
    /// The user must sign in.
    SignIn,
    /// The user must consent.
    Consent,
    /// The user must choose another password.
    PasswordChange,
}

impl Interaction {
    /// Reads the two parameters. Fails with the description of the flaw.
    pub(super) fn read(prompt: Option<&str>, max_age: Option<&str>) -> Result<Self, &'static str> {
        let mut interaction = Self {
            max_age: max_age.map(parse_seconds).transpose()?,
            ..Self::default()
        };
        for value in prompt.unwrap_or_default().split_ascii_whitespace() {
            match value {
                "none" => interaction.is_silent = true,
                "consent" => interaction.asks_consent = true,
                // The user chooses the account on the sign-in page.
                "login" | "select_account" => interaction.asks_sign_in = true,
                _ => return Err("the prompt may contain none, login, consent and select_account"),
            }
        }
        if interaction.is_silent && (interaction.asks_consent || interaction.asks_sign_in) {
            return Err("the prompt none excludes the others");
        }
        Ok(interaction)
    }

    /// Returns whether a user who signed in at `signed_in_at` must sign in again.
    fn needs_sign_in(&self, signed_in_at: Timestamp, now: Timestamp) -> bool {
        let is_too_old = |max_age: Duration| now.since(signed_in_at) >= max_age;
        self.asks_sign_in || self.max_age.is_some_and(is_too_old)
    }
}

impl MissingInteraction {
    /// Returns the error code and its description.
    pub(super) const fn error(self) -> (&'static str, &'static str) {
        match self {
            Self::SignIn => ("login_required", "the user must sign in"),
            Self::Consent => ("consent_required", "the user must consent"),
            Self::PasswordChange => ("interaction_required", "the user must choose another password"),
        }
    }
}

fn parse_seconds(text: &str) -> Result<Duration, &'static str> {
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let seconds = digits.and_then(|digits| digits.parse().ok());
    seconds
        .map(Duration::from_secs)
        .ok_or("max_age must be a number of seconds")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(prompt: &str) -> Result<Interaction, &'static str> {
        Interaction::read(Some(prompt), None)
    }

    #[test]
    fn none_excludes_every_other_prompt() {
        assert!(read("none").unwrap().is_silent);
        assert!(read("consent").unwrap().asks_consent);
        for prompt in [
            "none login",
            "consent none",
            "select_account none",
            "nonsense",
            "Login",
        ] {
            assert!(read(prompt).is_err(), "{prompt}");
        }
    }

    #[test]
    fn an_unreadable_max_age_is_an_error() {
        for max_age in ["-1", "+1", "1.5", "x", "99999999999999999999"] {
            assert!(Interaction::read(None, Some(max_age)).is_err(), "{max_age}");
        }
    }

    proptest! {
        #[test]
        fn a_sign_in_is_too_old_at_max_age(max_age in 0_u64..1_000, age in 0_u64..1_000) {
            let signed_in_at = Timestamp::from_micros(1_000_000);
            let now = signed_in_at.after(Duration::from_secs(age));
            let interaction = Interaction::read(None, Some(&max_age.to_string())).unwrap();
            prop_assert_eq!(interaction.needs_sign_in(signed_in_at, now), age >= max_age);
            prop_assert!(read("login").unwrap().needs_sign_in(signed_in_at, now));
            prop_assert!(!read("").unwrap().needs_sign_in(signed_in_at, now));
        }
    }
}
