//! Whether the replicas of the API refuse the tokens of a key that was retired as compromised.

use super::readiness::Readiness;
use super::table::Key;
use access_tokens::verifiers::{self, Kind, KnownVerifier};
use foundation::clock::{self, Timestamp};
use std::time::{Duration, Instant};
use storage::db::Db;

/// The longest wait until the replicas of the API report that they dropped a key.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// The pause between two looks at what they reported.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether a replica of the API refuses the tokens of a key that was retired as compromised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The replica may still have the key.
    Unconfirmed,
    /// The time from the retirement to the moment at which the replica dropped the key. It refuses the tokens
    /// since then at the latest.
    Within(Duration),
    /// The replica never had the key, or it started after the retirement.
    WithoutKey,
}

impl Readiness {
    /// Returns the replicas of the API by name, and whether they refuse the tokens of a compromised key:
    /// those that have not confirmed it first. There are none if the key is not compromised.
    pub fn refusals(&self, key: &Key) -> Vec<(Refusal, &str)> {
        let Some(retired_at) = key.deleted_at.filter(|_| key.compromised) else {
            return Vec::new();
        };
        let verifiers = self.verifiers.iter();
        let replicas = verifiers.filter(|verifier| verifier.kind == Kind::Api);
        let mut refusals: Vec<_> = replicas
            .map(|replica| (refusal(replica, &key.kid, retired_at), replica.name.as_str()))
            .collect();
        refusals.sort_unstable();
        refusals
    }
}

fn refusal(replica: &KnownVerifier, kid: &str, retired_at: Timestamp) -> Refusal {
    match replica.dropped.iter().rfind(|dropped| dropped.kid == kid) {
        _ if replica.has(kid) => Refusal::Unconfirmed,
        Some(dropped) => Refusal::Within(dropped.at.since(retired_at)),
        None if replica.seen_at <= retired_at => Refusal::Unconfirmed,
        None => Refusal::WithoutKey,
    }
}

/// Waits until every replica of the API that is not silent has reported that it dropped the key, for two
/// seconds at most. Replicas drop a compromised key within a second.
pub async fn wait_until_dropped(db: &Db, kid: &str) {
    let until = Instant::now() + MAX_WAIT;
    let holds_it =
        |verifier: &KnownVerifier| verifier.kind == Kind::Api && !verifier.silent && verifier.has(kid);
    while Instant::now() < until
        && let Ok(verifiers) = verifiers::list(db, clock::now()).await
        && verifiers.iter().any(holds_it)
    {
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::State;
    use super::*;
    use access_tokens::verifiers::DroppedKey;

    #[test]
    fn a_replica_that_may_have_a_compromised_key_has_not_confirmed() {
        let at = Timestamp::from_micros;
        let replica = |name: &str, kids: &[&str], dropped_at: Option<i64>, seen_at: i64| KnownVerifier {
            kind: Kind::Api,
            name: name.to_owned(),
            user_agent: String::new(),
            kids: kids.iter().map(|&kid| kid.to_owned()).collect(),
            dropped: dropped_at
                .map(|dropped_at| DroppedKey {
                    kid: "bad".to_owned(),
                    at: at(dropped_at),
                })
                .into_iter()
                .collect(),
            revalidates: true,
            seen_at: at(seen_at),
            silent: false,
        };
        let replicas = vec![
            replica("dropped", &["now"], Some(1_400), 2_000),
            replica("holds", &["bad"], None, 2_000),
            replica("holds-again", &["bad"], Some(1_100), 2_000),
            replica("silent", &["now"], None, 900),
            replica("started", &["now"], None, 2_000),
            KnownVerifier {
                kind: Kind::Client,
                ..replica("192.0.2.1", &["bad"], None, 2_000)
            },
        ];
        let expected = [
            (Refusal::Unconfirmed, "holds"),
            (Refusal::Unconfirmed, "holds-again"),
            (Refusal::Unconfirmed, "silent"),
            (Refusal::Within(Duration::from_micros(400)), "dropped"),
            (Refusal::WithoutKey, "started"),
        ];
        let readiness = Readiness::of(None, replicas);
        let mut key = Key {
            kid: "bad".to_owned(),
            deleted_at: Some(at(1_000)),
            compromised: true,
            ..Key::example(State::Deleted)
        };
        assert_eq!(readiness.refusals(&key), expected);
        key.compromised = false;
        assert!(readiness.refusals(&key).is_empty());
    }
}
