//! Sealed requests that are too long for a URL. A request travels through the browser in the query of redirects, and proxies limit the
//! head of a response, nginx to 4 KiB by default. A longer one stays in the database, sealed as it is, and a reference travels in its place.

use foundation::clock::Timestamp;
use foundation::{random, secret};
use storage::db::{Db, Error};
use storage::{delete_expired, execute, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO long_requests (reference_hash, sealed, expires_at) VALUES ($1, $2, $3)";
    FIND = "SELECT sealed FROM long_requests WHERE reference_hash = $1 AND expires_at > $2";
    PRUNE = delete_expired!("long_requests", "reference_hash", "expires_at + 0");
}

/// The longest sealed request that travels itself, in bytes.
const MAX_LENGTH: usize = 1536;
/// The longest text that travels for a request, in bytes: the longest sealed request in base64url.
pub const MAX_TEXT_LENGTH: usize = 2048;
/// The length of a reference: 32 random bytes in base64url. A sealed request is longer.
const REFERENCE_LENGTH: usize = 43;

/// Returns the text that travels for a sealed request: the request in base64url or, if that is too long, a reference under which it is
/// stored until it expires. Fails if the database does.
pub(crate) async fn shorten(db: &Db, sealed: Vec<u8>, expires_at: Timestamp) -> Result<String, Error> {
    if sealed.len() <= MAX_LENGTH {
        return Ok(secret::encode(&sealed));
    }
    let reference = random::token();
    execute!(db.writer(), INSERT, reference.hash(), sealed, expires_at)?;
    Ok(reference.expose().to_owned())
}

/// Returns the sealed request for which a text travels; `None` if it is malformed, or a reference to one that is unknown or has expired.
/// Fails if the database does.
pub(crate) async fn restore(db: &Db, text: &str, now: Timestamp) -> Result<Option<Vec<u8>>, Error> {
    if text.len() != REFERENCE_LENGTH {
        return Ok(secret::decode(text));
    }
    let row = fetch_optional!(db.reader(), (Vec<u8>,), FIND, secret::hash(text), now)?;
    Ok(row.map(|(sealed,)| sealed))
}

/// Deletes expired requests. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
