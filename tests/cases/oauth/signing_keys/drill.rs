//! `keys drill`: green while every replica accepts every valid token, and red as soon as one does not.

use super::{key_in_state, kids, list};
use serde_json::Value;
use std::process::Output;
use tests::{
    RedisServer, Shape, StubServer, World, eventually, on_every_shape, on_many_processes, print_figure,
    rounds,
};

/// Runs a drill with JSON output at all replicas of a world, and at further APIs. Returns its exit code, its
/// report and its error message.
fn drill(world: &World, further_apis: &[&str], args: &[&str]) -> (Option<i32>, Value, String) {
    let output = run(world, further_apis, &[&["--json"], args].concat());
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let message = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), report, message)
}

/// Runs a drill at all replicas of a world, and at further APIs.
fn run(world: &World, further_apis: &[&str], args: &[&str]) -> Output {
    let urls = |ports: Vec<u16>| ports.into_iter().map(|port| format!("http://localhost:{port}"));
    let further_apis = further_apis.iter().map(|url| (*url).to_owned());
    let mut all: Vec<String> = ["keys", "drill"].map(str::to_owned).into();
    all.extend(urls(world.issuer_ports()).flat_map(|url| ["--issuer-url".to_owned(), url]));
    let apis = urls(world.api_ports()).chain(further_apis);
    all.extend(apis.flat_map(|url| ["--api-url".to_owned(), url]));
    all.extend(args.iter().map(|arg| (*arg).to_owned()));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    world.run(&all, "")
}

/// The reports of the endpoints whose name begins with `prefix`.
fn endpoints<'a>(report: &'a Value, prefix: &str) -> Vec<&'a Value> {
    let endpoints = report["endpoints"].as_array().unwrap().iter();
    endpoints
        .filter(|endpoint| endpoint["endpoint"].as_str().unwrap().starts_with(prefix))
        .collect()
}

fn problems(report: &Value) -> Vec<&str> {
    let problems = report["problems"].as_array().unwrap().iter();
    problems.map(|problem| problem.as_str().unwrap()).collect()
}

async fn a_drill_of_several_rotations_is_green(shape: Shape) {
    let (rotations, rate) = rounds((3, 60), (10, 500));
    let args = [
        "--rotations",
        &rotations.to_string(),
        "--requests-per-second",
        &rate.to_string(),
    ];
    let world = World::builder(shape).flag("--jwks-max-age", "1s").start().await;
    let first = key_in_state(&world, "active");
    let (code, report, message) = drill(&world, &[], &args);
    assert_eq!(
        (code, &report["passed"]),
        (Some(0), &Value::Bool(true)),
        "{message}{report}"
    );
    let done = report["rotations"].as_array().unwrap();
    assert_eq!(done.len(), rotations);
    assert_eq!(done[0]["from"], first);
    for pair in done.windows(2) {
        assert_eq!(pair[0]["to"], pair[1]["from"]);
    }
    assert_eq!(done[rotations - 1]["to"], key_in_state(&world, "active"));
    assert_eq!(kids(&world, "retired").len(), rotations);
    for rotation in done {
        let shown = rotation["shown_after_ms"].as_object().unwrap();
        assert_eq!(shown.len(), 6, "{rotation}");
        assert!(shown.values().all(Value::is_i64), "{rotation}");
    }
    let seconds = report["seconds"].as_u64().unwrap();
    let apis = endpoints(&report, "GET http://localhost");
    let apis = apis
        .iter()
        .filter(|api| api["endpoint"].as_str().unwrap().ends_with("/protected"));
    let mut calls = 0;
    for api in apis {
        // The active key at the beginning, and the new ones.
        assert_eq!(api["kids"].as_array().unwrap().len(), rotations + 1, "{api}");
        assert_eq!(api["false_401"], 0, "{api}");
        calls += api["ok"].as_u64().unwrap();
    }
    print_figure(&format!(
        "{calls} calls in {seconds} s, of {rate} planned for each"
    ));
    assert!(
        endpoints(&report, "POST ")
            .iter()
            .all(|issuer| issuer["p99_ms"].is_f64())
    );
}

async fn an_api_without_notifications_and_key_fetches_turns_the_drill_red(shape: Shape) {
    let world = World::builder(shape).flag("--jwks-max-age", "1s").start().await;
    let published = world
        .anyone()
        .get("/.well-known/jwks.json")
        .await
        .expect(200)
        .text();
    let issuer = StubServer::start().await;
    issuer.answer(200, &published);
    let dir = tempfile::tempdir().unwrap();
    let redis = RedisServer::launch(dir.path());
    let flags = [("--jwks-url", issuer.url.as_str()), ("--redis-url", &redis.url())];
    let (cut_off, _replica) = world.start_api_replica(&flags).await;
    let readiness = format!("{cut_off}/readyz");
    eventually("the replica is not ready", async || {
        world.anyone().get(&readiness).may_fail().await.status == 200
    })
    .await;
    issuer.answer(503, "");
    redis.kill();
    let (code, report, message) = drill(&world, &[&cut_off], &["--requests-per-second", "60"]);
    assert_eq!(
        (code, &report["passed"]),
        (Some(1), &Value::Bool(false)),
        "{message}{report}"
    );
    let name = format!("GET {cut_off}/protected");
    assert!(message.contains(&format!("{name} refused")), "{message}");
    let rejected_by_others = endpoints(&report, "")
        .into_iter()
        .filter(|endpoint| endpoint["endpoint"] != name)
        .map(|endpoint| endpoint["false_401"].as_u64().unwrap())
        .sum::<u64>();
    assert_eq!(rejected_by_others, 0, "{report}");
    // The replica knows the staged key of the beginning, and not the one that was staged by the first
    // rotation.
    assert_eq!(report["rotations"].as_array().unwrap().len(), 2, "{report}");
    assert!(
        report["rotations"][1]["shown_after_ms"][&name].is_null(),
        "{report}"
    );
}

async fn a_drill_rotates_nothing_unless_every_replica_answers(shape: Shape) {
    let world = World::start(shape).await;
    let before = list(&world);
    let nobody = StubServer::start().await;
    nobody.answer(404, "{}");
    let (code, _, message) = drill(&world, &[&nobody.url], &[]);
    assert_eq!(code, Some(1), "{message}");
    assert!(
        message.contains("nothing was rotated") && message.contains(&nobody.url),
        "{message}"
    );
    assert_eq!(list(&world), before);
}

async fn a_drill_leaves_a_disabled_client(shape: Shape) {
    let world = World::builder(shape).flag("--jwks-max-age", "1s").start().await;
    let (code, report, message) = drill(&world, &[], &["--rotations", "1", "--requests-per-second", "20"]);
    assert_eq!(code, Some(0), "{message}{report}");
    let clients = world.cli(&["clients", "list", "--json"], "");
    let of_drills: Vec<_> = clients
        .as_array()
        .unwrap()
        .iter()
        .filter(|client| client["id"].as_str().unwrap().starts_with("keys-drill-"))
        .collect();
    assert_eq!(of_drills.len(), 1, "{clients}");
    assert!(of_drills[0]["disabled_at"].is_string(), "{clients}");
    assert_eq!(of_drills[0]["scope"], "posts:read");
}

async fn a_drill_prints_a_table_for_people(shape: Shape) {
    let world = World::builder(shape).flag("--jwks-max-age", "1s").start().await;
    let output = run(&world, &[], &["--rotations", "1", "--requests-per-second", "20"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let head = printed.lines().find(|line| line.starts_with("endpoint")).unwrap();
    let columns = head.split("  ").map(str::trim).filter(|name| !name.is_empty());
    let columns: Vec<&str> = columns.collect();
    let false_401 = columns.iter().position(|name| *name == "false 401").unwrap();
    let (issuers, apis) = (world.issuer_ports().len(), world.api_ports().len());
    for (method, path, replicas) in [
        ("POST", "/token", issuers),
        ("GET", "/.well-known/jwks.json", issuers),
        ("GET", "/protected", apis),
    ] {
        // The name of an endpoint has two words.
        let rows = printed.lines().filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix(method)?.split_whitespace().collect();
            cells[0].ends_with(path).then_some(cells)
        });
        let rows: Vec<Vec<&str>> = rows.collect();
        assert_eq!(rows.len(), replicas, "{method} {path}: {printed}");
        for cells in rows {
            assert_eq!(cells.len(), columns.len(), "{cells:?}");
            assert_eq!(cells[false_401], "0", "{cells:?}");
        }
    }
    let result = printed.lines().last().unwrap();
    assert!(result.starts_with("passed: 1 rotations in "), "{printed}");
}

/// The key that the first rotation stages may sign an hour later.
async fn a_drill_ends_at_its_time_limit(shape: Shape) {
    let world = World::builder(shape).flag("--jwks-max-age", "1h").start().await;
    let args = [
        "--rotations",
        "5",
        "--requests-per-second",
        "20",
        "--time-limit",
        "15s",
    ];
    let (code, report, message) = drill(&world, &[], &args);
    assert_eq!(
        (code, &report["passed"]),
        (Some(1), &Value::Bool(false)),
        "{message}{report}"
    );
    assert!(message.contains("time limit of 15 seconds"), "{message}");
    let rotations = report["rotations"].as_array().unwrap().len();
    assert!(rotations < 5, "{report}");
    let clients = world.cli(&["clients", "list", "--json"], "");
    let mut of_drill = clients.as_array().unwrap().iter();
    let of_drill = of_drill.find(|client| client["id"].as_str().unwrap().starts_with("keys-drill-"));
    assert!(of_drill.unwrap()["disabled_at"].is_string(), "{clients}");
}

async fn rate_limited_drills_fail_and_name_the_remedy(shape: Shape) {
    let world = World::builder(shape)
        .flag("--jwks-max-age", "1s")
        .flag("--rate-limits", "on")
        .flag("--rate-limit-reads", "20")
        .start()
        .await;
    let (code, report, message) = drill(&world, &[], &["--rotations", "1"]);
    assert_eq!(code, Some(1), "{message}{report}");
    assert!(
        problems(&report).iter().any(|problem| problem.contains("429")),
        "{report}"
    );
    assert!(
        message.contains("--requests-per-second") && message.contains("RATE_LIMIT_READS"),
        "{message}"
    );
}

on_every_shape!(
    a_drill_rotates_nothing_unless_every_replica_answers,
    a_drill_leaves_a_disabled_client,
    a_drill_prints_a_table_for_people,
    a_drill_ends_at_its_time_limit,
    rate_limited_drills_fail_and_name_the_remedy,
);
on_many_processes!(
    a_drill_of_several_rotations_is_green,
    an_api_without_notifications_and_key_fetches_turns_the_drill_red,
);
