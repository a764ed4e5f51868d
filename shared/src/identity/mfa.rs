//! Two-step sign-in: turning it on and off, and what is accepted as its second step.

use super::login::{self, Asked, Proof, Shown};
use super::sessions::{self, Session};
use super::totp::{self, Enrolment};
use super::users::{self, User, changes};
use super::{Identity, accounts, recovery_codes};
use crate::db::{self, Db, Tx};
use crate::events::{Context, Event, Name};
use crate::mail::Notice;
use crate::schema;
use crate::secret::Secret;

/// The longest text that is looked at as a code: a recovery code has 19 characters.
const MAX_LENGTH: usize = 64;

crate::schema! {
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
}

/// Why two-step sign-in was not turned on or off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is on already.
    #[error("two-step sign-in is on")]
    On,
    /// It is off, or nothing awaits a first code.
    #[error("two-step sign-in is off")]
    Off,
    /// Who asks was not shown to be the user.
    #[error(transparent)]
    Login(#[from] login::Error),
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        Self::Login(error.into())
    }
}

/// Whether sign-in asks this user for a code.
pub async fn is_on(db: &Db, user_id: i64) -> Result<bool, db::Error> {
    Ok(totp::confirmed(db, user_id).await?.is_some())
}

/// Begins to turn it on: gives the seed for an authenticator app, which [`confirm`] is to show a code of.
pub async fn begin(
    identity: &Identity,
    user: &User,
    proof: &Proof,
    context: &Context,
) -> Result<Enrolment, Error> {
    let verified = login::prove(identity, user, proof, Asked::Password, context).await?;
    let mut tx = identity.db.begin().await?;
    if !users::hold(&mut tx, &verified).await? {
        return Err(login::Error::Wrong.into());
    }
    let key = &identity.account_key;
    let begun = totp::begin(&mut tx, key, user.id, &user.email, context.now).await?;
    let begun = begun.ok_or(Error::On)?;
    tx.commit().await?;
    Ok(begun)
}

/// Turns it on by a first code, and gives the recovery codes. Whoever was signed in is signed out. A session that
/// ended meanwhile turns nothing on: who has it may be somebody else.
pub async fn confirm(
    identity: &Identity,
    session: &Session,
    Otp(code): &Otp,
    context: &Context,
) -> Result<Vec<String>, Error> {
    let (db, key, user) = (&identity.db, &identity.account_key, &session.user);
    let pending = totp::pending(db, user.id).await?.ok_or(Error::Off)?;
    let first_code = async {
        let step = totp::step(key, user.id, &pending, code.expose(), context.now)?;
        Ok((step.ok_or(login::Error::WrongCode)?, Shown::Part))
    };
    let step = login::attempt(identity, user, context, first_code).await?;

    let mut tx = db.begin().await?;
    // The user's row first, as whatever ends sessions does.
    changes::move_on(&mut tx, user.id).await?;
    if !sessions::hold(&mut tx, session.id, context.now).await? {
        return Err(Error::Off);
    }
    accounts::sign_out_everywhere(&mut tx, user.id, context).await?;
    if !totp::confirm(&mut tx, user.id, &pending, step, context.now).await? {
        return Err(Error::Off);
    }
    let codes = recovery_codes::renew(&mut tx, key, user.id).await?;
    let event = Event::success(Name::MfaEnabled).user(user.id);
    event.record(&mut tx, context).await?;
    let mails = &identity.mails;
    mails
        .tell(&mut tx, &user.email, Notice::MfaEnabled, context)
        .await?;
    tx.commit().await?;
    identity.revocations.announce().await;
    Ok(codes)
}

/// Turns it off. Whoever was signed in is signed out.
pub async fn disable(
    identity: &Identity,
    user: &User,
    proof: &Proof,
    context: &Context,
) -> Result<(), Error> {
    if !is_on(&identity.db, user.id).await? {
        return Err(Error::Off);
    }
    let verified = login::prove(identity, user, proof, Asked::Everything, context).await?;
    let mut tx = identity.db.begin().await?;
    if !users::hold(&mut tx, &verified).await? {
        return Err(login::Error::Wrong.into());
    }
    if !accounts::reset_mfa(&mut tx, &identity.mails, user, context).await? {
        return Err(Error::Off);
    }
    tx.commit().await?;
    identity.revocations.announce().await;
    Ok(())
}

/// Uses a code up, of the authenticator app or a recovery code: gives whether it was good.
pub(super) async fn accept(
    identity: &Identity,
    user_id: i64,
    email: &str,
    Otp(code): &Otp,
    context: &Context,
) -> Result<bool, login::Error> {
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
    let event = Event::success(Name::RecoveryCodeUsed).user(user_id);
    event
        .detail(format!("{left} left"))
        .record(&mut tx, context)
        .await?;
    let notice = Notice::RecoveryCodeUsed(left);
    identity.mails.tell(&mut tx, email, notice, context).await?;
    tx.commit().await?;
    Ok(true)
}

/// Deletes all that makes sign-in ask for a code; gives whether it did.
pub(super) async fn forget(tx: &mut Tx, user_id: i64) -> Result<bool, db::Error> {
    recovery_codes::delete(tx, user_id).await?;
    totp::delete(tx, user_id).await
}
