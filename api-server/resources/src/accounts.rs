//! Deletion of an account with its data in the API.

use crate::{idempotency, posts};
use foundation::context::RequestContext;
use identity::Identity;
use identity::accounts;
use identity::accounts::Error;
use identity::credential_check::PresentedCredentials;
use identity::sessions::Session;

/// Verifies the credentials of the session's user and deletes their account, the posts that were never published, and
/// the replies that are stored under idempotency keys. Other posts, comments and payments remain and belong to the
/// anonymized user. Fails like [`accounts::delete`].
pub async fn delete(
    identity: &Identity,
    session: &Session,
    presented: &PresentedCredentials,
    context: &RequestContext,
) -> Result<(), Error> {
    let (mut tx, announcement) = accounts::delete(identity, session, presented, context).await?;
    posts::delete_never_published(&mut tx, session.user.id, context.now).await?;
    idempotency::delete_of_user(&mut tx, session.user.id).await?;
    tx.commit().await?;
    identity.revocations.announce(announcement).await;
    Ok(())
}
