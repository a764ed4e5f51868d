//! PostgreSQL suspended, connections terminated, cut and silent, all under load: requests fail with 503
//! within seconds, and service recovers within seconds without a restart.

mod connections;
mod load;
mod refused_statements;
mod sqlite_files;

use load::{Load, is_refusal, is_success, is_success_or_refusal};
use std::time::{Duration, Instant};
use tests::{Shape, World, on_postgresql};

/// The longest time until any response, whatever the state of PostgreSQL. It is 3 s on a machine that is not
/// busy.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

async fn start_with_own_postgres(shape: Shape) -> World {
    let setup = World::builder(shape).default_time_limits();
    setup.own_postgres().start().await
}

/// Expects that every process reports the database as missing.
async fn expect_not_ready(world: &World) {
    for api in world.at_each_api(&world.anyone()) {
        let asked = Instant::now();
        let ready = api.readiness("not ready").await.expect(503);
        assert!(
            asked.elapsed() < RESPONSE_TIMEOUT,
            "{:?}: {ready}",
            asked.elapsed()
        );
        assert_eq!(ready.json()["checks"]["database"], "unavailable", "{ready}");
        api.get("/livez").await.expect(200);
    }
}

/// Expects that every process reports the database as available.
async fn expect_ready(world: &World) {
    for api in world.at_each_api(&world.anyone()) {
        let ready = api.readiness("ready").await.expect(200).json();
        assert_eq!(ready["checks"]["database"], "ok", "{ready}");
    }
}

async fn requests_are_refused_while_postgresql_is_suspended(shape: Shape) {
    let world = start_with_own_postgres(shape).await;
    let load = Load::start(&world).await;
    load.wait_for_responses(Instant::now(), 20).await;

    let before = Instant::now();
    world.postgres().suspend();
    let suspended = Instant::now();
    expect_not_ready(&world).await;
    load.wait_for_responses(suspended, 2).await;
    expect_not_ready(&world).await;
    let resuming = Instant::now();
    world.postgres().resume();
    let recovered = load.wait_for_recovery().await;
    load.wait_for_responses(recovered, 20).await;

    let responses = load.stop().await;
    responses.expect_within(RESPONSE_TIMEOUT);
    responses.expect_between("before the suspension", None, Some(before), is_success);
    let while_suspended = |sent: Instant, received: Instant| sent > suspended && received < resuming;
    responses.expect_all("while suspended", while_suspended, is_refusal);
    responses.expect_between(
        "soon after",
        Some(resuming),
        Some(recovered),
        is_success_or_refusal,
    );
    responses.expect_between("after the recovery", Some(recovered), None, is_success);
    expect_ready(&world).await;
}

async fn sigterm_ends_the_program_while_postgresql_is_suspended(shape: Shape) {
    let mut world = start_with_own_postgres(shape).await;
    let load = Load::start(&world).await;
    load.wait_for_responses(Instant::now(), 20).await;
    world.postgres().suspend();
    expect_not_ready(&world).await;
    // Fails unless every process exits within 25 seconds with status 0.
    world.stop().await;
    load.stop().await;
    world.postgres().resume();
}

async fn terminated_connections_are_replaced(shape: Shape) {
    let world = start_with_own_postgres(shape).await;
    let load = Load::start(&world).await;
    load.wait_for_responses(Instant::now(), 20).await;
    let mut rounds = Vec::new();
    for _ in 0..5 {
        let terminating = Instant::now();
        world.postgres().terminate_connections();
        let recovered = load.wait_for_recovery().await;
        load.wait_for_responses(recovered, 20).await;
        rounds.push((terminating, recovered));
    }
    let responses = load.stop().await;
    responses.expect_within(RESPONSE_TIMEOUT);
    responses.expect_between("at any time", None, None, is_success_or_refusal);
    for (n, (_, recovered)) in rounds.iter().enumerate() {
        let next = rounds.get(n + 1).map(|(terminating, _)| *terminating);
        responses.expect_between("after the recovery", Some(*recovered), next, is_success);
    }
    expect_ready(&world).await;
}

/// Fails the test unless the log has a line about the loss of an event of each of these names.
fn assert_lost(world: &World, events: &[&str]) {
    let log = world.log();
    for event in events {
        let is_about = |line: &str| line.contains("a security event is lost") && line.contains(event);
        assert!(log.lines().any(is_about), "no line about {event}");
    }
}

on_postgresql!(
    requests_are_refused_while_postgresql_is_suspended,
    sigterm_ends_the_program_while_postgresql_is_suspended,
    terminated_connections_are_replaced,
);
