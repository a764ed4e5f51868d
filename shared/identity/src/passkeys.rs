//! Passkeys: key pairs of Web Authentication, with which users sign in in place of the password and the
//! one-time code.

mod answer;
mod assertion;
mod challenge;
mod enrollment;
mod name;
mod relying_party;
mod sign_in;

pub use answer::Answer;
pub use challenge::Challenge;
pub use enrollment::{begin_enrollment, enroll};
pub use name::Name;
pub use relying_party::{EnrollingUser, RelyingParty};
pub use sign_in::sign_in;

use crate::authentication_methods::AuthenticationMethods;
use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::end_reason::EndReason;
use crate::services::Identity;
use crate::sessions::{self, Session};
use crate::sign_out::sign_out_after_change;
use crate::users;
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::secret::Secret;
use mail::Notice;
use revocation::RevokingTx;
use serde::Serialize;
use storage::db::{self, Db, Tx};
use storage::{execute, fetch_all, fetch_one, fetch_optional, sql};
use utoipa::ToSchema;
use webauthn_rs::prelude::{Passkey as Credential, WebauthnError};

/// The columns of [`Passkey`].
macro_rules! columns {
    () => {
        "id, name, is_synced, created_at, last_used_at, credential_id"
    };
}

sql! {
    LIST = concat!("SELECT ", columns!(), " FROM passkeys WHERE user_id = $1 ORDER BY id");
    // Returns the number of passkeys that the user had before.
    INSERT = "INSERT INTO passkeys (user_id, credential_id, credential, name, is_synced, created_at, challenged_at)
              VALUES ($1, $2, $3, $4, $5, $6, $7)
              RETURNING id, (SELECT COUNT(*) FROM passkeys AS former WHERE former.user_id = $1 AND former.credential_id <> $2) AS former";
    // Reads the table `users` too, which another module owns, so that a sign-in takes one round trip.
    FIND = "SELECT passkeys.id, user_id, credential, challenged_at, epoch, email_key
            FROM passkeys JOIN users ON users.id = user_id WHERE credential_id = $1 AND disabled_at IS NULL";
    // Of several answers that were verified against the same row, one changes it.
    CLAIM = "UPDATE passkeys SET credential = $4, is_synced = $5, challenged_at = $3, last_used_at = $6
             WHERE id = $1 AND challenged_at = $2 AND challenged_at < $3";
    RENAME = concat!("UPDATE passkeys SET name = $3 WHERE id = $1 AND user_id = $2 RETURNING ", columns!());
    FIND_ANY = "SELECT id FROM passkeys WHERE user_id = $1 LIMIT 1";
    FIND_USED = "SELECT id FROM passkeys WHERE user_id = $1 AND last_used_at IS NOT NULL LIMIT 1";
    DELETE = "DELETE FROM passkeys WHERE id = $1 AND user_id = $2";
    DELETE_ALL = "DELETE FROM passkeys WHERE user_id = $1";
    SKIP_CHALLENGES = "UPDATE passkeys SET challenged_at = $1 WHERE challenged_at < $1";
}

/// The largest number of passkeys of a user.
const MAX_PER_USER: usize = 20;
/// A passkey, as its user sees it.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct Passkey {
    /// The passkey's id.
    pub id: i64,
    /// The name that the user gave it.
    pub name: String,
    /// Whether it is backed up, so that the user has it on several devices.
    pub is_synced: bool,
    /// The time at which it was added.
    pub created_at: Timestamp,
    /// The time of the last sign-in with it; null if there was none.
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
    /// The id of the credential. An authenticator that has it does not add another one.
    #[serde(skip)]
    credential_id: Vec<u8>,
}

/// The reason why a passkey was not added, used or removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The challenge is over ten minutes old, is not one of this installation, browser or user, or is not
    /// later than the last one that the passkey answered.
    #[error("the challenge has expired or was answered already")]
    Stale,
    /// The answer of the authenticator is malformed, or does not fit the challenge, the origin or the stored
    /// passkey.
    #[error("the answer of the authenticator was refused: {0}")]
    Refused(#[from] WebauthnError),
    /// A part of the answer is larger than an authenticator makes it.
    #[error("the answer of the authenticator is too large")]
    TooLarge,
    /// A stored passkey cannot be read, or a new one cannot be written.
    #[error("a stored passkey cannot be read or written: {0}")]
    Corrupt(#[from] serde_json::Error),
    /// There is no such passkey, or its user is disabled.
    #[error("there is no such passkey")]
    Unknown,
    /// An account has this passkey already.
    #[error("this passkey was added already")]
    AlreadyAdded,
    /// The user has as many passkeys as a user may have.
    #[error("an account has at most {MAX_PER_USER} passkeys; remove one first")]
    TooMany,
    /// The credentials were not verified, or the database failed.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        Self::Credentials(error.into())
    }
}

/// A stored passkey with the account that it signs in to.
#[derive(sqlx::FromRow)]
struct Stored {
    id: i64,
    user_id: i64,
    /// The [`Credential`] as JSON.
    credential: String,
    challenged_at: Timestamp,
    /// The epoch of the user.
    epoch: i64,
    /// The key of the user's address.
    email_key: String,
}

/// The result of the removal of a passkey. All but [`Removed`](Self::Removed) are without effect.
#[derive(Debug)]
pub enum Removal {
    /// The passkey is removed. Holds the new `sid` of the caller's session.
    Removed(Secret),
    /// The user has no passkey with this id.
    Unknown,
    /// The user has no password, and no other passkey has signed in.
    OnlyWayToSignIn,
}

/// Returns the passkeys of a user, the oldest first.
pub async fn list(db: &Db, user_id: i64) -> Result<Vec<Passkey>, db::Error> {
    fetch_all!(db.reader(), Passkey, LIST, user_id)
}

/// Returns whether the pages offer a passkey to the user of this session: the latest sign-in is recent and
/// was not with a passkey, and the user has no passkey yet.
pub async fn should_be_offered(db: &Db, session: &Session, now: Timestamp) -> Result<bool, db::Error> {
    if session.methods == AuthenticationMethods::Passkey || !session.has_recent_sign_in(now) {
        return Ok(false);
    }
    let any = fetch_optional!(db.reader(), (i64,), FIND_ANY, session.user.id)?;
    Ok(any.is_none())
}

/// Renames a passkey of the session's user, and returns it. Returns `None`, without effect, if the user has
/// none with this id. Fails with [`credential_check::Error::SignedOut`] if the session ended meanwhile.
pub async fn rename(
    identity: &Identity,
    session: &Session,
    id: i64,
    name: &Name,
    context: &RequestContext,
) -> Result<Option<Passkey>, credential_check::Error> {
    let mut tx = identity.db.begin().await?;
    // The rows of the user, the session and the passkey are locked in the order of a sign-in, so that two
    // requests do not wait for each other.
    let (user_id, epoch) = (session.user.id, session.authority().epoch);
    let user = users::lock_in_epoch(&mut tx, user_id, epoch).await?;
    user.ok_or(credential_check::Error::SignedOut)?;
    credential_check::hold_session(&mut tx, session, context).await?;
    let renamed = fetch_optional!(tx.on(), Passkey, RENAME, id, user_id, name.as_str())?;
    tx.commit().await?;
    Ok(renamed)
}

/// Verifies the user's credentials, or the recent sign-in if `presented` is `None`, and removes a passkey.
/// Ends every other session, and every refresh token and access token of the user: somebody else who had the
/// passkey may have signed in with it. Fails with [`credential_check::Error::SignedOut`] if the session ended
/// meanwhile.
pub async fn remove(
    identity: &Identity,
    session: &Session,
    id: i64,
    presented: Option<&PresentedCredentials>,
    context: &RequestContext,
) -> Result<Removal, credential_check::Error> {
    let (user, required) = (&session.user, RequiredFactors::All);
    let verified = credential_check::prove(identity, session, presented, required, context).await?;
    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    let locked = users::lock(&mut tx, &verified).await?;
    locked.ok_or(credential_check::Error::SignedOut)?;
    credential_check::hold_session(&mut tx, session, context).await?;
    if execute!(tx.on(), DELETE, id, user.id)? == 0 {
        return Ok(Removal::Unknown);
    }
    // The lock of the user's row excludes another removal. The return without a commit undoes this one.
    if verified.password_hash.is_none() && fetch_optional!(tx.on(), (i64,), FIND_USED, user.id)?.is_none() {
        return Ok(Removal::OnlyWayToSignIn);
    }
    sign_out_after_change(&mut tx, session, EndReason::PasskeyRemoved, context).await?;
    let sid = sessions::replace(&mut tx, session, session.methods, context).await?;
    let event = Event::success(EventName::PasskeyRemoved).user(user.id);
    let event = event.detail(format!("passkey {id}"));
    identity.events.record_in(&mut tx, event, context).await?;
    let (mails, to, notice) = (&identity.mails, user.recipient(), Notice::PasskeyRemoved);
    mails.send_notice(&mut tx, to, notice, context).await?;
    tx.commit().await?;
    Ok(Removal::Removed(sid))
}

/// Deletes all passkeys of a user. Returns whether there were any, and records an event if so.
pub(crate) async fn delete_all(
    tx: &mut Tx,
    user_id: i64,
    context: &RequestContext,
) -> Result<bool, db::Error> {
    if execute!(tx.on(), DELETE_ALL, user_id)? == 0 {
        return Ok(false);
    }
    let event = Event::success(EventName::PasskeyRemoved).user(user_id);
    event.detail("all passkeys").record(tx, context).await?;
    Ok(true)
}

/// Inserts a passkey that answered a challenge of the time `challenged_at`, and returns its id. The caller
/// has locked the user's row, and rolls back if this fails. Fails with [`Error::TooMany`] if the user has 20
/// passkeys, and with [`Error::AlreadyAdded`] if a user has this one.
async fn insert(
    tx: &mut Tx,
    user_id: i64,
    credential: &Credential,
    name: &Name,
    (challenged_at, now): (Timestamp, Timestamp),
) -> Result<i64, Error> {
    let inserted = fetch_one!(
        tx.on(),
        (i64, i64),
        INSERT,
        user_id,
        credential.cred_id().as_slice(),
        serde_json::to_string(credential)?,
        name.as_str(),
        is_synced(credential),
        now,
        challenged_at,
    );
    match inserted {
        Ok((_, former)) if usize::try_from(former).is_ok_and(|former| former >= MAX_PER_USER) => {
            Err(Error::TooMany)
        }
        Ok((id, _)) => Ok(id),
        Err(db::Error::Conflict) => Err(Error::AlreadyAdded),
        Err(error) => Err(error.into()),
    }
}

/// Returns the passkey with this credential id, unless its user is disabled.
async fn find(db: &Db, credential_id: &[u8]) -> Result<Option<Stored>, db::Error> {
    fetch_optional!(db.reader(), Stored, FIND, credential_id)
}

/// Stores the passkey after its answer to the challenge of the time `challenged_at`. Returns false, without
/// effect, if it answered this challenge or a later one before, or if it was used or removed since `stored`
/// was read.
async fn claim(
    tx: &mut Tx,
    stored: &Stored,
    credential: &Credential,
    (challenged_at, now): (Timestamp, Timestamp),
) -> Result<bool, Error> {
    let (id, former) = (stored.id, stored.challenged_at);
    let (json, synced) = (serde_json::to_string(credential)?, is_synced(credential));
    Ok(execute!(tx.on(), CLAIM, id, former, challenged_at, json, synced, now)? == 1)
}

/// Refuses the answers of all passkeys to challenges until now.
pub(crate) async fn skip_challenges(tx: &mut Tx, now: Timestamp) -> Result<(), db::Error> {
    execute!(tx.on(), SKIP_CHALLENGES, now).map(|_| ())
}

/// Returns whether the authenticator has backed the passkey up (Web Authentication §6.1.3, backup state).
fn is_synced(credential: &Credential) -> bool {
    webauthn_rs::prelude::Credential::from(credential.clone()).backup_state
}
