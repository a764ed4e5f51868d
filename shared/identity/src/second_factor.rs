//! The second factor of a user: codes of an authenticator app (TOTP) and recovery codes.

use crate::{Identity, recovery_codes, totp};
use audit::events::{Event, EventName};
use audit::mail::Notice;
use foundation::context::RequestContext;
use foundation::schema;
use foundation::sealing::UnsealError;
use foundation::secret::Secret;
use storage::db::{self, Db, Tx};

/// The longest text that is looked at as a code: a recovery code has 19 characters.
const MAX_LENGTH: usize = 64;

foundation::schema! {
    Otp = schema::text(1, MAX_LENGTH, schema::WITHOUT_NUL, "A code of the authenticator app, or a recovery code.");
}

/// A code as typed: of an authenticator app, or a recovery code. Not printed.
#[derive(Clone, Debug)]
pub struct Otp(Secret);

impl Otp {
    /// Reads a code; the error says what is wrong with its length.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match text.chars().count() {
            0 => Err("is empty"),
            1..=MAX_LENGTH => Ok(Self(Secret::new(text))),
            _ => Err("is longer than 64 characters"),
        }
    }

    /// Returns the code as typed.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// A code could not be checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The TOTP seed was sealed under another account key.
    #[error(transparent)]
    Seed(#[from] UnsealError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Whether sign-in asks this user for a code.
pub async fn is_on(db: &Db, user_id: i64) -> Result<bool, db::Error> {
    Ok(totp::confirmed(db, user_id).await?.is_some())
}

/// Uses a code up, of the authenticator app or a recovery code: gives whether it was good.
pub(crate) async fn accept(
    identity: &Identity,
    user_id: i64,
    email: &str,
    Otp(code): &Otp,
    context: &RequestContext,
) -> Result<bool, Error> {
    let (db, key, now) = (&identity.db, &identity.account_key, context.now);
    let Some(recovery_code) = recovery_codes::Code::read(code.expose()) else {
        let Some(sealed) = totp::confirmed(db, user_id).await? else {
            return Ok(false);
        };
        return Ok(match totp::step(key, user_id, &sealed, code.expose(), now)? {
            Some(step) => totp::claim(db, user_id, &sealed, step).await?,
            None => false,
        });
    };
    let mut tx = db.begin().await?;
    let Some(left) = recovery_codes::claim(&mut tx, key, user_id, &recovery_code, now).await? else {
        return Ok(false);
    };
    let event = Event::success(EventName::RecoveryCodeUsed).user(user_id);
    event
        .detail(format!("{left} left"))
        .record(&mut tx, context)
        .await?;
    let notice = Notice::RecoveryCodeUsed(left);
    identity
        .mails
        .send_notice(&mut tx, email, notice, context)
        .await?;
    tx.commit().await?;
    Ok(true)
}

/// Deletes all that makes sign-in ask for a code; gives whether it did.
pub(crate) async fn delete(tx: &mut Tx, user_id: i64) -> Result<bool, db::Error> {
    recovery_codes::delete(tx, user_id).await?;
    totp::delete(tx, user_id).await
}
