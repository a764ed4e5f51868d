//! Programs whose clock differs from that of the database.

use std::time::Duration;
use tests::{Shape, World, eventually, on_shapes};

const MINUTE: Duration = Duration::from_secs(60);

/// Expects that every process answers 503 to everything but its health checks.
async fn expect_nothing_served(world: &World) {
    for port in [world.issuer_ports(), world.api_ports()].concat() {
        let process = world.anyone().at(&format!("http://localhost:{port}"));
        eventually("a process does not notice that its clock differs", async || {
            process.get("/readyz").may_fail().await.status == 503
        })
        .await;
        let readiness = process.get("/readyz").may_fail().await.expect(503).json();
        assert_eq!(readiness["checks"]["clock"], "unavailable");
        assert_eq!(readiness["checks"]["database"], "ok");
        process.get("/livez").await.expect(200);
        let refused = process.get("/csrf").may_fail().await;
        assert_eq!(refused.header("retry-after"), "1");
        refused.expect_error(503, "dependency_unavailable");
    }
}

async fn a_process_serves_nothing_while_its_clock_differs(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    // Sessions end after an hour without use, so a process that trusted its clock would end this one.
    world.advance_programs(61 * MINUTE);
    expect_nothing_served(&world).await;
    let refused = world.run(&["keys", "rotate"], "");
    assert!(!refused.status.success());
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("the clock of this machine differs"), "{message}");
    world.set_programs_back(61 * MINUTE);
    eventually("a process does not notice that its clock is right", async || {
        is_ready(&world).await
    })
    .await;
    user.get("/me").await.expect(200);
    world.expect_accepted(&tokens.access).await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
}

async fn is_ready(world: &World) -> bool {
    for port in [world.issuer_ports(), world.api_ports()].concat() {
        let process = world.anyone().at(&format!("http://localhost:{port}"));
        if process.get("/readyz").may_fail().await.status != 200 {
            return false;
        }
    }
    true
}

async fn a_small_difference_is_reported(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let report = "the clock of this machine differs from that of the database";
    assert!(!world.log().contains(report));
    world.advance_programs(Duration::from_secs(20));
    eventually("the difference is not reported", async || {
        world.log().contains(report)
    })
    .await;
    assert!(is_ready(&world).await);
}

on_shapes!(a_process_serves_nothing_while_its_clock_differs: postgres Postgres, split Split);
on_shapes!(a_small_difference_is_reported: postgres Postgres, split Split);
