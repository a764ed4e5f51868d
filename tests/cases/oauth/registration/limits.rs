//! The limit of registrations from one network.

use super::{REGISTER, open, register, spa};
use std::time::Duration;
use tests::{Shape, on_every_shape, run_concurrently, status_counts};

const HOUR: Duration = Duration::from_secs(3600);

async fn a_network_registers_twenty_clients_an_hour(shape: Shape) {
    let world = open(shape).await;
    let from = |address: &str| world.anyone().with("x-forwarded-for", address);
    let callers: Vec<_> = world.at_each_issuer(&from("2001:db8:1:2::1"));
    let replies = run_concurrently(40, |n| {
        let call = callers[n % callers.len()].post(REGISTER).json(&spa());
        async move { call.await }
    })
    .await;
    assert_eq!(status_counts(&replies), [(201, 20), (429, 20)].into());
    // Another address of the same network.
    let refused = from("2001:db8:1:2:ffff::1").post(REGISTER).json(&spa()).await;
    let refused = refused.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), "3600");
    register(&from("2001:db8:1:3::1"), &spa()).await;
    // Registrations with an initial access token do not count.
    let made = world.cli(&["clients", "registration-tokens", "create", "--json"], "");
    let token = made["token"].as_str().unwrap();
    let authorized = world
        .anyone()
        .bearer(token)
        .with("x-forwarded-for", "2001:db8:1:2::1");
    register(&authorized, &spa()).await;
    world.advance(HOUR);
    register(&from("2001:db8:1:2::1"), &spa()).await;
}

on_every_shape!(a_network_registers_twenty_clients_an_hour);
