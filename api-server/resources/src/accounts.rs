//! Deletion of an account with its data in the API.

use crate::{idempotency, posts};
use shared::events::Context;
use shared::identity::Identity;
use shared::identity::accounts::{self, Error};
use shared::identity::login::Proof;
use shared::identity::users::User;

/// Deletes an account with its drafts and stored replies. Posts that were published stay.
pub async fn delete(identity: &Identity, user: &User, proof: &Proof, context: &Context) -> Result<(), Error> {
    let mut tx = accounts::delete(identity, user, proof, context).await?;
    posts::delete_drafts(&mut tx, user.id, context.now).await?;
    idempotency::delete_of_user(&mut tx, user.id).await?;
    tx.commit().await?;
    identity.revocations.announce().await;
    Ok(())
}
