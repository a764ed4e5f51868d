//! Refresh tokens in a cookie of a browser, in whose place the browser got that of another family.

use super::is_unrevoked;
use foundation::clock::Timestamp;
use storage::db::{Db, Error};
use storage::{execute, fetch_one, sql};

sql! {
    RECORD_REPLACED = "UPDATE refresh_families SET replaced_at = $3 WHERE id = $1 AND client_id = $2";
    BROWSER_MAY_HAVE_NEWER = concat!(
        "SELECT EXISTS (SELECT 1 FROM refresh_families WHERE id = $1 AND replaced_at > $3)
             OR EXISTS (SELECT 1 FROM refresh_families
         WHERE user_id = (SELECT user_id FROM refresh_families AS presented WHERE presented.id = $1) AND client_id = $2
           AND (id = $1 OR created_at > $3) AND idle_expires_at > $4 AND expires_at > $4 AND ", is_unrevoked!(), ")");
}

/// Records that the browser which had the refresh token of the family `id` of this client gets that of a new
/// family.
pub async fn record_replaced(db: &Db, id: &str, client_id: &str, now: Timestamp) -> Result<(), Error> {
    execute!(db.writer(), RECORD_REPLACED, id, client_id, now).map(|_| ())
}

/// Returns whether the browser that had the refresh token of the family `id` may have another one of this
/// client which can be used: if it got that of a new family after the time `since`, or if the family is live,
/// or another one of the same user that began after `since`.
pub async fn browser_may_have_newer(
    db: &Db,
    id: &str,
    client_id: &str,
    since: Timestamp,
    now: Timestamp,
) -> Result<bool, Error> {
    let on = db.reader();
    let (exists,) = fetch_one!(on, (bool,), BROWSER_MAY_HAVE_NEWER, id, client_id, since, now)?;
    Ok(exists)
}
