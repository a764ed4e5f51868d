//! The programs that verify the issuer's tokens, as far as it knows them: the replicas of the API, which
//! report the keys that they have, and the other clients that fetched the key set. A rotation of the keys
//! asks whether they have the next key.

use crate::Jwks;
use foundation::clock::{Timestamp, now};
use foundation::{names, network};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;
use storage::db::{Db, Error};
use storage::{delete_expired, execute, fetch_all, fetch_optional, sql};
use utoipa::ToSchema;

sql! {
    RECORD = "INSERT INTO verifiers (kind, name, user_agent, kids, dropped, revalidates, seen_at, network)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
              ON CONFLICT (kind, name, user_agent) DO UPDATE
              SET kids = excluded.kids, dropped = excluded.dropped, revalidates = excluded.revalidates,
                  seen_at = excluded.seen_at, network = excluded.network
              WHERE verifiers.seen_at <= excluded.seen_at";
    REMOVE = "DELETE FROM verifiers WHERE kind = $1 AND name = $2";
    LIST = "SELECT kind, name, user_agent, kids, dropped, revalidates, seen_at
            FROM (SELECT verifiers.*, ROW_NUMBER() OVER (PARTITION BY kind, COALESCE(network, name) ORDER BY seen_at DESC) AS place
                  FROM verifiers WHERE seen_at > $1) AS placed
            WHERE place <= $2 ORDER BY kind, seen_at DESC LIMIT $3";
    FIND_SURPLUS = "SELECT seen_at
                    FROM (SELECT seen_at, ROW_NUMBER() OVER (PARTITION BY COALESCE(network, name) ORDER BY seen_at DESC) AS place
                          FROM verifiers WHERE kind = 'client') AS placed
                    WHERE place <= $1 ORDER BY seen_at DESC LIMIT 1 OFFSET $2";
    PRUNE = delete_expired!("verifiers", "seen_at");
    PRUNE_NETWORK_SURPLUS = "DELETE FROM verifiers WHERE kind = 'client' AND (name, user_agent) IN (
                          SELECT name, user_agent
                          FROM (SELECT name, user_agent,
                                       ROW_NUMBER() OVER (PARTITION BY COALESCE(network, name) ORDER BY seen_at DESC) AS place
                                FROM verifiers WHERE kind = 'client') AS placed
                          WHERE place > $1 LIMIT $2)";
    PRUNE_CLIENTS = "DELETE FROM verifiers WHERE kind = 'client' AND seen_at <= COALESCE((SELECT seen_at FROM verifiers
                     WHERE kind = 'client' AND seen_at <= $1 ORDER BY seen_at LIMIT 1 OFFSET $2 - 1), $1)";
}

/// The beginning of the `User-Agent` of the API, which the issuer knows by its reports.
pub const USER_AGENT_OF_API: &str = "latchkey-api/";

/// The time after which a verifier is forgotten.
const RETENTION: Duration = Duration::from_secs(24 * 3600);
/// The largest number of clients that are known, and of verifiers in a list. Of more clients, those are
/// forgotten that fetched the key set least recently.
const CAPACITY: i64 = 1_000;
/// The same for the clients of one network, so that it cannot fill the list.
const CAPACITY_PER_NETWORK: i64 = 50;
/// The interval between two reports of a replica of the API.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);
/// The time after its last report from which a replica of the API counts as silent.
const SILENT_AFTER: Duration = Duration::from_secs(60);
/// The largest number of dropped keys in the report of a replica of the API.
const DROPPED: usize = 8;

/// The kind of a verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = VerifierKind)]
pub enum Kind {
    /// A replica of the API.
    Api,
    /// Another client that fetched the key set.
    Client,
}

/// A program that verifies tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Verifier)]
pub struct KnownVerifier {
    /// Whether it is a replica of the API.
    pub kind: Kind,
    /// The host and the port of a replica of the API, or the address of another client.
    pub name: String,
    /// The `User-Agent` of another client; empty if it sends none.
    pub user_agent: String,
    /// The `kid` of each key that it has. Those of another client are the keys that it fetched last.
    pub kids: Vec<String>,
    /// The last eight keys that a replica of the API has dropped since it started, the latest last. It has
    /// refused their tokens since then at the latest.
    pub dropped: Vec<DroppedKey>,
    /// Whether the last fetch had an `If-None-Match`, as a cache sends.
    pub revalidates: bool,
    /// The time of its last fetch, or of its last report.
    pub seen_at: Timestamp,
    /// Whether it is a replica of the API that has not reported for a minute and was not stopped. It may still
    /// verify tokens with the keys that it had.
    pub silent: bool,
}

/// A key that a replica of the API no longer has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DroppedKey {
    /// The `kid` of the key.
    pub kid: String,
    /// The time at which the replica dropped it.
    pub at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct Row {
    kind: String,
    name: String,
    user_agent: String,
    kids: String,
    dropped: String,
    revalidates: bool,
    seen_at: Timestamp,
}

names!(Kind: Api = "api", Client = "client");

impl KnownVerifier {
    fn of(row: Row, now: Timestamp) -> Self {
        let kind = Kind::named(&row.kind).unwrap_or(Kind::Client);
        Self {
            kind,
            name: row.name,
            user_agent: row.user_agent,
            kids: row.kids.split_whitespace().map(str::to_owned).collect(),
            dropped: serde_json::from_str(&row.dropped).unwrap_or_default(),
            revalidates: row.revalidates,
            seen_at: row.seen_at,
            silent: kind == Kind::Api && now.since(row.seen_at) > SILENT_AFTER,
        }
    }

    /// Returns whether it has the key with this `kid`.
    pub fn has(&self, kid: &str) -> bool {
        self.kids.iter().any(|held| held == kid)
    }

    /// Stores what is known of the verifier, in place of what was known before. Of several issuers, one may
    /// store an older fetch later: it has no effect.
    pub async fn record(&self, db: &Db) -> Result<(), Error> {
        let recorded = execute!(
            db.writer(),
            RECORD,
            self.kind.as_str(),
            self.name.as_str(),
            self.user_agent.as_str(),
            self.kids.join(" "),
            serde_json::to_string(&self.dropped).unwrap_or_default(),
            self.revalidates,
            self.seen_at,
            network_of(&self.name)
        );
        recorded.map(|_| ())
    }
}

/// Returns the verifiers that may verify tokens at present, 1,000 at most: first the replicas of the API that
/// reported within the last day and were not stopped since, then the other clients that fetched the key set
/// within the last day, 50 of a network at most. Of each kind, the one that was seen last is first.
pub async fn list(db: &Db, now: Timestamp) -> Result<Vec<KnownVerifier>, Error> {
    let since = now.before(RETENTION);
    let rows = fetch_all!(db.reader(), Row, LIST, since, CAPACITY_PER_NETWORK, CAPACITY)?;
    let verifiers = rows.into_iter().map(|row| KnownVerifier::of(row, now));
    Ok(verifiers.collect())
}

/// Returns whether [`list`] may have left out verifiers: it returned 1,000, or 50 clients of one network.
pub fn is_truncated(listed: &[KnownVerifier]) -> bool {
    let mut of_networks: HashMap<String, i64> = HashMap::new();
    for verifier in listed {
        *of_networks.entry(network_of(&verifier.name)).or_default() += 1;
    }
    let is_full = of_networks.values().any(|&number| number >= CAPACITY_PER_NETWORK);
    is_full || of_networks.values().sum::<i64>() >= CAPACITY
}

/// Returns the network of the address that is the name of a client; the name itself for a replica of the API.
fn network_of(name: &str) -> String {
    name.parse::<IpAddr>()
        .map_or_else(|_| name.to_owned(), network::of_address)
}

/// Forgets the verifiers that were not seen within the last day, and the clients over the limits of 50 for a
/// network and 1,000 for all. So no number of clients hides a silent replica of the API.
pub async fn prune(db: &Db, now: Timestamp) -> Result<(), Error> {
    db.prune(PRUNE, now.before(RETENTION)).await?;
    db.change_under_lease("verifiers of networks", |limit| async move {
        execute!(db.writer(), PRUNE_NETWORK_SURPLUS, CAPACITY_PER_NETWORK, limit)
    })
    .await?;
    // Does not count the surplus of networks, which another process may still be deleting.
    let surplus = fetch_optional!(
        db.reader(),
        (Timestamp,),
        FIND_SURPLUS,
        CAPACITY_PER_NETWORK,
        CAPACITY
    )?;
    if let Some((seen_at,)) = surplus {
        db.prune(PRUNE_CLIENTS, seen_at).await?;
    }
    Ok(())
}

/// Reports the keys in `jwks`, and those that are no longer in it, as those of the replica of the API with
/// this name: whenever they change, and every ten seconds, until `stop` resolves. Then removes the replica,
/// which verifies no tokens any more.
pub async fn report(db: Db, name: String, jwks: Jwks, stop: impl Future) {
    let mut stop = std::pin::pin!(stop);
    let mut held = jwks.kids();
    let (mut kids, mut dropped) = (Vec::new(), Vec::new());
    loop {
        let before = std::mem::replace(&mut kids, held.borrow_and_update().clone());
        let at = now();
        let gone = before.into_iter().filter(|kid| !kids.contains(kid));
        dropped.extend(gone.map(|kid| DroppedKey { kid, at }));
        dropped.drain(..dropped.len().saturating_sub(DROPPED));
        if !kids.is_empty() {
            let replica = KnownVerifier {
                kind: Kind::Api,
                name: name.clone(),
                user_agent: String::new(),
                kids: kids.clone(),
                dropped: dropped.clone(),
                revalidates: true,
                seen_at: at,
                silent: false,
            };
            if let Err(error) = replica.record(&db).await {
                tracing::warn!(%error, "cannot report the keys of this replica");
            }
        }
        tokio::select! {
            _ = &mut stop => break,
            // The sender lives as long as `jwks`.
            _ = tokio::time::timeout(REPORT_INTERVAL, held.changed()) => {}
        }
    }
    if let Err(error) = execute!(db.writer(), REMOVE, Kind::Api.as_str(), name) {
        tracing::warn!(%error, "cannot remove this replica from the verifiers");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_of_an_ipv6_64_count_together() {
        assert_eq!(network_of("2001:db8::1"), network_of("2001:db8::2"));
        for name in ["192.0.2.1", "api-1:8080", "[2001:db8::1]:8080"] {
            assert_eq!(network_of(name), name);
        }
    }
}
