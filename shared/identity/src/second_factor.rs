//! The second factor of a user: one-time codes of an authenticator app (TOTP) and recovery codes.

use crate::services::Identity;
use crate::users::StoredCredentials;
use crate::{recovery_codes, totp};
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::schema;
use foundation::sealing::UnsealError;
use foundation::secret::Secret;
use mail::Notice;
use storage::db::{self, Db, Tx};

/// The maximum length of a code, in characters. A recovery code has 19.
const MAX_LENGTH: usize = 64;

foundation::schema! {
    Otp = schema::text(1, MAX_LENGTH, schema::WITHOUT_NUL, "A code of the authenticator app, or a recovery code.");
}

/// Characters that people type or copy inside of codes, besides white space: hyphens, dashes, and spaces
/// without width.
const SEPARATORS: &str = "-\u{ad}\u{200b}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2212}\u{feff}";

/// A one-time code or a recovery code, without the blanks and hyphens that were typed. `Debug` does not print
/// it.
#[derive(Clone, Debug)]
pub struct Otp(Secret);

impl Otp {
    /// Parses a code of 1 to 64 characters. The error continues a sentence that begins with the field's name,
    /// such as "is empty".
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match text.chars().count() {
            0 => Err("is empty"),
            1..=MAX_LENGTH => Ok(Self(Secret::new(without_separators(text)))),
            _ => Err("is longer than 64 characters"),
        }
    }

    /// Returns the code without blanks and hyphens.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }
}

fn without_separators(text: &str) -> String {
    let is_separator = |char: char| char.is_whitespace() || SEPARATORS.contains(char);
    text.chars().filter(|char| !is_separator(*char)).collect()
}

/// The reason why a code could not be verified.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The TOTP seed was sealed under another account key.
    #[error(transparent)]
    Seed(#[from] UnsealError),
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Returns whether two-step sign-in is on for this user.
pub async fn is_enabled(db: &Db, user_id: i64) -> Result<bool, db::Error> {
    Ok(totp::find_confirmed(db, user_id).await?.is_some())
}

/// Verifies a one-time code or a recovery code and marks it as used. Returns whether the code was valid and
/// unused. If it is a recovery code, records an event and mails the user a notice.
pub(crate) async fn consume(
    identity: &Identity,
    user: &StoredCredentials,
    otp: &Otp,
    context: &RequestContext,
) -> Result<bool, Error> {
    // A TOTP code has six digits and a recovery code 16, so no text is both.
    match recovery_codes::Code::parse(otp.expose()) {
        Some(code) => Ok(consume_recovery_code(identity, user, &code, context).await?),
        None => consume_totp_code(identity, user.id, otp, context.now).await,
    }
}

async fn consume_totp_code(
    identity: &Identity,
    user_id: i64,
    otp: &Otp,
    now: Timestamp,
) -> Result<bool, Error> {
    let (db, key) = (&identity.db, &identity.account_key);
    let Some(sealed) = totp::find_confirmed(db, user_id).await? else {
        return Ok(false);
    };
    match totp::matching_step(key, user_id, &sealed, otp.expose(), now)? {
        Some(step) => Ok(totp::claim_step(db, user_id, &sealed, step).await?),
        None => Ok(false),
    }
}

async fn consume_recovery_code(
    identity: &Identity,
    user: &StoredCredentials,
    code: &recovery_codes::Code,
    context: &RequestContext,
) -> Result<bool, db::Error> {
    let (key, now) = (&identity.account_key, context.now);
    let mut tx = identity.db.begin().await?;
    let Some(left) = recovery_codes::claim(&mut tx, key, user.id, code, now).await? else {
        return Ok(false);
    };
    let event = Event::success(EventName::RecoveryCodeUsed).user(user.id);
    event
        .detail(format!("{left} left"))
        .record(&mut tx, context)
        .await?;
    let notice = Notice::RecoveryCodeUsed(left);
    identity
        .mails
        .send_notice(&mut tx, user.recipient(), notice, context)
        .await?;
    tx.commit().await?;
    Ok(true)
}

/// Deletes the TOTP seed and the recovery codes of a user. Returns whether two-step sign-in was on.
pub(crate) async fn delete(tx: &mut Tx, user_id: i64) -> Result<bool, db::Error> {
    let was_on = totp::delete(tx, user_id).await?;
    if was_on {
        recovery_codes::delete(tx, user_id).await?;
    }
    Ok(was_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_hyphens_are_no_part_of_a_code() {
        for typed in [
            "123456",
            "123 456",
            " 123456\n",
            "12-34-56",
            "123\u{a0}456",
            "123\u{202f}456",
            "123\u{2011}456",
            "1 2 3 - 4 5 6",
            "\u{feff}123\u{200b}456",
        ] {
            assert_eq!(Otp::parse(typed).unwrap().expose(), "123456", "{typed:?}");
        }
        for typed in ["123.456", "123_456", "١٢٣٤٥٦"] {
            assert_ne!(Otp::parse(typed).unwrap().expose(), "123456", "{typed:?}");
        }
        assert!(Otp::parse("").is_err());
        assert!(Otp::parse(&" ".repeat(65)).is_err());
    }
}
