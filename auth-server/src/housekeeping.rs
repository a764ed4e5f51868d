//! The periodic deletion of expired rows, and the replacement of deleted accounts in many events.

use access_tokens::verifiers;
use audit::{alerts, events, figures};
use foundation::clock::{Timestamp, now};
use identity::clients::unused;
use identity::{mailed_tokens, refresh_families, sessions};
use issuer::clients::{assertions, documents};
use issuer::registrations::initial_tokens;
use issuer::{codes, device_requests, flows, long_requests, pushed_requests};
use std::time::Duration;
use storage::clock_check::ClockCheck;
use storage::db::{Db, Error};

const INTERVAL: Duration = Duration::from_secs(60);

/// Deletes expired rows at each interval, unless the clock differs from that of the database. Never returns.
pub(crate) async fn run(db: Db, clock: ClockCheck, event_retention: Duration) {
    loop {
        if clock.measure().await.is_ok() {
            let deletion = delete_expired(&db, event_retention, now());
            traces::step("housekeeping of the issuer", deletion).await;
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Deletes what has expired. A deletion that fails keeps none of the others from their turn.
async fn delete_expired(db: &Db, event_retention: Duration, now: Timestamp) {
    attempt("authorization codes", codes::prune(db, now)).await;
    attempt("flows", flows::prune(db, now)).await;
    attempt("client assertions", assertions::prune(db, now)).await;
    attempt("long requests", long_requests::prune(db, now)).await;
    attempt("pushed requests", pushed_requests::prune(db, now)).await;
    attempt("mailed tokens", mailed_tokens::prune(db, now)).await;
    attempt("sessions", sessions::prune(db, now)).await;
    attempt("reasons of ended sessions", sessions::prune_ended(db, now)).await;
    attempt("refresh token families", refresh_families::prune(db, now)).await;
    attempt("revocations", revocation::prune(db, now)).await;
    let names = events::pseudonyms::replace_remaining(db);
    attempt("names of deleted accounts in events", names).await;
    attempt("security events", events::prune(db, event_retention, now)).await;
    attempt("figures", figures::prune(db, now)).await;
    attempt("numbers of tokens", figures::live_tokens::prune(db, now)).await;
    attempt("alerts", alerts::prune(db, event_retention, now)).await;
    attempt("device requests", device_requests::prune(db, now)).await;
    attempt("unused registrations", unused::prune(db, now)).await;
    attempt("initial access tokens", initial_tokens::prune(db, now)).await;
    attempt("client documents", documents::prune(db, now)).await;
    attempt("verifiers", verifiers::prune(db, now)).await;
}

/// Logs the error of a deletion.
async fn attempt<T>(what: &str, deletion: impl Future<Output = Result<T, Error>>) {
    if let Err(error) = deletion.await {
        tracing::warn!(%error, "cannot delete expired {what}");
    }
}
