//! Registered clients (RFC 6749 §2).

mod cache;
pub mod list;
pub mod secrets;

pub use cache::Clients;

use foundation::clock::Timestamp;
use foundation::duration;
use foundation::scope::Scope;
use secrets::{ClientSecret, SecretColumns, Secrets};
use serde::Serialize;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_all, fetch_optional, sql};
use utoipa::ToSchema;

/// The columns of [`Row`].
macro_rules! columns {
    () => {
        "id, name, type, secret_hash, secret_created_at, secret_last_used_at, previous_secret_hash,
         previous_secret_created_at, previous_secret_last_used_at, previous_secret_expires_at, jwks, jwks_uri,
         redirect_uris, post_logout_redirect_uris, backchannel_logout_uri, scope, default_scope, first_party, refresh_cookie,
         refresh_retry_window,
         epoch, created_at, disabled_at"
    };
}
use columns;

sql! {
    INSERT = "INSERT INTO clients
              (id, name, type, secret_hash, secret_created_at, redirect_uris, scope, default_scope, first_party,
               epoch, created_at, jwks, refresh_cookie, refresh_retry_window, jwks_uri, post_logout_redirect_uris,
               backchannel_logout_uri)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    FIND = concat!("SELECT ", columns!(), " FROM clients WHERE id = $1");
    LIST = concat!("SELECT ", columns!(), " FROM clients ORDER BY id");
    SINGLE_PAGE_APPS = concat!(
        "SELECT ", columns!(), " FROM clients WHERE type = 'spa' AND disabled_at IS NULL ORDER BY id LIMIT 10000");
    LOCK = concat!("UPDATE clients SET name = name WHERE id = $1 RETURNING ", columns!());
    SAVE = "UPDATE clients SET name = $2, redirect_uris = $3, scope = $4, default_scope = $5, first_party = $6,
                   epoch = $7, disabled_at = $8, jwks = $9, refresh_cookie = $10, refresh_retry_window = $11,
                   jwks_uri = $12, post_logout_redirect_uris = $13, backchannel_logout_uri = $14
            WHERE id = $1";
}

/// The type of a client (RFC 6749 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ClientType {
    /// A single-page application. A public client.
    Spa,
    /// An installed application. A public client whose loopback redirect URI may have any port (RFC 8252 §7.3).
    Native,
    /// A web server that acts for users. A confidential client.
    Web,
    /// A server that acts for itself. A confidential client.
    Service,
}

impl ClientType {
    const ALL: [Self; 4] = [Self::Spa, Self::Native, Self::Web, Self::Service];

    /// Returns whether clients of this type have a secret.
    pub const fn is_confidential(self) -> bool {
        matches!(self, Self::Web | Self::Service)
    }

    /// Returns the type with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the name in the database, in commands and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spa => "spa",
            Self::Native => "native",
            Self::Web => "web",
            Self::Service => "service",
        }
    }
}

/// A registered client, serialized without the hashes of its secrets.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Client {
    /// The `client_id`.
    pub id: String,
    /// The name that the consent page displays.
    pub name: String,
    /// The type of the client.
    #[serde(rename = "type")]
    pub kind: ClientType,
    /// The secrets of a confidential client, the current one first.
    #[schema(value_type = Vec<ClientSecret>)]
    pub secrets: Secrets,
    /// The public keys of a confidential client without secrets, which authenticates by signed assertions (RFC 7523): a JWK set
    /// (RFC 7517 §5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub jwks: Option<serde_json::Value>,
    /// The URL from which the issuer fetches such keys, in place of `jwks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    pub jwks_uri: Option<String>,
    /// The registered redirect URIs.
    pub redirect_uris: Vec<String>,
    /// The registered URIs to which the browser may return after a logout (OpenID Connect RP-Initiated Logout 1.0
    /// §3.1).
    pub post_logout_redirect_uris: Vec<String>,
    /// The URL that gets a logout token when a session ends in which the client got ID tokens (OpenID Connect
    /// Back-Channel Logout 1.0 §2.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    pub backchannel_logout_uri: Option<String>,
    /// The largest scope that the client may request.
    pub scope: Scope,
    /// The scope of a request without a `scope` parameter.
    pub default_scope: Scope,
    /// Whether the client belongs to the operator of this service and not to a third party.
    pub first_party: bool,
    /// Whether a browser keeps the refresh tokens of the client in a cookie, out of reach of scripts.
    pub refresh_cookie: bool,
    /// The time after a refresh in which the same refresh token gets the same successor again, while that is unused. In
    /// whole seconds; zero if a refresh token is valid once.
    #[serde(serialize_with = "duration::serialize_as_seconds")]
    #[schema(value_type = i64)]
    pub refresh_retry_window: Duration,
    /// The number of times that all tokens of the client ended.
    #[serde(skip)]
    pub epoch: i64,
    /// The time of the registration.
    pub created_at: Timestamp,
    /// The time at which the client was disabled; null while it is enabled.
    #[schema(required)]
    pub disabled_at: Option<Timestamp>,
}

impl Client {
    /// Returns whether the client authenticates by signed assertions and not by a secret.
    pub const fn has_keys(&self) -> bool {
        self.jwks.is_some() || self.jwks_uri.is_some()
    }

    fn refresh_retry_seconds(&self) -> i64 {
        i64::try_from(self.refresh_retry_window.as_secs()).unwrap_or(i64::MAX)
    }
}

#[derive(sqlx::FromRow)]
struct Row {
    id: String,
    name: String,
    r#type: String,
    #[sqlx(flatten)]
    secrets: SecretColumns,
    jwks: Option<String>,
    jwks_uri: Option<String>,
    redirect_uris: String,
    post_logout_redirect_uris: String,
    backchannel_logout_uri: Option<String>,
    scope: String,
    default_scope: String,
    first_party: bool,
    refresh_cookie: bool,
    refresh_retry_window: i64,
    epoch: i64,
    created_at: Timestamp,
    disabled_at: Option<Timestamp>,
}

/// Inserts a client with its first secret, if it has one. Fails with [`Error::Conflict`] if the id is taken.
pub async fn create(tx: &mut Tx, client: &Client) -> Result<(), Error> {
    let secret = client.secrets.current.as_ref();
    execute!(
        tx.on(),
        INSERT,
        client.id.as_str(),
        client.name.as_str(),
        client.kind.as_str(),
        secret.map(|secret| secret.hash.as_slice()),
        secret.map(|secret| secret.created_at),
        serde_json::json!(client.redirect_uris).to_string(),
        client.scope.to_string(),
        client.default_scope.to_string(),
        client.first_party,
        client.epoch,
        client.created_at,
        client.jwks.as_ref().map(ToString::to_string),
        client.refresh_cookie,
        client.refresh_retry_seconds(),
        client.jwks_uri.as_deref(),
        serde_json::json!(client.post_logout_redirect_uris).to_string(),
        client.backchannel_logout_uri.as_deref(),
    )
    .map(|_| ())
}

/// Returns the client with this id and locks its row until the transaction ends, so that no other transaction changes the
/// client or issues codes to it.
pub async fn lock(tx: &mut Tx, id: &str) -> Result<Option<Client>, Error> {
    Ok(fetch_optional!(tx.on(), Row, LOCK, id)?.map(Client::from))
}

/// Stores the changes of a client that this transaction has [locked](lock), except those of its secrets. The type and the time
/// of the registration never change.
pub async fn save(tx: &mut Tx, client: &Client) -> Result<(), Error> {
    execute!(
        tx.on(),
        SAVE,
        client.id.as_str(),
        client.name.as_str(),
        serde_json::json!(client.redirect_uris).to_string(),
        client.scope.to_string(),
        client.default_scope.to_string(),
        client.first_party,
        client.epoch,
        client.disabled_at,
        client.jwks.as_ref().map(ToString::to_string),
        client.refresh_cookie,
        client.refresh_retry_seconds(),
        client.jwks_uri.as_deref(),
        serde_json::json!(client.post_logout_redirect_uris).to_string(),
        client.backchannel_logout_uri.as_deref(),
    )
    .map(|_| ())
}

/// Returns the client with this id.
pub async fn find(db: &Db, id: &str) -> Result<Option<Client>, Error> {
    Ok(fetch_optional!(db.reader(), Row, FIND, id)?.map(Client::from))
}

/// Returns all clients, ordered by id.
pub async fn list(db: &Db) -> Result<Vec<Client>, Error> {
    Ok(fetch_all!(db.reader(), Row, LIST)?
        .into_iter()
        .map(Client::from)
        .collect())
}

/// Returns the enabled single-page applications, ordered by id, at most 10,000.
pub async fn single_page_apps(db: &Db) -> Result<Vec<Client>, Error> {
    let rows = fetch_all!(db.reader(), Row, SINGLE_PAGE_APPS)?;
    Ok(rows.into_iter().map(Client::from).collect())
}

impl From<Row> for Client {
    /// Converts a row that [`create`] wrote. Malformed values, for example from manual edits, become the values that
    /// permit least.
    fn from(row: Row) -> Self {
        Self {
            kind: ClientType::named(&row.r#type).unwrap_or(ClientType::Service),
            redirect_uris: serde_json::from_str(&row.redirect_uris).unwrap_or_default(),
            post_logout_redirect_uris: serde_json::from_str(&row.post_logout_redirect_uris)
                .unwrap_or_default(),
            backchannel_logout_uri: row.backchannel_logout_uri,
            scope: row.scope.parse().unwrap_or_default(),
            default_scope: row.default_scope.parse().unwrap_or_default(),
            id: row.id,
            name: row.name,
            secrets: row.secrets.into(),
            jwks: row.jwks.and_then(|jwks| serde_json::from_str(&jwks).ok()),
            jwks_uri: row.jwks_uri,
            first_party: row.first_party,
            refresh_cookie: row.refresh_cookie,
            refresh_retry_window: Duration::from_secs(row.refresh_retry_window.try_into().unwrap_or(0)),
            epoch: row.epoch,
            created_at: row.created_at,
            disabled_at: row.disabled_at,
        }
    }
}
