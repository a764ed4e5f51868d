//! The clients in use, in memory, because every token request needs its client.

use super::{Client, find};
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

    /// Returns the client with this id, as it was at most one second ago.
    pub async fn find(&self, id: &str) -> Result<Option<Arc<Client>>, Error> {
        if let Some(client) = self.find_cached(id) {
            return Ok(Some(client));
        }
        let read_at = Instant::now();
        let client = find(&self.0.db, id).await?.map(Arc::new);
        let mut clients = lock(&self.0.clients);
        let Some(client) = client else {
            // Unknown ids are not kept, because anybody can make up any number of them.
            clients.remove(id);
            return Ok(None);
        };
        if clients.len() >= MAX_CLIENTS {
            clients.retain(|_, cached| cached.is_fresh());
        }
        if clients.len() < MAX_CLIENTS {
            let client = Arc::clone(&client);
            clients.insert(id.to_owned(), CachedClient { client, read_at });
        }
        Ok(Some(client))
    }

    fn find_cached(&self, id: &str) -> Option<Arc<Client>> {
        let clients = lock(&self.0.clients);
        let cached = clients.get(id).filter(|cached| cached.is_fresh());
        cached.map(|cached| Arc::clone(&cached.client))
    }
}

impl CachedClient {
    fn is_fresh(&self) -> bool {
        self.read_at.elapsed() < MAX_AGE
    }
}
