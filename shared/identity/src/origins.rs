//! The web origins of registered apps that run in browsers, cached in memory because almost every
//! cross-origin request needs them.

use crate::clients::{self, Client, unused};
use foundation::sync::lock;
use foundation::time_limits;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::db::{Db, Error};
use tokio::sync::Mutex;
use url::{Origin, Url};

/// The age at which the cache is refreshed from the database.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The time limit for reading the origins from the database, which the factor of [`time_limits`] multiplies.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// The most trusted client of an origin, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// A third-party client.
    Third,
    /// A third-party client with its refresh token in a cookie.
    ThirdWithCookie,
    /// A first-party client.
    First,
}

/// The cached origins. Cheap to clone; clones share the cache.
#[derive(Clone, Debug)]
pub struct Origins(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    cache: std::sync::Mutex<Cache>,
    /// Held by the one caller that reads the origins.
    reading: Mutex<()>,
}

#[derive(Debug, Default)]
struct Cache {
    read_at: Option<Instant>,
    parties: HashMap<String, Party>,
}

impl Origins {
    /// Returns an empty cache of the origins in this database.
    pub fn new(db: Db) -> Self {
        Self(Arc::new(Inner {
            db,
            cache: std::sync::Mutex::default(),
            reading: Mutex::default(),
        }))
    }

    /// Returns the party of `origin`, which has the form of an `Origin` header, or `None` if no app that runs
    /// in browsers has a redirect URI with this origin. While another caller reads the origins, and if the
    /// database cannot be read, those of the previous read apply.
    pub async fn party(&self, origin: &str) -> Option<Party> {
        if !self.is_fresh() {
            self.refresh().await;
        }
        lock(&self.0.cache).parties.get(origin).copied()
    }

    /// Reads the origins, unless another caller does. The first read has no previous one, so that all callers
    /// wait for it.
    async fn refresh(&self) {
        let is_first = lock(&self.0.cache).read_at.is_none();
        let reading = match is_first {
            true => Some(self.0.reading.lock().await),
            false => self.0.reading.try_lock().ok(),
        };
        // Another caller may have read them meanwhile.
        if reading.is_none() || self.is_fresh() {
            return;
        }
        let limit = time_limits::multiplied(READ_TIMEOUT);
        let read = tokio::time::timeout(limit, read(&self.0.db)).await;
        // Before the lock, for which every request with an origin waits.
        match &read {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "client origins could not be read"),
            Err(_) => tracing::warn!("reading the client origins timed out"),
        }
        let mut cache = lock(&self.0.cache);
        if let Ok(Ok(parties)) = read {
            cache.parties = parties;
        }
        cache.read_at = Some(Instant::now());
    }

    fn is_fresh(&self) -> bool {
        let read_at = lock(&self.0.cache).read_at;
        read_at.is_some_and(|at| at.elapsed() < MAX_AGE)
    }
}

/// Reads the origins of the apps' redirect URIs.
async fn read(db: &Db) -> Result<HashMap<String, Party>, Error> {
    let mut parties = HashMap::new();
    let mut apps = clients::browser_apps(db).await?;
    apps.extend(unused::newest_apps(db).await?);
    for app in apps {
        let party = match (app.first_party, app.refresh_cookie) {
            (true, _) => Party::First,
            (false, true) => Party::ThirdWithCookie,
            (false, false) => Party::Third,
        };
        for origin in of_client(&app) {
            let most_trusted = parties.entry(origin).or_insert(party);
            *most_trusted = party.max(*most_trusted);
        }
    }
    Ok(parties)
}

/// Returns the origins of a client's redirect URIs, in the form of an `Origin` header.
pub fn of_client(client: &Client) -> impl Iterator<Item = String> {
    let urls = client.redirect_uris.iter().filter_map(|uri| Url::parse(uri).ok());
    // A URL with a custom scheme has an opaque origin, which serializes as `null`. Every sandboxed page sends
    // `null` as its `Origin`, so an opaque origin must not be registered.
    let origins = urls.map(|url| url.origin()).filter(Origin::is_tuple);
    origins.map(|origin| origin.ascii_serialization())
}
