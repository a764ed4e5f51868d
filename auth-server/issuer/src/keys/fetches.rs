//! The fetches of the key set, collected in memory and stored every few seconds, so that a fetch costs no
//! statement.

use super::KeySet;
use access_tokens::verifiers::{Kind, KnownVerifier, USER_AGENT_OF_API};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::sync::lock;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use storage::db::Db;

/// The interval at which the fetches are stored.
const INTERVAL: Duration = Duration::from_secs(5);
/// The largest number of addresses in an interval. The fetches of further ones are not stored.
const CAPACITY: usize = 100;
/// The largest number of user agents of an address in an interval.
const USER_AGENTS: usize = 4;

/// The fetches that are not stored yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Fetches(Arc<Mutex<HashMap<IpAddr, Vec<Fetch>>>>);

/// The last fetch of a client.
#[derive(Debug)]
struct Fetch {
    user_agent: String,
    set: Arc<KeySet>,
    revalidates: bool,
    at: Timestamp,
}

impl Fetches {
    /// Adds a fetch of this set by the client of the request. `revalidates` tells whether the request had an
    /// `If-None-Match`.
    pub fn add(&self, set: &Arc<KeySet>, revalidates: bool, context: &RequestContext) {
        let user_agent = context.user_agent.as_deref().unwrap_or_default();
        let is_api = user_agent.starts_with(USER_AGENT_OF_API);
        let Some(address) = context.address.filter(|_| !is_api) else {
            return;
        };
        let mut fetches = lock(&self.0);
        if fetches.len() >= CAPACITY && !fetches.contains_key(&address) {
            return;
        }
        let of_address = fetches.entry(address).or_default();
        let position = of_address.iter().position(|fetch| fetch.user_agent == user_agent);
        if let Some(former) = position.and_then(|position| of_address.get_mut(position)) {
            former.set = Arc::clone(set);
            former.revalidates = revalidates;
            former.at = context.now;
        } else if of_address.len() < USER_AGENTS {
            of_address.push(Fetch {
                user_agent: user_agent.to_owned(),
                set: Arc::clone(set),
                revalidates,
                at: context.now,
            });
        }
    }

    /// Stores the fetches at each interval. Never returns.
    pub async fn store(self, db: Db) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let fetches = std::mem::take(&mut *lock(&self.0));
            for verifier in fetches.into_iter().flat_map(into_verifiers) {
                if let Err(error) = verifier.record(&db).await {
                    tracing::warn!(%error, "cannot store who fetched the key set");
                    break;
                }
            }
        }
    }
}

fn into_verifiers((address, fetches): (IpAddr, Vec<Fetch>)) -> impl Iterator<Item = KnownVerifier> {
    fetches.into_iter().map(move |fetch| KnownVerifier {
        kind: Kind::Client,
        name: address.to_string(),
        user_agent: fetch.user_agent,
        kids: fetch.set.keys().iter().map(|key| key.kid.clone()).collect(),
        dropped: Vec::new(),
        revalidates: fetch.revalidates,
        seen_at: fetch.at,
        silent: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(fetches: &Fetches, address: [u8; 4], user_agent: &str) {
        let context = RequestContext {
            address: Some(address.into()),
            user_agent: Some(user_agent.to_owned()),
            ..RequestContext::without_request()
        };
        fetches.add(&Arc::default(), false, &context);
    }

    fn count(fetches: &Fetches) -> usize {
        lock(&fetches.0).values().map(Vec::len).sum()
    }

    #[test]
    fn each_client_is_kept_once_and_the_api_not_at_all() {
        let fetches = Fetches::default();
        for user_agent in ["billing", "billing", "reports", "latchkey-api/0.1.0"] {
            fetch(&fetches, [192, 0, 2, 1], user_agent);
        }
        fetch(&fetches, [192, 0, 2, 2], "billing");
        assert_eq!(count(&fetches), 3);
    }

    #[test]
    fn a_flood_of_addresses_or_user_agents_is_not_kept() {
        let fetches = Fetches::default();
        for n in 0..=255 {
            fetch(&fetches, [192, 0, 2, 1], &n.to_string());
            fetch(&fetches, [192, 0, 2, n], "many");
        }
        assert!(count(&fetches) <= CAPACITY + USER_AGENTS);
    }
}
