//! Security events in words, for the user that they concern and for administrators.

use super::text::{self, Text};
use audit::events::EventName;
use audit::events::list::{Outcome, SecurityEvent};

/// Returns an event in words. An event that only another version of the program knows has its name.
pub(super) fn in_words(event: &SecurityEvent) -> String {
    let Some(name) = EventName::named(&event.name) else {
        return event.name.clone();
    };
    let text = match name {
        EventName::LoginSuccess if event.detail.as_deref() == Some("passkey") => {
            text::of("event-signed-in-passkey")
        }
        EventName::Consent if event.outcome == Outcome::Failure.as_str() => text::of("event-app-denied"),
        EventName::Consent => text::of("event-app-allowed"),
        EventName::TokenRevoked if event.user_id.is_some() => text::of("event-apps-signed-out"),
        _ => of_kind(name),
    };
    text.plain()
}

/// Returns the words for all events of a name.
pub(super) fn of_kind(name: EventName) -> Text<'static> {
    match name {
        EventName::LoginSuccess => text::of("event-signed-in"),
        EventName::LoginFail => text::of("event-sign-in-failed"),
        EventName::LoginLock => text::of("event-locked"),
        EventName::MfaLock => text::of("event-codes-locked"),
        EventName::Logout => text::of("event-signed-out"),
        EventName::SessionRevoked => text::of("event-session-ended"),
        EventName::PasswordChange => text::of("event-password-changed"),
        EventName::MfaEnabled => text::of("event-two-step-on"),
        EventName::MfaDisabled => text::of("event-two-step-off"),
        EventName::RecoveryCodeUsed => text::of("event-recovery-code"),
        EventName::RecoveryCodesRenewed => text::of("event-recovery-codes-renewed"),
        EventName::PasskeyAdded => text::of("event-passkey-added"),
        EventName::PasskeyRemoved => text::of("event-passkey-removed"),
        EventName::PasswordRemoved => text::of("event-password-removed"),
        EventName::LoginUnlock => text::of("event-unlocked"),
        EventName::RoleChange => text::of("event-role-changed"),
        EventName::PasswordResetRequest => text::of("event-reset-requested"),
        EventName::PasswordReset => text::of("event-password-reset"),
        EventName::EmailVerificationRequest => text::of("event-confirmation-requested"),
        EventName::EmailVerified => text::of("event-email-confirmed"),
        EventName::EmailChangeRequest => text::of("event-email-change-requested"),
        EventName::EmailChange => text::of("event-email-changed"),
        EventName::UserCreated => text::of("event-account-created"),
        EventName::UserDisabled => text::of("event-account-disabled"),
        EventName::UserEnabled => text::of("event-account-enabled"),
        EventName::UserDeleted => text::of("event-account-deleted"),
        EventName::ClientCreated => text::of("event-app-created"),
        EventName::ClientUpdated => text::of("event-app-changed"),
        EventName::ClientSecretRotated => text::of("event-app-secret"),
        EventName::ClientDisabled => text::of("event-app-disabled"),
        EventName::ClientEnabled => text::of("event-app-enabled"),
        EventName::ClientDeleted => text::of("event-app-deleted"),
        EventName::Consent => text::of("event-app-consent"),
        EventName::AccessRenewed => text::of("event-app-access-renewed"),
        EventName::ConsentRevoked => text::of("event-app-disconnected"),
        EventName::CodeReuse => text::of("event-code-reuse"),
        EventName::RefreshReuse => text::of("event-token-reuse"),
        EventName::TokenCreated => text::of("event-registration-token"),
        EventName::TokenRevoked => text::of("event-tokens-revoked"),
        EventName::KeyStaged => text::of("event-key-staged"),
        EventName::KeyActivated => text::of("event-key-activated"),
        EventName::KeyRetired => text::of("event-key-retired"),
        EventName::KeyDeleted => text::of("event-key-deleted"),
        EventName::KeyCompromised => text::of("event-key-compromised"),
        EventName::KeysResealed => text::of("event-keys-resealed"),
        EventName::AuthorizationFail => text::of("event-forbidden"),
        EventName::CsrfFail => text::of("event-forged"),
        EventName::IdempotencyConflict => text::of("event-idempotency-conflict"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_words_tell_all_kinds_apart() {
        let words = EventName::ALL.iter().map(|name| of_kind(*name).plain());
        let words: HashSet<String> = words.filter(|words| !words.is_empty()).collect();
        assert_eq!(words.len(), EventName::ALL.len(), "{words:?}");
    }
}
