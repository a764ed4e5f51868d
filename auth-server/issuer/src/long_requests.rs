//! Sealed requests that are too long for a URL. A request travels through the browser in the query of
//! redirects, and proxies limit the head of a response, nginx to 4 KiB by default. A longer one stays in the
//! database, sealed as it is, and a reference travels in its place.

use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::{random, secret};
use std::time::Duration;
use storage::db::{self, Db};
use storage::expiring::{ExpiringStore, Window};
use storage::{delete_expired, execute, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO long_requests (reference_hash, sealed, expires_at) VALUES ($1, $2, $3)";
    FIND = "SELECT sealed FROM long_requests WHERE reference_hash = $1 AND expires_at > $2";
    PRUNE = delete_expired!("long_requests");
}

/// The longest sealed request that travels itself, in bytes.
const MAX_LENGTH: usize = 1536;
/// The longest text that travels for a request, in bytes: the longest sealed request in base64url.
pub const MAX_TEXT_LENGTH: usize = 2048;
/// The length of a reference: 32 random bytes in base64url. A sealed request is longer.
const REFERENCE_LENGTH: usize = 43;

/// The limit of stored requests from one network. Nobody has to sign in to send one, and each is up to 48 KiB
/// for half an hour.
const PER_NETWORK: Window = Window::throttle(300, Duration::from_secs(30 * 60));

/// The reason why a request was not stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Too many long requests came from the client's network.
    #[error("too many long requests; try again in {}", foundation::duration::in_words(*.retry_after))]
    TooMany {
        /// The time until another one is allowed.
        retry_after: Duration,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Stores long requests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LongRequests {
    /// The database of the requests.
    pub db: Db,
    /// Counts them.
    pub expiring: ExpiringStore,
}

impl LongRequests {
    /// Returns the text that travels for a sealed request: the request in base64url or, if that is too long,
    /// a reference under which it is stored until it expires. Fails with [`Error::TooMany`] if the network of
    /// the client has sent too many long ones. The number is not limited while the store of counts is
    /// unavailable.
    pub(crate) async fn shorten(
        &self,
        sealed: Vec<u8>,
        expires_at: Timestamp,
        context: &RequestContext,
    ) -> Result<String, Error> {
        if sealed.len() <= MAX_LENGTH {
            return Ok(secret::encode(&sealed));
        }
        let by_network = PER_NETWORK.count(format!("long requests from {}", context.network()));
        let refusal = self.expiring.take(&[by_network], context.now).await;
        if let Some(retry_after) = refusal.unwrap_or_default() {
            return Err(Error::TooMany { retry_after });
        }
        let reference = random::token();
        execute!(self.db.writer(), INSERT, reference.hash(), sealed, expires_at)?;
        Ok(reference.expose().to_owned())
    }
}

/// Returns the sealed request for which a text travels; `None` if it is malformed, or a reference to one that
/// is unknown or has expired. Fails if the database does.
pub(crate) async fn restore(db: &Db, text: &str, now: Timestamp) -> Result<Option<Vec<u8>>, db::Error> {
    if text.len() != REFERENCE_LENGTH {
        return Ok(secret::decode(text));
    }
    let row = fetch_optional!(db.reader(), (Vec<u8>,), FIND, secret::hash(text), now)?;
    Ok(row.map(|(sealed,)| sealed))
}

/// Deletes expired requests. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, db::Error> {
    db.prune(PRUNE, now).await
}
