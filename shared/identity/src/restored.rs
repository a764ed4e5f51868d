//! A database that was restored from a backup: what was used or ended since the backup is as if it had not been.

use crate::end_reason::EndReason;
use crate::users::changes;
use crate::{clients, mailed_tokens, passkeys, recovery_codes, refresh_families, sessions, totp};
use foundation::clock::Timestamp;
use storage::db::{Error, Tx};

/// Ends every session, code, refresh token and mailed link, and everything that works once, because the
/// backup does not tell which of them have ended or were used since. The codes of authenticator apps and the
/// passkeys of users work again for new sign-ins. Access tokens end with the keys that signed them.
pub async fn end_all(tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
    let reason = EndReason::Restored;
    // The families first: those of an epoch that has ended have an earlier reason.
    refresh_families::revoke_every(tx, reason, now).await?;
    changes::end_all_epochs(tx, now).await?;
    clients::end_all_epochs(tx, now).await?;
    sessions::end_every(tx, reason, now).await?;
    mailed_tokens::delete_every(tx).await?;
    recovery_codes::delete_every(tx).await?;
    totp::skip_steps(tx, now).await?;
    passkeys::skip_challenges(tx, now).await
}
