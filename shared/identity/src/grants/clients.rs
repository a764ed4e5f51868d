//! Registered clients (RFC 6749 §2).

use foundation::clock::Timestamp;
use foundation::scope::Scope;
use serde::Serialize;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_all, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO clients
              (id, name, type, secret_hash, redirect_uris, scope, default_scope, first_party, created_at)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    FIND = "SELECT id, name, type, secret_hash, redirect_uris, scope, default_scope, first_party, created_at
            FROM clients WHERE id = $1";
    LIST = "SELECT id, name, type, secret_hash, redirect_uris, scope, default_scope, first_party, created_at
            FROM clients ORDER BY id";
    SINGLE_PAGE_APPS = "SELECT id, name, type, secret_hash, redirect_uris, scope, default_scope, first_party,
                               created_at
                        FROM clients WHERE type = 'spa' ORDER BY id LIMIT 10000";
}

/// What kind of program a client is (RFC 6749 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ClientType {
    /// A single-page application: public.
    Spa,
    /// An installed application: public, and may listen on any loopback port (RFC 8252 §7.3).
    Native,
    /// A server with a secret.
    Web,
    /// A server that acts for itself, with a secret.
    Service,
}

impl ClientType {
    const ALL: [Self; 4] = [Self::Spa, Self::Native, Self::Web, Self::Service];

    /// Whether it has a secret to authenticate with.
    pub const fn is_confidential(self) -> bool {
        matches!(self, Self::Web | Self::Service)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Spa => "spa",
            Self::Native => "native",
            Self::Web => "web",
            Self::Service => "service",
        }
    }
}

/// A registered client. Serialized without what belongs to its secret.
#[derive(Clone, Debug, Serialize)]
pub struct Client {
    /// `client_id`.
    pub id: String,
    /// The name shown at consent.
    pub name: String,
    /// What kind of program it is.
    #[serde(rename = "type")]
    pub kind: ClientType,
    /// SHA-256 of the secret of a confidential client.
    #[serde(skip)]
    pub secret_hash: Option<Vec<u8>>,
    /// The registered redirect URIs.
    pub redirect_uris: Vec<String>,
    /// What it may ask for.
    pub scope: Scope,
    /// What it gets when it asks for nothing.
    pub default_scope: Scope,
    /// Ours, rather than a third party's.
    pub first_party: bool,
    /// When it was registered.
    pub created_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: String,
    name: String,
    r#type: String,
    secret_hash: Option<Vec<u8>>,
    redirect_uris: String,
    scope: String,
    default_scope: String,
    first_party: bool,
    created_at: Timestamp,
}

/// Registers a client; [`Error::Conflict`] if the id is taken.
pub async fn create(tx: &mut Tx, client: &Client) -> Result<(), Error> {
    execute!(
        tx.on(),
        INSERT,
        client.id.as_str(),
        client.name.as_str(),
        client.kind.as_str(),
        client.secret_hash.as_deref(),
        serde_json::json!(client.redirect_uris).to_string(),
        client.scope.to_string(),
        client.default_scope.to_string(),
        client.first_party,
        client.created_at,
    )
    .map(|_| ())
}

/// The client of this id.
pub async fn find(db: &Db, id: &str) -> Result<Option<Client>, Error> {
    Ok(fetch_optional!(db.reader(), Row, FIND, id)?.map(Client::from))
}

/// Every client, by id.
pub async fn list(db: &Db) -> Result<Vec<Client>, Error> {
    Ok(fetch_all!(db.reader(), Row, LIST)?
        .into_iter()
        .map(Client::from)
        .collect())
}

/// The clients that run in a browser's page, by id; ten thousand at most.
pub async fn single_page_apps(db: &Db) -> Result<Vec<Client>, Error> {
    let rows = fetch_all!(db.reader(), Row, SINGLE_PAGE_APPS)?;
    Ok(rows.into_iter().map(Client::from).collect())
}

impl From<Row> for Client {
    /// Reads what [`create`] wrote. What was altered by hand into nonsense permits nothing.
    fn from(row: Row) -> Self {
        Self {
            kind: ClientType::ALL
                .into_iter()
                .find(|kind| kind.as_str() == row.r#type)
                .unwrap_or(ClientType::Service),
            redirect_uris: serde_json::from_str(&row.redirect_uris).unwrap_or_default(),
            scope: row.scope.parse().unwrap_or_default(),
            default_scope: row.default_scope.parse().unwrap_or_default(),
            id: row.id,
            name: row.name,
            secret_hash: row.secret_hash,
            first_party: row.first_party,
            created_at: row.created_at,
        }
    }
}
