//! The origins of registered single-page apps, held in memory: a browser asks before almost every call.

use crate::grants::clients;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::db::{Db, Error};
use tokio::sync::Mutex;
use url::{Origin, Url};

/// What was read is good for so long, and nothing is read more often.
const FRESH: Duration = Duration::from_secs(1);
/// A read that takes longer has failed.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// Whose an origin is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// A first-party client's.
    First,
    /// Somebody else's.
    Third,
}

/// Cheap to clone; the clones share what was read.
#[derive(Clone, Debug)]
pub struct Origins(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    read_at: Option<Instant>,
    parties: HashMap<String, Party>,
}

impl Origins {
    /// The origins in this database, not read yet.
    pub fn new(db: Db) -> Self {
        Self(Arc::new(Inner {
            db,
            known: Mutex::default(),
        }))
    }

    /// Whose origin it is, as the `Origin` header writes it; `None` if no app is registered there. What
    /// cannot be read stays as it was.
    pub async fn party(&self, origin: &str) -> Option<Party> {
        let mut known = self.0.known.lock().await;
        if known.read_at.is_none_or(|at| at.elapsed() >= FRESH) {
            match tokio::time::timeout(READ_TIMEOUT, read(&self.0.db)).await {
                Ok(Ok(parties)) => known.parties = parties,
                Ok(Err(error)) => tracing::warn!(%error, "cannot read the origins of clients"),
                Err(_) => tracing::warn!("reading the origins of clients took too long"),
            }
            known.read_at = Some(Instant::now());
        }
        known.parties.get(origin).copied()
    }
}

async fn read(db: &Db) -> Result<HashMap<String, Party>, Error> {
    let mut parties = HashMap::new();
    for app in clients::single_page_apps(db).await? {
        let urls = app.redirect_uris.iter().filter_map(|uri| Url::parse(uri).ok());
        // An app's own scheme has none: it is written `null`, as every sandboxed page's is.
        for origin in urls.map(|url| url.origin()).filter(Origin::is_tuple) {
            let origin = origin.ascii_serialization();
            let party = parties.entry(origin).or_insert(Party::Third);
            if app.first_party {
                *party = Party::First;
            }
        }
    }
    Ok(parties)
}
