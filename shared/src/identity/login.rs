//! Signing in, signing out and changing a password: one place for the pages and the API.

use super::captcha;
use super::email::Email;
use super::lockout::{self, Counts};
use super::mfa::Otp;
use super::passwords::{self, Password};
use super::sessions::Session;
use super::users::{self, User};
use super::{Identity, accounts, mfa, sessions};
use crate::db;
use crate::ephemeral::Attempt;
use crate::events::{Context, Event, Name};
use crate::grants::families::{self, Of};
use crate::mail::Notice;
use crate::redis;
use crate::seal::DoesNotOpen;
use crate::secret::Secret;
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// How long an attempt waits for those under way to be decided.
const PATIENCE: Duration = Duration::from_secs(2);

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

/// What somebody shows to be who they say they are.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"password": "correct horse", "otp": "123456"}))]
pub struct Proof {
    /// The account's.
    pub password: Password,
    /// Where sign-in asks for one.
    #[schema(nullable = false)]
    pub otp: Option<Otp>,
}

/// Which of it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The password alone.
    Password,
    /// A code too, where sign-in asks for one.
    Everything,
}

/// What was shown by an attempt that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// All that the account has: failures are forgotten.
    All,
    /// The password or the code: failures stay, so that neither is guessed by whoever has the other.
    Part,
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

/// Makes sure once more that a user is there: by the password, and a code where they have one.
pub(super) async fn prove(
    identity: &Identity,
    user: &User,
    proof: &Proof,
    asked: Asked,
    context: &Context,
) -> Result<users::Credentials, Error> {
    let email = Email::parse(&user.email).map_err(|_| Error::Wrong)?;
    let stored = users::credentials_by_id(&identity.db, user.id).await?;
    let counts = begin(identity, email.key(), stored.as_ref(), context).await?;
    check(identity, &counts, proof, asked, stored.as_ref(), context).await?;
    stored.ok_or(Error::Wrong)
}

/// Something of a signed-in user's that could be guessed, counted with their sign-ins.
pub(super) async fn attempt<T>(
    identity: &Identity,
    user: &User,
    context: &Context,
    work: impl Future<Output = Result<(T, Shown), Error>>,
) -> Result<T, Error> {
    let email = Email::parse(&user.email).map_err(|_| Error::Wrong)?;
    let stored = users::credentials_by_id(&identity.db, user.id).await?;
    let counts = begin(identity, email.key(), stored.as_ref(), context).await?;
    let (done, shown) = match work.await {
        Ok((done, shown)) => (Some(done), Ok(shown)),
        Err(error) => (None, Err(error)),
    };
    settle(identity, &counts, shown, Some(user.id), context).await?;
    done.ok_or(Error::WrongCode)
}

/// Claims an attempt under a name.
async fn begin(
    identity: &Identity,
    name: &str,
    stored: Option<&users::Credentials>,
    context: &Context,
) -> Result<Counts, Error> {
    let unlocked_at = stored.and_then(|stored| stored.unlocked_at);
    let mut counts = Counts::new(identity.throttles, name, unlocked_at, context.address);
    let began = Instant::now();
    loop {
        match counts.begin(identity, context.now).await? {
            Attempt::Begun => return Ok(counts),
            Attempt::Refused { until, .. } => {
                let retry_after = until.since(context.now);
                return Err(Error::Locked { retry_after });
            }
            Attempt::Busy if began.elapsed() > PATIENCE => return Err(passwords::Error::Overloaded.into()),
            Attempt::Busy => tokio::time::sleep(Duration::from_millis(20)).await,
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

/// Verifies what a claimed attempt shows, and counts how it ended.
async fn check(
    identity: &Identity,
    counts: &Counts,
    proof: &Proof,
    asked: Asked,
    stored: Option<&users::Credentials>,
    context: &Context,
) -> Result<(), Error> {
    let hash = stored.map(|stored| stored.password_hash.clone());
    let verified = identity.passwords.verify(proof.password.clone(), hash).await;
    let shown = match (verified, stored) {
        (Ok(true), Some(stored)) if stored.mfa => second_step(identity, stored, proof, asked, context).await,
        (Ok(true), _) => Ok(Shown::All),
        (Ok(false), _) => Err(Error::Wrong),
        (Err(error), _) => Err(error.into()),
    };
    settle(identity, counts, shown, stored.map(|stored| stored.id), context).await
}

/// What the password is not enough for.
async fn second_step(
    identity: &Identity,
    stored: &users::Credentials,
    proof: &Proof,
    asked: Asked,
    context: &Context,
) -> Result<Shown, Error> {
    match &proof.otp {
        _ if asked == Asked::Password => Ok(Shown::Part),
        None => Err(Error::CodeMissing),
        Some(otp) => match mfa::accept(identity, stored.id, &stored.email, otp, context).await? {
            true => Ok(Shown::All),
            false => Err(Error::WrongCode),
        },
    }
}

/// Counts how a claimed attempt ended: what is wrong is a failure, and what was not decided does not count.
async fn settle(
    identity: &Identity,
    counts: &Counts,
    shown: Result<Shown, Error>,
    user_id: Option<i64>,
    context: &Context,
) -> Result<(), Error> {
    let now = context.now;
    match shown {
        Ok(Shown::All) => Ok(counts.succeeded(identity, now).await?),
        Ok(Shown::Part) => Ok(counts.void(identity, now).await?),
        Err(error @ (Error::Wrong | Error::WrongCode)) => {
            let failures = counts.failed(identity, now).await?;
            record_failure(identity, failures, user_id, context).await?;
            tokio::time::sleep(lockout::delay(failures)).await;
            Err(error)
        }
        Err(error) => {
            counts.void(identity, now).await?;
            Err(error)
        }
    }
}

async fn record_failure(
    identity: &Identity,
    failures: usize,
    user_id: Option<i64>,
    context: &Context,
) -> Result<(), db::Error> {
    let mut tx = identity.db.begin().await?;
    let failed = Event::failure(Name::LoginFail).user(user_id);
    failed.record(&mut tx, context).await?;
    if failures >= lockout::WINDOW.limit {
        let locked = Event::failure(Name::LoginLock).user(user_id);
        locked.record(&mut tx, context).await?;
    }
    tx.commit().await
}
