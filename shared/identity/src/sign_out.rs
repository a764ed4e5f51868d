//! Signing a user out everywhere.

use crate::end_reason::EndReason;
use crate::sessions::{self, Session};
use crate::users::changes;
use crate::{mailed_tokens, refresh_families};
use foundation::context::RequestContext;
use revocation::RevokingTx;
use storage::db::Error;

/// Ends every session, refresh token and access token of a user for this reason, every unused mailed link and
/// every sign-in in progress. Called by every change of the password, the second factor, the address or the
/// role, when an account is disabled or deleted, and when an administrator signs the user out.
pub(crate) async fn sign_out_everywhere(
    tx: &mut RevokingTx,
    user_id: i64,
    reason: EndReason,
    context: &RequestContext,
) -> Result<(), Error> {
    sign_out(tx, user_id, None, reason, context).await
}

/// Signs the user of this session out everywhere, as [`sign_out_everywhere`] does, after a change that the
/// user made in it and that the sign-in page of other browsers ascribes to another device. If the browser of
/// this session does not receive the response, its sign-in page says that the change was made there.
pub(crate) async fn sign_out_after_change(
    tx: &mut RevokingTx,
    session: &Session,
    reason: EndReason,
    context: &RequestContext,
) -> Result<(), Error> {
    sign_out(tx, session.user.id, Some(session.id), reason, context).await
}

async fn sign_out(
    tx: &mut RevokingTx,
    user_id: i64,
    changed_in: Option<i64>,
    reason: EndReason,
    context: &RequestContext,
) -> Result<(), Error> {
    let ended = changes::end_epoch(tx, user_id, reason, context.now).await?;
    sessions::end_all(tx, user_id, changed_in, reason, context.now).await?;
    mailed_tokens::delete_unused(tx, user_id).await?;
    refresh_families::revoke_all_of_user(tx, user_id, ended, context).await
}
