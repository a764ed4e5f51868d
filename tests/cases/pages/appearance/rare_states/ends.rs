//! The sign-in page of a browser whose session has ended, for each reason.

use super::super::Walk;
use storage::execute;

/// The names in the database of the reasons that have a text of their own, and of one that has none.
const REASONS: [&str; 20] = [
    "password_changed",
    "password_reset",
    "password_removed",
    "password_replaced",
    "changed_here",
    "email_changed",
    "two_step_on",
    "two_step_off",
    "two_step_reset",
    "passkey_removed",
    "role_changed",
    "account_disabled",
    "account_deleted",
    "signed_out_by_administrator",
    "signed_out_elsewhere",
    "newer_sign_ins",
    "unused",
    "expired",
    "restored",
    "all_of_user",
];

/// Visits the sign-in page after an end for each reason.
pub(super) async fn visit(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    walk.sign_in(&user).await;
    user.delete("/me/sessions").await.expect(204);
    let db = walk.world.db().await;
    for reason in REASONS {
        execute!(db.writer(), "UPDATE ended_sessions SET reason = $1", reason).unwrap();
        let name = format!("sign-in-ended-{}", reason.replace('_', "-"));
        walk.visit(&name, "/signin").await;
    }
    db.close().await;
}
