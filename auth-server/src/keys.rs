//! Signing keys: made, sealed, published, and held parsed in memory to sign with.

mod signing;

pub(crate) use signing::SigningKey;

use serde::Serialize;
use shared::clock::Timestamp;
use shared::db::{self, Db};
use shared::events::{Context, Event, Name};
use shared::seal::{DoesNotOpen, SealingKey};
use shared::{execute, fetch_all, sql};
use std::sync::Arc;

sql! {
    // The unique indexes on (state) leave one active and one staged key, whoever else starts now.
    INSERT = "INSERT INTO signing_keys (kid, state, public_jwk, sealed_private_key, created_at, activated_at)
              VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    LIST = "SELECT kid, state, public_jwk, sealed_private_key, created_at, activated_at FROM signing_keys
            ORDER BY created_at, kid";
}

/// Where a key stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Published, not signing yet.
    Staged,
    /// The one that signs.
    Active,
    /// Published still, signing no more.
    Retired,
}

impl State {
    /// As stored.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Active => "active",
            Self::Retired => "retired",
        }
    }
}

/// A key as `keys list` shows it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Key {
    /// The key's id in the JWKS and in token headers.
    pub(crate) kid: String,
    /// Where it stands in its life.
    pub(crate) state: State,
    /// When it was made and published.
    pub(crate) created_at: Timestamp,
    /// When it began to sign.
    pub(crate) activated_at: Option<Timestamp>,
}

/// Why there is no key to sign with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The master key is not the one that the keys were sealed under.
    #[error(
        "the signing keys in this database do not open: MASTER_KEY (or DATA_DIR/master.key) is not the key they \
         were sealed under"
    )]
    Sealed(#[from] DoesNotOpen),
    /// Key generation or parsing failed.
    #[error("RSA: {0}")]
    Rsa(String),
    /// No active key, though one was just made: the table was altered by hand.
    #[error("the database has no active signing key")]
    NoneActive,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The keys of a running issuer. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Keyring(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    active: SigningKey,
    jwks: String,
    etag: String,
}

#[derive(sqlx::FromRow)]
struct Row {
    kid: String,
    state: String,
    public_jwk: String,
    sealed_private_key: Vec<u8>,
    created_at: Timestamp,
    activated_at: Option<Timestamp>,
}

impl Keyring {
    /// Reads the keys; makes the first one and a staged one behind it where they are missing.
    pub(crate) async fn open(
        db: &Db,
        master_key: &SealingKey,
        bits: u32,
        context: &Context,
    ) -> Result<Self, Error> {
        let mut rows = fetch_all!(db.reader(), Row, LIST)?;
        let has = |rows: &[Row], state: State| rows.iter().any(|row| row.state() == state);
        for state in [State::Active, State::Staged] {
            if !has(&rows, state) {
                create(db, master_key, state, bits, context).await?;
                rows = fetch_all!(db.reader(), Row, LIST)?;
            }
        }
        let active = rows
            .iter()
            .find(|row| row.state() == State::Active)
            .ok_or(Error::NoneActive)?;
        let private = master_key.open(&active.kid, &active.sealed_private_key)?;
        let published: Vec<&str> = rows.iter().map(|row| row.public_jwk.as_str()).collect();
        let jwks = format!(r#"{{"keys":[{}]}}"#, published.join(","));
        let digest = shared::secret::encode(&shared::secret::hash(&jwks));
        Ok(Self(Arc::new(Inner {
            active: SigningKey::parse(&active.kid, &private)?,
            etag: format!("\"{digest}\""),
            jwks,
        })))
    }

    /// The key that signs.
    pub(crate) fn active(&self) -> &SigningKey {
        &self.0.active
    }

    /// The JWK set (RFC 7517 §5) as JSON.
    pub(crate) fn jwks(&self) -> &str {
        &self.0.jwks
    }

    /// The set's entity tag.
    pub(crate) fn etag(&self) -> &str {
        &self.0.etag
    }
}

/// Every key, oldest first.
pub(crate) async fn list(db: &Db) -> Result<Vec<Key>, db::Error> {
    let rows = fetch_all!(db.reader(), Row, LIST)?;
    Ok(rows
        .into_iter()
        .map(|row| Key {
            state: row.state(),
            kid: row.kid,
            created_at: row.created_at,
            activated_at: row.activated_at,
        })
        .collect())
}

/// Makes a key in this state, unless another process just did.
async fn create(
    db: &Db,
    master_key: &SealingKey,
    state: State,
    bits: u32,
    context: &Context,
) -> Result<(), Error> {
    let generated = tokio::task::spawn_blocking(move || signing::generate(bits))
        .await
        .map_err(|panicked| Error::Rsa(panicked.to_string()))??;
    let kid = generated.kid.as_str();
    let (name, activated_at) = match state {
        State::Active => (Name::KeyActivated, Some(context.now)),
        State::Staged | State::Retired => (Name::KeyStaged, None),
    };
    let mut tx = db.begin().await?;
    let made = execute!(
        tx.on(),
        INSERT,
        kid,
        state.as_str(),
        generated.public_jwk.as_str(),
        master_key.seal(kid, &generated.private),
        context.now,
        activated_at,
    )?;
    if made == 1 {
        Event::success(name)
            .detail(format!("kid {kid}"))
            .record(&mut tx, context)
            .await?;
    }
    tx.commit().await?;
    Ok(())
}

impl Row {
    fn state(&self) -> State {
        let known = [State::Staged, State::Active]
            .into_iter()
            .find(|state| state.as_str() == self.state);
        known.unwrap_or(State::Retired)
    }
}
