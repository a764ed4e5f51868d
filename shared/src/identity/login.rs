//! Signing in, signing out and changing a password: one place for the pages and the API.

use super::captcha;
use super::email::Email;
use super::lockout::{self, Counts};
use super::passwords::{self, Password};
use super::sessions::Session;
use super::users::{self, User};
use super::{Identity, sessions};
use crate::db;
use crate::ephemeral::Attempt;
use crate::events::{Context, Event, Name};
use crate::grants::families::{self, Of};
use crate::redis;
use crate::secret::Secret;
use std::time::{Duration, Instant};

/// How long an attempt waits for those under way to be decided.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why someone was not signed in, or a password not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown e-mail or wrong password; which, nobody is told.
    #[error("the e-mail or the password is wrong")]
    Wrong,
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
    password: Password,
    former: Option<&Secret>,
    context: &Context,
) -> Result<SignedIn, Error> {
    let known = Email::parse(presented.email).ok();
    let name = known.as_ref().map_or(presented.email, Email::key);
    let mut counts = Counts::new(identity.throttles, name, context.address);
    let lookup = async {
        match &known {
            Some(email) => users::credentials(&identity.db, email).await,
            None => Ok(None),
        }
    };
    let stored = begin(identity, &mut counts, context, lookup).await?;
    solve(identity, &counts, presented.captcha, context).await?;
    check(identity, &counts, password.clone(), stored.as_ref(), context).await?;
    let verified = stored.ok_or(Error::Wrong)?;
    let user_id = verified.id;
    let renewed = identity.passwords.renew(password, &verified.password_hash).await;

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
    let sid = sessions::start(&mut tx, user_id, identity.lifetimes, context.now).await?;
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
    let email = Email::parse(&session.user.email).map_err(|_| Error::Wrong)?;
    let mut counts = Counts::new(identity.throttles, email.key(), context.address);
    let lookup = users::credentials_by_id(&identity.db, user_id);
    let stored = begin(identity, &mut counts, context, lookup).await?;
    check(identity, &counts, current, stored.as_ref(), context).await?;
    let verified = stored.ok_or(Error::Wrong)?;
    let hash = identity.passwords.hash(new).await?;

    let mut tx = identity.db.begin().await?;
    if !users::set_password(&mut tx, &verified, &hash, context.now).await? {
        return Err(Error::Wrong);
    }
    sessions::end_all(&mut tx, user_id).await?;
    families::revoke(&mut tx, Of::User(user_id), context).await?;
    Event::success(Name::PasswordChange)
        .user(user_id)
        .record(&mut tx, context)
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

/// Claims an attempt, then looks the account up; an attempt that cannot be decided does not count.
async fn begin(
    identity: &Identity,
    counts: &mut Counts,
    context: &Context,
    lookup: impl Future<Output = Result<Option<users::Credentials>, db::Error>>,
) -> Result<Option<users::Credentials>, Error> {
    let began = Instant::now();
    loop {
        match counts.begin(identity, context.now).await? {
            Attempt::Begun => break,
            Attempt::Refused { until, .. } => {
                let retry_after = until.since(context.now);
                return Err(Error::Locked { retry_after });
            }
            Attempt::Busy if began.elapsed() > PATIENCE => return Err(passwords::Error::Overloaded.into()),
            Attempt::Busy => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    match lookup.await {
        Ok(stored) => Ok(stored),
        Err(error) => {
            counts.void(identity, context.now).await?;
            Err(error.into())
        }
    }
}

/// Asks for the captcha where so much failed already; an attempt without it does not count, and tries nothing.
async fn solve(
    identity: &Identity,
    counts: &Counts,
    answer: Option<&str>,
    context: &Context,
) -> Result<(), Error> {
    let Some(captcha) = identity.captcha.as_ref().filter(|_| counts.are_suspicious()) else {
        return Ok(());
    };
    let verdict = captcha.verify(answer.unwrap_or_default(), context.address);
    let error = match verdict.await {
        Ok(true) => return Ok(()),
        Ok(false) => Error::Captcha,
        Err(error) => error.into(),
    };
    counts.void(identity, context.now).await?;
    Err(error)
}

/// Verifies the password of a claimed attempt, and counts how it ended.
async fn check(
    identity: &Identity,
    counts: &Counts,
    password: Password,
    stored: Option<&users::Credentials>,
    context: &Context,
) -> Result<(), Error> {
    let hash = stored.map(|stored| stored.password_hash.clone());
    match identity.passwords.verify(password, hash).await {
        Ok(true) => {
            counts.succeeded(identity, context.now).await?;
            Ok(())
        }
        Ok(false) => {
            let failures = counts.failed(identity, context.now).await?;
            let user_id = stored.map(|stored| stored.id);
            let mut tx = identity.db.begin().await?;
            Event::failure(Name::LoginFail)
                .user(user_id)
                .record(&mut tx, context)
                .await?;
            if failures >= lockout::WINDOW.limit {
                Event::failure(Name::LoginLock)
                    .user(user_id)
                    .record(&mut tx, context)
                    .await?;
            }
            tx.commit().await?;
            tokio::time::sleep(lockout::delay(failures)).await;
            Err(Error::Wrong)
        }
        Err(error) => {
            counts.void(identity, context.now).await?;
            Err(error.into())
        }
    }
}
