//! Disabling accounts and enabling them again.

use super::{sessions, users};
use crate::db::{Db, Error};
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
    sessions::end_all(&mut tx, user_id).await?;
    families::revoke(&mut tx, Of::User(user_id), context).await?;
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
