//! The time from a revocation to its effect at every API.

use crate::ALONE;
use std::time::{Duration, Instant};
use tests::{Shape, World, median, on_many_processes, p99, print_figure};

/// The longest time for 99 of 100 revocations.
const LIMIT: Duration = Duration::from_secs(1);
const REVOCATIONS: usize = 1_000;

async fn revocations_reach_every_api_within_a_second(shape: Shape) {
    let _alone = ALONE.lock().await;
    let world = World::builder(shape).start().await;
    let (ann, app) = (world.sign_up().await, world.app().first_party().register());
    let (anyone, mut browser) = (world.anyone(), ann.browser());
    let mut times = Vec::new();
    for _ in 0..REVOCATIONS {
        let grant = app.authorize(&mut browser, &ann, "posts:read").await;
        let tokens = tests::Tokens::parse(app.exchange(&anyone, &grant).await);
        let apis = world.at_each_api(&anyone.bearer(&tokens.access));
        for api in &apis {
            api.get("/protected").await.expect(200);
        }
        let revocation = app.client_call(&anyone, "/revoke", &[("token", &tokens.refresh)]);
        revocation.await.expect(200);
        let began = Instant::now();
        for api in &apis {
            while api.get("/protected").await.status == 200 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        times.push(began.elapsed());
    }
    let (p50, p99, max) = (median(&times), p99(&times), times.iter().max().unwrap());
    print_figure(&format!(
        "from revocation to rejection by both APIs, {REVOCATIONS} tokens: p50 {p50:?}, p99 {p99:?}, max {max:?}"
    ));
    assert!(p99 < LIMIT, "p99 {p99:?}");
}

on_many_processes!(revocations_reach_every_api_within_a_second);
