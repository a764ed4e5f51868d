//! Registered clients (RFC 6749 §2).

mod cache;
mod client_origin;
mod client_type;
pub mod documents;
pub mod list;
mod row;
pub mod secret_rotation;
mod secrets;
pub mod unused;

pub use cache::Clients;
pub use client_origin::ClientOrigin;
pub use client_type::ClientType;
pub use secrets::{ClientSecret, Secrets};

use crate::refresh_families::StoredScope;
use foundation::clock::Timestamp;
use foundation::duration;
use foundation::scope::Scope;
use row::{StoredJwks, StoredSeconds, StoredUris};
use secrets::SecretColumns;
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;
use storage::db::{Array, Db, Error, Tx};
use storage::{execute, fetch_all, fetch_optional, sql};
use utoipa::ToSchema;

/// The columns of [`Client`].
macro_rules! columns {
    () => {
        "id, name, type, secret_hash, secret_created_at, secret_last_used_at, previous_secret_hash,
         previous_secret_created_at, previous_secret_last_used_at, previous_secret_expires_at, jwks, jwks_uri,
         redirect_uris, post_logout_redirect_uris, backchannel_logout_uri, scope, default_scope, first_party, refresh_cookie,
         refresh_retry_window,
         epoch, created_at, disabled_at,
         require_pushed_authorization_requests, dpop_bound_access_tokens, device_authorization,
         origin, unused_until, registration_token_hash, token_endpoint_auth_method, identity_changed_at,
         signed_user_info"
    };
}
use columns;

sql! {
    INSERT = "INSERT INTO clients
              (id, name, type, redirect_uris, scope, default_scope, first_party, epoch, jwks, refresh_cookie,
               refresh_retry_window, jwks_uri, post_logout_redirect_uris, backchannel_logout_uri,
               require_pushed_authorization_requests, dpop_bound_access_tokens, device_authorization,
               token_endpoint_auth_method, signed_user_info, secret_hash, secret_created_at, created_at, origin,
               unused_until, registration_token_hash)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
                      $23, $24, $25)";
    FIND, LOCK_POSTGRES = concat!("SELECT ", columns!(), " FROM clients WHERE id = $1");
    // The parameter of these two is an array of ids.
    NAMES_SQLITE = "SELECT id, name FROM clients WHERE id IN (SELECT value FROM json_each($1))";
    NAMES_POSTGRES = "SELECT id, name FROM clients WHERE id = ANY ($1)";
    // The condition is that of the index.
    BROWSER_APPS = concat!(
        "SELECT ", columns!(), " FROM clients
         WHERE (type = 'spa' OR (type = 'native' AND origin = 'registration')) AND disabled_at IS NULL AND unused_until IS NULL
         ORDER BY origin, id LIMIT 10000");
    SAVE = "UPDATE clients SET name = $2, type = $3, redirect_uris = $4, scope = $5, default_scope = $6, first_party = $7,
                   epoch = $8, jwks = $9, refresh_cookie = $10, refresh_retry_window = $11, jwks_uri = $12,
                   post_logout_redirect_uris = $13, backchannel_logout_uri = $14,
                   require_pushed_authorization_requests = $15, dpop_bound_access_tokens = $16,
                   device_authorization = $17, token_endpoint_auth_method = $18, signed_user_info = $19,
                   disabled_at = $20, identity_changed_at = $21
            WHERE id = $1";
    DELETE = "DELETE FROM clients WHERE id = $1";
    END_ALL_EPOCHS = "UPDATE clients SET epoch = CASE WHEN epoch < $1 THEN $1 ELSE epoch + 1 END";
}

/// Runs a statement that writes a client. Its first 19 parameters are the id and the columns that both
/// statements write; the values of the others follow.
macro_rules! write_client {
    ($tx:ident, $statement:ident, $client:ident, $($more:expr),+ $(,)?) => {
        execute!(
            $tx.on(),
            $statement,
            $client.id.as_str(),
            $client.name.as_str(),
            $client.kind.as_str(),
            serde_json::json!($client.redirect_uris).to_string(),
            $client.scope.to_string(),
            $client.default_scope.to_string(),
            $client.first_party,
            $client.epoch,
            $client.jwks.as_ref().map(ToString::to_string),
            $client.refresh_cookie,
            i64::try_from($client.refresh_retry_window.as_secs()).unwrap_or(i64::MAX),
            $client.jwks_uri.as_deref(),
            serde_json::json!($client.post_logout_redirect_uris).to_string(),
            $client.backchannel_logout_uri.as_deref(),
            $client.require_pushed_authorization_requests,
            $client.dpop_bound_access_tokens,
            $client.device_authorization,
            $client.token_endpoint_auth_method.as_deref(),
            $client.signed_user_info,
            $($more),+
        )
        .map(|_| ())
    };
}

/// A registered client, serialized without the hashes of its secrets.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct Client {
    /// The `client_id`.
    pub id: String,
    /// The name that the consent page displays.
    pub name: String,
    /// The type of the client.
    #[serde(rename = "type")]
    #[sqlx(rename = "type", try_from = "String")]
    pub kind: ClientType,
    /// The secrets of a confidential client, the current one first.
    #[schema(value_type = Vec<ClientSecret>)]
    #[sqlx(flatten, try_from = "SecretColumns")]
    pub secrets: Secrets,
    /// The public keys of a confidential client without secrets, which authenticates by signed assertions
    /// (RFC 7523): a JWK set (RFC 7517 §5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    #[sqlx(try_from = "StoredJwks")]
    pub jwks: Option<serde_json::Value>,
    /// The URL from which the issuer fetches such keys, in place of `jwks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    pub jwks_uri: Option<String>,
    /// The registered redirect URIs.
    #[sqlx(try_from = "StoredUris")]
    pub redirect_uris: Vec<String>,
    /// The registered URIs to which the browser may return after a logout (OpenID Connect RP-Initiated Logout
    /// 1.0 §3.1).
    #[sqlx(try_from = "StoredUris")]
    pub post_logout_redirect_uris: Vec<String>,
    /// The URL that gets a logout token when a session ends in which the client got ID tokens (OpenID Connect
    /// Back-Channel Logout 1.0 §2.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    pub backchannel_logout_uri: Option<String>,
    /// The largest scope that the client may request.
    #[sqlx(try_from = "StoredScope")]
    pub scope: Scope,
    /// The scope of a request without a `scope` parameter.
    #[sqlx(try_from = "StoredScope")]
    pub default_scope: Scope,
    /// Whether the client belongs to the operator of this service and not to a third party.
    pub first_party: bool,
    /// Whether a browser keeps the refresh tokens of the client in a cookie, out of reach of scripts.
    pub refresh_cookie: bool,
    /// The time after a refresh in which the same refresh token gets the same successor again, while that is
    /// unused. In whole seconds; zero if a refresh token is valid once.
    #[serde(serialize_with = "duration::serialize_as_seconds")]
    #[schema(value_type = i64)]
    #[sqlx(try_from = "StoredSeconds")]
    pub refresh_retry_window: Duration,
    /// Whether the client gets only access tokens that are bound to a key (RFC 9449 §5.2).
    pub dpop_bound_access_tokens: bool,
    /// The number of times that all tokens of the client ended.
    #[serde(skip)]
    pub epoch: i64,
    /// The time of the registration.
    pub created_at: Timestamp,
    /// The time at which the client was disabled; null while it is enabled.
    #[schema(required)]
    pub disabled_at: Option<Timestamp>,
    /// Whether the client must push its authorization requests (RFC 9126 §6).
    pub require_pushed_authorization_requests: bool,
    /// Whether the client may use the device authorization grant (RFC 8628).
    pub device_authorization: bool,
    /// How the client was registered.
    #[sqlx(try_from = "String")]
    pub origin: ClientOrigin,
    /// The end of a client that no administrator registered, unless it gets a code or token before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub unused_until: Option<Timestamp>,
    /// The hash of the registration access token of a client that registered itself (RFC 7592 §3).
    #[serde(skip)]
    pub registration_token_hash: Option<Vec<u8>>,
    /// The `token_endpoint_auth_method` that such a client registered (RFC 7591 §2).
    #[serde(skip)]
    pub token_endpoint_auth_method: Option<String>,
    /// Whether such a client gets the claims about a user as a signed JWT, whatever it accepts
    /// (`userinfo_signed_response_alg`).
    #[serde(skip)]
    pub signed_user_info: bool,
    /// The time at which such a client changed its name, redirect URIs or keys. Earlier consents do not
    /// replace the consent page.
    #[serde(skip)]
    pub identity_changed_at: Option<Timestamp>,
}

impl Client {
    /// Returns whether the client authenticates by signed assertions and not by a secret.
    pub const fn has_keys(&self) -> bool {
        self.jwks.is_some() || self.jwks_uri.is_some()
    }

    /// Returns whether the client describes itself by a document at its `client_id`.
    pub fn has_document(&self) -> bool {
        self.origin == ClientOrigin::Document
    }

    /// Returns whether the client was not used in time. It then counts as unknown, until its row is deleted.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.unused_until.is_some_and(|end| end <= now)
    }
}

/// Inserts a client with its first secret, if it has one. Fails with [`Error::Conflict`] if the id is taken.
pub async fn create(tx: &mut Tx, client: &Client) -> Result<(), Error> {
    let secret = client.secrets.current.as_ref();
    write_client!(
        tx,
        INSERT,
        client,
        secret.map(|secret| secret.hash.as_slice()),
        secret.map(|secret| secret.created_at),
        client.created_at,
        client.origin.as_str(),
        client.unused_until,
        client.registration_token_hash.as_deref(),
    )
}

/// Returns the client with this id and locks its row until the transaction ends, so that no other transaction
/// changes the client or issues codes to it.
pub async fn lock(tx: &mut Tx, id: &str) -> Result<Option<Client>, Error> {
    let on = tx.on();
    let lock = on.choose(FIND, LOCK_POSTGRES);
    fetch_optional!(on, Client, lock, id)
}

/// Stores the changes of a client that this transaction has [locked](lock), except those of its secrets. The
/// origin and the time of the registration never change.
pub async fn save(tx: &mut Tx, client: &Client) -> Result<(), Error> {
    write_client!(tx, SAVE, client, client.disabled_at, client.identity_changed_at)
}

/// Deletes a client that this transaction has [locked](lock), with its consents.
pub async fn delete(tx: &mut Tx, id: &str) -> Result<(), Error> {
    execute!(tx.on(), DELETE, id).map(|_| ())
}

/// Ends the epochs of all clients. The next ones are numbered by the time, in microseconds, and so never
/// by a number that an epoch had before.
pub(crate) async fn end_all_epochs(tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
    execute!(tx.on(), END_ALL_EPOCHS, now).map(|_| ())
}

/// Returns the client with this id.
pub async fn find(db: &Db, id: &str) -> Result<Option<Client>, Error> {
    fetch_optional!(db.reader(), Client, FIND, id)
}

/// Returns the names of the clients with these ids. Runs no statement if there are no ids.
pub async fn names(db: &Db, ids: &[&str]) -> Result<HashMap<String, String>, Error> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = db.engine().choose(NAMES_SQLITE, NAMES_POSTGRES);
    let ids = Array::of(ids, |id| *id);
    let found = fetch_all!(db.reader(), (String, String), sql, ids)?;
    Ok(found.into_iter().collect())
}

/// Returns the enabled clients that run in browsers: single-page apps, and native apps that registered
/// themselves, some of which run in a browser. At most 10,000, those of administrators first, without those
/// that were never used.
pub async fn browser_apps(db: &Db) -> Result<Vec<Client>, Error> {
    fetch_all!(db.reader(), Client, BROWSER_APPS)
}
