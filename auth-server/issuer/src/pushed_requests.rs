//! The authorization requests that clients pushed (RFC 9126), by the hash of their reference, until they
//! expire.

use foundation::clock::Timestamp;
use foundation::{random, secret};
use serde::{Deserialize, Serialize};
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO pushed_requests (request_uri_hash, client_id, params, expires_at) VALUES ($1, $2, $3, $4)";
    // A request for which a code was issued is used up.
    FIND = "SELECT params FROM pushed_requests
            WHERE request_uri_hash = $1 AND client_id = $2 AND expires_at > $3
              AND NOT EXISTS (SELECT 1 FROM authorization_codes WHERE request_uri_hash = $1)";
    DELETE_EVERY = "DELETE FROM pushed_requests";
    PRUNE = delete_expired!("pushed_requests");
}

/// The form of a `request_uri` (RFC 9126 §2.2), before the random part.
const PREFIX: &str = "urn:ietf:params:oauth:request_uri:";

/// The reference to a pushed request: the random part of its `request_uri`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestUri(String);

impl RequestUri {
    /// Returns a new reference of 256 random bits.
    fn generate() -> Self {
        Self(random::token().expose().to_owned())
    }

    /// Returns the reference of a `request_uri`; `None` for a URI that this issuer cannot have made.
    pub fn parse(uri: &str) -> Option<Self> {
        uri.strip_prefix(PREFIX).map(|random| Self(random.to_owned()))
    }

    /// Returns the `request_uri`.
    pub fn uri(&self) -> String {
        format!("{PREFIX}{}", self.0)
    }

    /// Returns the hash under which the request is stored.
    pub(crate) fn hash(&self) -> Vec<u8> {
        secret::hash(&self.0)
    }
}

/// Stores a request of the client, as form-encoded text. Returns its reference.
pub(crate) async fn create(
    db: &Db,
    client_id: &str,
    params: String,
    expires_at: Timestamp,
) -> Result<RequestUri, Error> {
    let request_uri = RequestUri::generate();
    let (hash, client_id) = (request_uri.hash(), client_id.to_owned());
    execute!(db.writer(), INSERT, hash, client_id, params, expires_at)?;
    Ok(request_uri)
}

/// Returns the text of a request that the client pushed. Returns `None` if the reference is unknown, expired
/// or used up, or of another client.
pub(crate) async fn find(
    db: &Db,
    request_uri: &RequestUri,
    client_id: &str,
    now: Timestamp,
) -> Result<Option<String>, Error> {
    let row = fetch_optional!(db.reader(), (String,), FIND, request_uri.hash(), client_id, now)?;
    Ok(row.map(|(params,)| params))
}

/// Deletes the requests of all clients.
pub async fn delete_every(tx: &mut Tx) -> Result<(), Error> {
    execute!(tx.on(), DELETE_EVERY).map(|_| ())
}

/// Deletes expired requests. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
