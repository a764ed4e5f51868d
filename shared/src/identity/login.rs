//! Signing in, signing out and changing a password: one place for the pages and the API.

mod proof;

pub use proof::Proof;
pub(super) use proof::{Asked, Shown, attempt, prove};

use super::captcha;
use super::email::Email;
use super::passwords::{self, Password};
use super::sessions::Session;
use super::users::{self, User};
use super::{Identity, accounts, sessions};
use crate::db;
use crate::events::{Context, Event, Name};
use crate::grants::families::{self, Of};
use crate::mail::Notice;
use crate::redis;
use crate::seal::DoesNotOpen;
use crate::secret::Secret;
use proof::{begin, check, solve};
use std::time::Duration;

/// Why someone was not signed in, or a password not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown e-mail or wrong password; which, nobody is told.
    #[error("the e-mail or the password is wrong")]
    Wrong,
    /// The password is right, and a one-time code is asked for too.
    #[error("a one-time code is asked for, or a recovery code")]
    CodeMissing,
    /// The password is right; the code is not, or was used before.
    #[error("the one-time code is wrong or was used already")]
    WrongCode,
    /// Too many failures; no password was looked at.
    #[error("too many failed attempts; try again in {}", super::in_words(*.retry_after))]
    Locked {
        /// When trying again makes sense.
        retry_after: Duration,
    },
    /// So much failed that the captcha is asked for, and it was not solved; no password was looked at.
    #[error("the captcha is to be solved")]
    Captcha,
    /// Whether it was solved cannot be told, so it was not.
    #[error(transparent)]
    Unverified(#[from] captcha::Unavailable),
    /// No hash was computed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// Failures cannot be counted, so none may be made.
    #[error(transparent)]
    Uncounted(#[from] redis::Unavailable),
    /// A seed was sealed under another key than this service has.
    #[error(transparent)]
    Seed(#[from] DoesNotOpen),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Someone signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// Who.
    pub user: User,
    /// The new session's identifier, for the cookie.
    pub sid: Secret,
}

/// Who somebody says to be.
#[derive(Clone, Copy, Debug)]
pub struct Presented<'a> {
    /// Any text; one that is no e-mail address is an unknown one.
    pub email: &'a str,
    /// The captcha's answer, if there is one.
    pub captcha: Option<&'a str>,
}

/// Signs in with e-mail and password, and ends the session that the browser came with.
pub async fn login(
    identity: &Identity,
    presented: Presented<'_>,
    proof: Proof,
    former: Option<&Secret>,
    context: &Context,
) -> Result<SignedIn, Error> {
    let known = Email::parse(presented.email).ok();
    let stored = match &known {
        Some(email) => users::credentials(&identity.db, email).await?,
        None => None,
    };
    let name = known.as_ref().map_or(presented.email, Email::key);
    let counts = begin(identity, name, stored.as_ref(), context).await?;
    solve(identity, &counts, presented.captcha, context).await?;
    let asked = Asked::Everything;
    check(identity, &counts, &proof, asked, stored.as_ref(), context).await?;
    let verified = stored.ok_or(Error::Wrong)?;
    let user_id = verified.id;
    let renewed = identity
        .passwords
        .renew(proof.password, &verified.password_hash)
        .await;

    let mut tx = identity.db.begin().await?;
    if !users::hold(&mut tx, &verified).await? {
        return Err(Error::Wrong);
    }
    if let Some(hash) = renewed {
        users::renew_hash(&mut tx, &verified, &hash).await?;
    }
    // The session that the browser came with ends here, whole: nothing of it is carried over.
    if let Some(former) = former
        && let Some(former_id) = sessions::end_by_sid(&mut tx, former).await?
    {
        families::revoke(&mut tx, Of::Session(former_id), context).await?;
    }
    let sid = sessions::start(&mut tx, user_id, identity.lifetimes, context).await?;
    Event::success(Name::LoginSuccess)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    if former.is_some() {
        identity.revocations.announce().await;
    }
    let user = users::find(&identity.db, user_id).await?.ok_or(Error::Wrong)?;
    Ok(SignedIn { user, sid })
}

/// Replaces the password of a session's user. Every session, refresh token and access token of theirs
/// dies with the old one, this session included.
pub async fn change_password(
    identity: &Identity,
    session: &Session,
    current: Password,
    new: Password,
    context: &Context,
) -> Result<(), Error> {
    let user_id = session.user.id;
    let proof = Proof {
        password: current,
        otp: None,
    };
    let verified = prove(identity, &session.user, &proof, Asked::Password, context).await?;
    let hash = identity.passwords.hash(new).await?;

    let mut tx = identity.db.begin().await?;
    if !users::set_password(&mut tx, &verified, &hash, context.now).await? {
        return Err(Error::Wrong);
    }
    accounts::sign_out_everywhere(&mut tx, user_id, context).await?;
    Event::success(Name::PasswordChange)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    let mails = &identity.mails;
    mails
        .tell(&mut tx, &session.user.email, Notice::PasswordChanged, context)
        .await?;
    tx.commit().await?;
    identity.revocations.announce().await;
    Ok(())
}

/// Ends a session, and what first-party clients began in it.
pub async fn logout(identity: &Identity, session: &Session, context: &Context) -> Result<(), Error> {
    let mut tx = identity.db.begin().await?;
    sessions::end(&mut tx, session.id).await?;
    families::revoke(&mut tx, Of::Session(session.id), context).await?;
    Event::success(Name::Logout)
        .user(session.user.id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    identity.revocations.announce().await;
    Ok(())
}
