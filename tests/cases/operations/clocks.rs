//! Programs whose clock differs from that of the database.

mod routes;
mod served_requests;

use std::time::Duration;
use storage::{execute, fetch_all};
use tests::{Shape, StubServer, World, eventually, on_many_processes, on_postgresql, on_shapes};

const MINUTE: Duration = Duration::from_secs(60);

/// Expects that every process notices the difference and answers 503 to what depends on the time.
async fn expect_noticed(world: &World) {
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
        let refused = process.get("/me").may_fail().await;
        assert_eq!(refused.header("retry-after"), "1");
        refused.expect_error(503, "dependency_unavailable");
    }
}

async fn a_process_grants_nothing_while_its_clock_differs(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    // Sessions end after an hour without use, so a process that trusted its clock would end this one.
    world.advance_programs(61 * MINUTE);
    expect_noticed(&world).await;
    let log = world.log();
    let of_requests = log
        .lines()
        .filter(|line| line.contains("a dependency is unavailable"));
    assert_eq!(
        of_requests.count(),
        0,
        "the difference is logged once, and not with each request"
    );
    let refused = world.run(&["keys", "rotate", "--yes"], "");
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

/// Without the database, the monotonic clock of the machine tells that its clock was set.
async fn a_clock_that_is_set_while_the_database_is_away_is_noticed(shape: Shape) {
    let setup = World::builder(shape).default_time_limits().own_postgres();
    let world = setup.clock().start().await;
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    world.postgres().suspend();
    world.set_programs_back(61 * MINUTE);
    for api in world.at_each_api(&world.anyone().bearer(&tokens.access)) {
        for _ in 0..3 {
            let refused = api.get("/protected").may_fail().await;
            refused.expect_error(503, "dependency_unavailable");
        }
    }
    let keys = world.anyone().get("/.well-known/jwks.json").await;
    keys.expect(200);
    world.advance_programs(61 * MINUTE);
    world.postgres().resume();
    eventually("the right clock is not noticed", async || is_ready(&world).await).await;
    world.expect_accepted(&tokens.access).await;
}

/// Each of two differences alone would be small enough.
async fn a_difference_and_a_clock_that_is_set_add_up(shape: Shape) {
    const PART: Duration = Duration::from_secs(29);
    let world = World::builder(shape).clock().start().await;
    let user = world.user().await;
    world.advance_programs(PART);
    eventually("a process did not measure the difference", async || {
        let measured = "the clock of this machine differs from that of the database";
        world.log().matches(measured).count() >= world.pids().len()
    })
    .await;
    world.advance_programs(PART);
    for api in world.at_each_api(&user) {
        let refused = api.get("/me").may_fail().await;
        refused.expect_error(503, "dependency_unavailable");
    }
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

/// Expired rows are deleted at the start. One row has expired by the clock of the programs only.
async fn a_process_deletes_nothing_while_its_clock_differs(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let db = world.db().await;
    let rows = async || {
        let rows = "SELECT subject FROM revocations ORDER BY subject";
        let rows = fetch_all!(db.reader(), (String,), rows).unwrap();
        Vec::from_iter(rows.into_iter().map(|(subject,)| subject))
    };
    world.stop().await;
    let insert = "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ('jti', $1, $2, $3)";
    let now = world.now();
    execute!(db.writer(), insert, "expired", now, now).unwrap();
    execute!(db.writer(), insert, "valid", now, now.after(30 * MINUTE)).unwrap();
    world.advance_programs(61 * MINUTE);
    world.restart_unready().await;
    expect_noticed(&world).await;
    assert_eq!(rows().await, ["expired", "valid"]);
    world.stop().await;
    world.set_programs_back(61 * MINUTE);
    world.restart().await;
    eventually("the expired row is not deleted", async || {
        rows().await == ["valid"]
    })
    .await;
}

/// Logout tokens carry the time. Those that the app is receiving when the difference is found are delivered.
async fn a_process_begins_no_delivery_while_its_clock_differs(shape: Shape) {
    const NOTICES: usize = 40;
    let (world, server) = (
        World::builder(shape).clock().start().await,
        StubServer::start().await,
    );
    // Each delivery takes four seconds. Four are under way at a time.
    server.answer_slowly("HTTP/1.1 204 No\r\n\r\n");
    let url = format!("{}/logout", server.url);
    let app = world.app().option(&["--backchannel-logout-uri", &url]).register();
    let db = world.db().await;
    let insert = "INSERT INTO logout_notices (client_id, user_id, session_id, created_at, due_at, attempts)
                  VALUES ($1, 1, $2, $3, $3, 0)";
    for session_id in 0..NOTICES {
        execute!(
            db.writer(),
            insert,
            app.id.as_str(),
            i64::try_from(session_id).unwrap(),
            world.now()
        )
        .unwrap();
    }
    eventually("nothing is delivered", async || !server.received().is_empty()).await;
    world.advance_programs(61 * MINUTE);
    expect_noticed(&world).await;
    let begun = server.received().len();
    eventually("the deliveries under way are not recorded", async || {
        let left = fetch_all!(db.reader(), (i64,), "SELECT id FROM logout_notices").unwrap();
        left.len() == NOTICES - begun
    })
    .await;
    assert_eq!(server.received().len(), begun);
    assert!(begun < NOTICES, "all were delivered");
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

/// While the clock differs, it is measured every second. Each process logs the change of the result, and
/// nothing else.
async fn a_difference_is_logged_once_and_not_with_each_measurement(shape: Shape) {
    let world = World::builder(shape).clock().postgres_proxy().start().await;
    let processes = world.pids().len();
    world.advance_programs(61 * MINUTE);
    expect_noticed(&world).await;
    let first = world.postgres_proxy().exchange_count();
    eventually("the clock is not measured again", async || {
        // Two measurements make one result.
        measurements_from(&world, first) >= 4 * processes
    })
    .await;
    let change = "Until then this process grants, signs and rotates nothing";
    assert_eq!(world.log().matches(change).count(), processes);
}

/// The number of measurements of the clock by all processes since the first round trips to PostgreSQL.
fn measurements_from(world: &World, first: usize) -> usize {
    const MEASUREMENT: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp())";
    let exchanges = world.postgres_proxy().exchanges_from(first);
    let executed = exchanges.iter().flat_map(|exchange| &exchange.statements);
    executed.filter(|text| text.starts_with(MEASUREMENT)).count()
}

on_shapes!(a_process_begins_no_delivery_while_its_clock_differs: postgres Postgres);
on_postgresql!(
    a_difference_and_a_clock_that_is_set_add_up,
    a_process_grants_nothing_while_its_clock_differs,
    a_process_deletes_nothing_while_its_clock_differs,
    a_small_difference_is_reported,
    a_difference_is_logged_once_and_not_with_each_measurement,
);

on_many_processes!(a_clock_that_is_set_while_the_database_is_away_is_noticed);
