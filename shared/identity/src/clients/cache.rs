//! The clients in use, in memory, because every token request needs its client.

use super::{Client, ClientSecret, find, secret_rotation};
use foundation::clock::Timestamp;
use foundation::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use storage::db::{Db, Error};

/// The age at which a client is read again. A change of a client takes effect within this time.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The number of clients at which those that are too old are removed.
const MAX_CLIENTS: usize = 10_000;

/// The clients in use. Cheap to clone; clones share the memory.
#[derive(Clone, Debug)]
pub struct Clients(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    clients: Mutex<HashMap<String, CachedClient>>,
}

#[derive(Debug)]
struct CachedClient {
    client: Arc<Client>,
    read_at: Instant,
}

impl Clients {
    /// Returns the clients of this database.
    pub fn new(db: Db) -> Self {
        Self(Arc::new(Inner {
            db,
            clients: Mutex::default(),
        }))
    }

    /// Returns the client with this id, as it was at most one second ago. A client that was not used in time
    /// is unknown.
    pub async fn find(&self, id: &str, now: Timestamp) -> Result<Option<Arc<Client>>, Error> {
        if let Some(client) = self.find_cached(id, now) {
            return Ok(Some(client));
        }
        let read_at = Instant::now();
        let client = find(&self.0.db, id).await?;
        let client = client.filter(|client| !client.has_expired(now)).map(Arc::new);
        let mut clients = lock(&self.0.clients);
        let Some(client) = client else {
            // Unknown ids are not kept, because anybody can make up any number of them.
            clients.remove(id);
            return Ok(None);
        };
        if let Some(cached) = clients.get(id).filter(|cached| cached.is_current(now)) {
            // Another request has read the client meanwhile. Its copy may know of a use of a secret that is
            // not stored yet.
            return Ok(Some(Arc::clone(&cached.client)));
        }
        if clients.len() >= MAX_CLIENTS {
            clients.retain(|_, cached| cached.is_fresh());
        }
        if clients.len() < MAX_CLIENTS {
            let client = Arc::clone(&client);
            clients.insert(id.to_owned(), CachedClient { client, read_at });
        }
        Ok(Some(client))
    }

    /// Makes the next [`find`](Self::find) of this process read the client from the database.
    pub fn forget(&self, id: &str) {
        lock(&self.0.clients).remove(id);
    }

    /// Records, about once a minute and without making the caller wait, that a client used one of its
    /// secrets.
    pub fn record_use(&self, client: &Client, secret: &ClientSecret, now: Timestamp) {
        if !secret.is_record_due(now) || !self.claim_record(&client.id, &secret.hash, now) {
            return;
        }
        let (db, id, hash) = (self.0.db.clone(), client.id.clone(), secret.hash.clone());
        tokio::spawn(async move {
            if let Err(error) = secret_rotation::record_use(&db, &id, &hash, now).await {
                tracing::warn!(%error, "the time of the last use of a client's secret was not updated");
            }
        });
    }

    /// Sets the time of the last use in memory. Returns true to one caller, even if several requests use the
    /// secret at once.
    fn claim_record(&self, id: &str, hash: &[u8], now: Timestamp) -> bool {
        let mut clients = lock(&self.0.clients);
        let cached = clients.get_mut(id);
        cached.is_some_and(|cached| {
            let client = Arc::make_mut(&mut cached.client);
            client.secrets.set_last_used(hash, now)
        })
    }

    fn find_cached(&self, id: &str, now: Timestamp) -> Option<Arc<Client>> {
        let clients = lock(&self.0.clients);
        let cached = clients.get(id).filter(|cached| cached.is_current(now));
        cached.map(|cached| Arc::clone(&cached.client))
    }
}

impl CachedClient {
    fn is_fresh(&self) -> bool {
        self.read_at.elapsed() < MAX_AGE
    }

    /// Returns whether the client need not be read again. One that has expired may have been used since it
    /// was read.
    fn is_current(&self, now: Timestamp) -> bool {
        self.is_fresh() && !self.client.has_expired(now)
    }
}
