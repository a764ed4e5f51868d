//! The authority of administrators over the changes that they make. It is checked when a request arrives,
//! again when its body has arrived, and here by the transaction of the change.

use crate::sessions;
use crate::users::changes;
use foundation::context::RequestContext;
use storage::db::{self, Db, Tx};

/// The reason why the transaction of a change did not begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The administrator who calls was demoted, disabled or signed out after the credentials of the call were
    /// checked.
    #[error("the administrator was signed out meanwhile")]
    SignedOut,
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Begins the transaction of a change. If an administrator makes it, according to `context`, their row and
/// that of their session are locked, in which nobody has signed in since, so that a concurrent end of their
/// authority waits for the commit or prevents the change. Changes by commands and background tasks have no
/// administrator. Fails with [`Error::SignedOut`] if the authority has ended.
pub async fn begin(db: &Db, context: &RequestContext) -> Result<Tx, Error> {
    let mut tx = db.begin().await?;
    if context.administrator.is_some() {
        lock(&mut tx, None, context).await?;
    }
    Ok(tx)
}

/// Begins the transaction of a change to the account of this user, as [`begin`] does. If the user is an
/// administrator too, all active administrators are locked, so that changes of each other run one after the
/// other.
pub(crate) async fn begin_change_of(db: &Db, user_id: i64, context: &RequestContext) -> Result<Tx, Error> {
    let mut tx = db.begin().await?;
    lock(&mut tx, Some(user_id), context).await?;
    Ok(tx)
}

async fn lock(tx: &mut Tx, changed: Option<i64>, context: &RequestContext) -> Result<(), Error> {
    let caller = context.administrator;
    let session = caller.and_then(|administrator| administrator.session);
    let is_signed_in = changes::lock_administrators(tx, caller, changed).await?
        && match session {
            Some((id, signed_in_at)) => sessions::lock(tx, id, signed_in_at, context.now).await?,
            None => true,
        };
    is_signed_in.then_some(()).ok_or(Error::SignedOut)
}
