//! Signing a user out everywhere.

use crate::end_reason::EndReason;
use crate::grants::refresh_families;
use crate::users::changes;
use crate::{mailed_tokens, sessions};
use audit::revocation::PendingAnnouncement;
use foundation::context::RequestContext;
use storage::db::{Error, Tx};

/// Ends every session, refresh token and access token of a user for this reason, every unused mailed link and every sign-in in
/// progress. Called by every change of the password, the second factor, the address or the role, when an account is
/// disabled or deleted, and when an administrator signs the user out. Call
/// [`RevocationMirror::announce`](audit::revocation::RevocationMirror::announce) after the commit.
pub(crate) async fn sign_out_everywhere(
    tx: &mut Tx,
    user_id: i64,
    reason: EndReason,
    context: &RequestContext,
) -> Result<PendingAnnouncement, Error> {
    let ended = changes::end_epoch(tx, user_id, reason, context.now).await?;
    sessions::end_all(tx, user_id, reason, context.now).await?;
    mailed_tokens::delete_unused(tx, user_id).await?;
    refresh_families::revoke_all_of_user(tx, user_id, ended, context).await
}
