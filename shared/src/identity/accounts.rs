//! Disabling accounts and enabling them again; and ending what they have under way.

use super::{mailed_tokens, sessions, users};
use crate::db::{Db, Error, Tx};
use crate::events::{Context, Event, Name};
use crate::grants::families::{self, Of};
use crate::revocation::Mirror;

/// Disables a user: their sessions, refresh tokens and access tokens end, and no sign-in begins another.
/// Gives whether they were not disabled before.
pub async fn disable(db: &Db, revocations: &Mirror, user_id: i64, context: &Context) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    if !users::disable(&mut tx, user_id, context.now).await? {
        return Ok(false);
    }
    end_everything(&mut tx, user_id, context).await?;
    Event::success(Name::UserDisabled)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    revocations.announce().await;
    Ok(true)
}

/// Lets a user sign in again. Gives whether they were disabled.
pub async fn enable(db: &Db, user_id: i64, context: &Context) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    if !users::enable(&mut tx, user_id).await? {
        return Ok(false);
    }
    Event::success(Name::UserEnabled)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    Ok(true)
}

/// Ends what a user has under way: every session, refresh token and access token, and every link that was mailed.
/// For when who has them may be somebody else. Announce the revocations after the commit.
pub(super) async fn end_everything(tx: &mut Tx, user_id: i64, context: &Context) -> Result<(), Error> {
    sessions::end_all(tx, user_id).await?;
    mailed_tokens::void_all(tx, user_id).await?;
    families::revoke(tx, Of::User(user_id), context).await
}
