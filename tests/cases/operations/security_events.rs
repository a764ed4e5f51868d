//! Security events: one row each, with the correlation id of the response, and without secrets.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use storage::fetch_all;
use tests::{PASSWORD, Reply, Shape, User, World, eventually, items, on_every_shape, run_concurrently};

/// The name, outcome, user id, client id, address and detail of an event.
type Event = (
    String,
    String,
    Option<i64>,
    Option<String>,
    Option<String>,
    Option<String>,
);

/// The events with the correlation id of a response.
async fn events_of(world: &World, reply: &Reply) -> Vec<Event> {
    let query = "SELECT name, outcome, user_id, client_id, address, detail FROM security_events
                 WHERE trace_id = $1 ORDER BY id";
    fetch_all!(world.db().await.reader(), Event, query, reply.correlation_id()).unwrap()
}

/// Expects exactly one event with this name, outcome, user and client, from the address of the test, and its
/// log line.
async fn expect_event(
    world: &World,
    reply: &Reply,
    name: &str,
    outcome: &str,
    user: Option<i64>,
    client: Option<&str>,
) {
    let events = events_of(world, reply).await;
    let [(found_name, found_outcome, user_id, client_id, address, _)] = events.as_slice() else {
        panic!("expected exactly one {name}: {events:?} for {reply}")
    };
    let (context, here) = (
        (user_id.to_owned(), client_id.as_deref(), address.as_deref()),
        world.anyone().address().to_string(),
    );
    assert_eq!((found_name.as_str(), found_outcome.as_str()), (name, outcome));
    assert_eq!(context, (user, client, Some(here.as_str())), "{name}");
    let mut lines = world.log_lines().into_iter();
    let logged = lines
        .find(|line| line["event"] == name && line["traceId"] == reply.correlation_id())
        .unwrap_or_else(|| panic!("no log line of {name}"));
    assert_eq!(logged["outcome"], outcome);
}

async fn signing_in_and_out_is_recorded(world: World) {
    let ann = world.sign_up().await;
    let anyone = world.anyone();
    let body = json!({ "email": world.fresh_email(), "password": PASSWORD });
    let made = anyone.post("/users").json(&body).await.expect(201);
    expect_event(
        &world,
        &made,
        "user_created",
        "success",
        made.json()["id"].as_i64(),
        None,
    )
    .await;
    let login = |email: &str, password: &str| {
        anyone
            .post("/login")
            .json(&json!({ "email": email, "password": password }))
    };
    let right = login(&ann.email, PASSWORD).await.expect(200);
    expect_event(
        &world,
        &right,
        "authn_login_success",
        "success",
        Some(ann.id),
        None,
    )
    .await;
    let wrong = login(&ann.email, "not the password").await.expect(401);
    expect_event(&world, &wrong, "authn_login_fail", "failure", Some(ann.id), None).await;
    let unknown = login("nobody@example.org", "not the password").await.expect(401);
    expect_event(&world, &unknown, "authn_login_fail", "failure", None, None).await;
    let out = ann.post("/logout").await.expect(204);
    expect_event(&world, &out, "authn_logout", "success", Some(ann.id), None).await;
}

/// The number of rows with this name, and the number of events for which they stand.
pub(crate) async fn counted(world: &World, name: &str) -> (i64, i64) {
    let query =
        "SELECT COUNT(*), CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM security_events WHERE name = $1";
    storage::fetch_one!(world.db().await.reader(), (i64, i64), query, name).unwrap()
}

async fn refusals_are_counted_by_the_minute(shape: Shape) {
    let builder = World::builder(shape)
        .clock()
        .flag("--trusted-proxies", "127.0.0.1");
    let mut world = builder.flag("--metrics-listen", "127.0.0.1:0").start().await;
    let admin = world.user_with_role("admin").await;
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let post = ann.publish("A post").await;
    let processes = i64::try_from(world.api_ports().len()).unwrap();
    let from = |n: usize| {
        world
            .anyone()
            .with("x-forwarded-for", &format!("2001:db8:1:2::{n}"))
    };
    let unknown = world.fresh_email();
    for n in 0..4 {
        from(n).login(&unknown, PASSWORD).await.expect(401);
    }
    for n in 0..20 {
        let forged = from(n).cookies("csrf=x").post("/login").json(&json!({}));
        forged.await.expect_error(403, "csrf_mismatch");
    }
    for n in 0..10 {
        let of_another = bob.with("x-forwarded-for", &format!("2001:db8:1:2::{n}"));
        of_another.delete(&post.path).await.expect_error(403, "forbidden");
    }
    for name in ["authn_login_fail", "malicious_csrf", "authz_fail"] {
        let (rows, events) = counted(&world, name).await;
        assert!(
            rows == events && (1..=processes).contains(&rows),
            "{rows} rows, {events} events of {name}"
        );
    }
    world.advance(Duration::from_secs(60));
    for (name, sent) in [
        ("authn_login_fail", 4),
        ("malicious_csrf", 20),
        ("authz_fail", 10),
    ] {
        eventually("the counts were not written", || async {
            counted(&world, name).await.1 == sent
        })
        .await;
        assert!(counted(&world, name).await.0 <= 2 * processes, "{name}");
        let series = format!("latchkey_security_events_total{{name=\"{name}\",outcome=\"failure\"}}");
        assert_eq!(world.metric_total(&series).await, sent.cast_unsigned());
        let list = format!("/admin/events?name={name}");
        let listed = items(&admin.get(&list).await.expect(200));
        let total: i64 = listed.iter().map(|event| event["count"].as_i64().unwrap()).sum();
        assert_eq!(total, sent, "{listed:?}");
    }
    let lines = world.run(&["events", "list", "--name", "malicious_csrf"], "");
    let lines = String::from_utf8(lines.stdout).unwrap();
    assert!(lines.contains("  times "), "{lines}");
    // A process that stops writes its counts.
    for n in 0..6 {
        let forged = from(n).cookies("csrf=x").post("/login").json(&json!({}));
        forged.await.expect_error(403, "csrf_mismatch");
    }
    world.stop().await;
    assert_eq!(counted(&world, "malicious_csrf").await.1, 26);
}

/// The rows of failed sign-ins from a network, and the events for which they stand.
async fn failed_sign_ins(world: &World, network: &str) -> (i64, i64) {
    let query = "SELECT COUNT(*), CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM security_events
                 WHERE name = 'authn_login_fail' AND address LIKE $1";
    let prefix = format!("{network}%");
    storage::fetch_one!(world.db().await.reader(), (i64, i64), query, prefix).unwrap()
}

async fn sign_ins_with_made_up_addresses_share_a_row(shape: Shape) {
    let builder = World::builder(shape).clock();
    let world = builder.flag("--trusted-proxies", "127.0.0.1").start().await;
    let processes = i64::try_from(world.api_ports().len()).unwrap();
    let ann = world.sign_up().await;
    let network = "2001:db8:1:3:";
    let from = |n: usize| world.anyone().with("x-forwarded-for", &format!("{network}:{n}"));
    for n in 0..40 {
        from(n).login(&world.fresh_email(), PASSWORD).await.expect(401);
    }
    let (rows, events) = failed_sign_ins(&world, network).await;
    assert!(
        rows == events && (1..=5 * processes).contains(&rows),
        "{rows} rows at once"
    );
    // The account's owner can see the attempts nevertheless, but not at once, so that the time of the
    // response reveals nothing.
    for n in 0..4 {
        from(n).login(&ann.email, "not the password").await.expect(401);
    }
    assert_eq!(failed_sign_ins(&world, network).await, (rows, events));
    world.advance(Duration::from_secs(60));
    eventually("the counts were not written", || async {
        failed_sign_ins(&world, network).await.1 == 44
    })
    .await;
    let of_unknown =
        "SELECT COUNT(*) FROM security_events WHERE name = 'authn_login_fail' AND user_id IS NULL";
    let of_ann = "SELECT CAST(SUM(count) AS BIGINT) FROM security_events WHERE name = 'authn_login_fail' AND user_id = $1";
    let db = world.db().await;
    let (of_unknown,) = storage::fetch_one!(db.reader(), (i64,), of_unknown).unwrap();
    let (of_ann,) = storage::fetch_one!(db.reader(), (i64,), of_ann, ann.id).unwrap();
    assert!(
        of_unknown <= 6 * processes && of_ann == 4,
        "{of_unknown} rows, {of_ann} events"
    );
}

async fn a_lockout_is_recorded_at_once(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
    let mut last = Vec::new();
    for _ in 0..5 {
        let body = json!({ "email": ann.email, "password": "not the password" });
        let reply = world.anyone().post("/login").json(&body).await.expect(401);
        last = events_of(&world, &reply).await;
    }
    let names: Vec<&str> = last.iter().map(|event| event.0.as_str()).collect();
    assert!(names.ends_with(&["authn_login_lock"]), "{names:?}");
}

async fn password_changes_are_recorded(world: World) {
    let ann = world.sign_up().await;
    let body = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
    let changed = ann.call("PUT", "/me/password").json(&body).await.expect(204);
    expect_event(
        &world,
        &changed,
        "authn_password_change",
        "success",
        Some(ann.id),
        None,
    )
    .await;
}

async fn rejected_requests_are_recorded(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let post = ann.publish("A post").await;
    let forbidden = bob.delete(&post.path).await.expect_error(403, "forbidden");
    expect_event(&world, &forbidden, "authz_fail", "failure", Some(bob.id), None).await;
    let comment = ann.comment(&post, "A comment").await;
    let forbidden = bob.delete(&comment.path).await.expect_error(403, "forbidden");
    expect_event(&world, &forbidden, "authz_fail", "failure", Some(bob.id), None).await;
    let forged = world
        .anyone()
        .cookies(&format!("sid={}", ann.sid))
        .delete(&post.path)
        .await;
    expect_event(
        &world,
        &forged.expect_error(403, "csrf_mismatch"),
        "malicious_csrf",
        "failure",
        Some(ann.id),
        None,
    )
    .await;
    let app = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    let narrow = world.anyone().bearer(&tokens.access).delete(&post.path).await;
    let narrow = narrow.expect_error(403, "insufficient_scope");
    expect_event(
        &world,
        &narrow,
        "authz_fail",
        "failure",
        Some(ann.id),
        Some(&app.id),
    )
    .await;
}

/// The names of the events with the correlation id of a response.
async fn names(world: &World, reply: &Reply) -> Vec<String> {
    events_of(world, reply)
        .await
        .into_iter()
        .map(|event| event.0)
        .collect()
}

async fn grant_changes_are_recorded(world: World) {
    let ann: User = world.sign_up().await;
    let (app, anyone) = (world.app().register(), world.anyone());
    let mut browser = ann.browser();
    let grant = app.authorize(&mut browser, &ann, "posts:read").await;
    let query = "SELECT outcome, user_id, client_id FROM security_events WHERE name = 'authz_consent'";
    let consents = fetch_all!(world.db().await.reader(), (String, i64, String), query).unwrap();
    assert_eq!(consents, [("success".to_owned(), ann.id, app.id.clone())]);
    app.exchange(&anyone, &grant).await.expect(200);
    let reused = app.exchange(&anyone, &grant).await.expect(400);
    assert_eq!(
        names(&world, &reused).await,
        ["authn_token_revoked", "authn_code_reuse"]
    );
    let tokens = app.tokens(&ann, "posts:read").await;
    // The user allowed again what the app had already.
    let query = "SELECT user_id, client_id FROM security_events WHERE name = 'authz_access_renewed'";
    let renewals = fetch_all!(world.db().await.reader(), (i64, String), query).unwrap();
    assert_eq!(renewals, [(ann.id, app.id.clone())]);
    app.refresh(&anyone, &tokens.refresh).await.expect(200);
    let replayed = app.refresh(&anyone, &tokens.refresh).await.expect(400);
    // The second revocation of the user in a minute is counted.
    assert_eq!(names(&world, &replayed).await, ["authn_token_reuse"]);
    let events = events_of(&world, &replayed).await;
    assert!(
        events
            .iter()
            .all(|event| event.2 == Some(ann.id) && event.3.as_ref() == Some(&app.id)),
        "{events:?}"
    );
    let denied = ann
        .browser()
        .complete_flow(&app.authorization().path(), &ann, "deny")
        .await
        .unwrap();
    assert!(denied.as_str().contains("error=access_denied"));
    let query = "SELECT outcome FROM security_events WHERE name = 'authz_consent' ORDER BY id DESC LIMIT 1";
    let last = fetch_all!(world.db().await.reader(), (String,), query).unwrap();
    assert_eq!(last, [("failure".to_owned(),)]);
}

/// The events of a key with their outcomes, oldest first.
async fn key_events(world: &World, kid: &str) -> Vec<(String, String)> {
    let query = "SELECT name, outcome FROM security_events WHERE detail = $1 ORDER BY id";
    let detail = format!("kid {kid}");
    fetch_all!(world.db().await.reader(), (String, String), query, detail).unwrap()
}

async fn signing_key_changes_are_recorded(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let made = world.cli(&["keys", "list", "--json"], "");
    let [first, second] = [0, 1].map(|n| made[n]["kid"].as_str().unwrap().to_owned());
    world.advance(Duration::from_secs(301));
    let rotated = world.cli(&["keys", "rotate", "--yes", "--json"], "");
    assert_eq!(rotated["active"], second.as_str());
    world.cli(&["keys", "retire", "--compromised", "--json", &second], "");
    world.advance(Duration::from_secs(660));
    eventually("an event of the key is missing", async || {
        key_events(&world, &first).await.len() >= 4
    })
    .await;
    let expected = |names: &[(&str, &str)]| -> Vec<(String, String)> {
        let owned = |(name, outcome): &(&str, &str)| (format!("key_{name}"), (*outcome).to_owned());
        names.iter().map(owned).collect()
    };
    let life = ["staged", "activated", "retired", "deleted"].map(|name| (name, "success"));
    assert_eq!(key_events(&world, &first).await, expected(&life));
    let compromised = [life[0], life[1], ("compromised", "success")];
    assert_eq!(key_events(&world, &second).await, expected(&compromised));
}

async fn secrets_are_never_stored_logged_or_in_a_url(world: World) {
    let ann = world.sign_up().await;
    let web = world.app().kind("web").register();
    let tokens = web.tokens(&ann, "posts:read").await;
    web.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    ann.get("/csrf").await.expect(200);
    world.expect_accepted(&tokens.access).await;
    let wrong = json!({ "email": ann.email, "password": "a wrong canary password" });
    world.anyone().post("/login").json(&wrong).await.expect(401);
    world
        .anyone()
        .bearer(&format!("{}x", tokens.access))
        .get("/me")
        .await
        .expect(401);
    world
        .anyone()
        .cookies("sid=a-canary-of-a-session")
        .get("/me")
        .await
        .expect(401);
    world.register_secret("a-canary-of-a-session");
    let body = format!(
        "{{\"email\":\"{}\",\"password\":\"a canary in malformed JSON\"",
        ann.email
    );
    world
        .anyone()
        .post("/login")
        .body("application/json", body)
        .await
        .expect(400);
    world.register_secret("a canary in malformed JSON");
    world
        .anyone()
        .get("/posts?access_token=a-canary-in-a-query&cursor=x")
        .await
        .expect(401);
    world.register_secret("a-canary-in-a-query");
    world.expect_no_secrets_in(&world.dump(), "the database");
    world.expect_no_secrets_in(&world.log(), "the log");
    assert!(
        world
            .log()
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "every log line is JSON"
    );
}

async fn stored_events_and_log_lines_correspond(shape: Shape) {
    // A minute that does not end.
    let world = World::builder(shape).clock().empty().start().await;
    let (ann, email) = (world.sign_up().await, world.fresh_email());
    let body = json!({ "email": email, "password": PASSWORD });
    let anyone = world.anyone();
    // One of these sign-ups creates the account. The transactions of the others are rolled back. A busy
    // machine refuses some of them, and some of the sign-ins, before they hash a password.
    let send = |path: &str, body: &Value| anyone.post(path).json(body).may_fail().into_future();
    run_concurrently(8, |_| send("/users", &body)).await;
    let wrong = json!({ "email": ann.email, "password": "not the password" });
    run_concurrently(8, |_| send("/login", &wrong)).await;
    let rows = "SELECT name, trace_id FROM security_events";
    let mut rows = fetch_all!(world.db().await.reader(), (String, String), rows).unwrap();
    let lines = world.log_lines().into_iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut lines: Vec<_> = lines
        .filter(|line| line["target"] == "security")
        .map(|line| (text(&line["event"]), text(&line["traceId"])))
        .collect();
    // Commands write rows but no log.
    rows.retain(|row| lines.contains(row) || row.0 != "client_created");
    rows.sort();
    lines.sort();
    assert_eq!(rows, lines);
}

async fn answered_requests_are_recorded_even_if_the_process_is_killed(mut world: World) {
    let ann = world.sign_up().await;
    let body = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
    let changed = ann.call("PUT", "/me/password").json(&body).await.expect(204);
    world.kill();
    let events = events_of(&world, &changed).await;
    assert_eq!(events.len(), 1, "{events:?}");
    world.restart().await;
    let events = events_of(&world, &changed).await;
    assert_eq!(
        (events[0].0.as_str(), events[0].2),
        ("authn_password_change", Some(ann.id))
    );
}

async fn administrators_read_events_page_by_page(world: World) {
    let (ann, admin) = (
        world.sign_up_and_log_in().await,
        world.user_with_role("admin").await,
    );
    for _ in 0..21 {
        let body = json!({ "email": ann.email, "password": PASSWORD });
        world.anyone().post("/login").json(&body).await.expect(200);
    }
    let list = "/admin/events";
    let first = admin.get(list).await.expect(200);
    let page = items(&first);
    let times: Vec<&str> = page.iter().map(|event| event["at"].as_str().unwrap()).collect();
    assert!(
        times.len() == 20 && times.is_sorted_by(|a, b| a >= b),
        "{times:?}"
    );

    let mine = format!("{list}?name=authn_login_success&user_id={}", ann.id);
    let first = admin.get(&mine).await.expect(200);
    let second = admin
        .get(first.json()["links"]["next"].as_str().unwrap())
        .await
        .expect(200);
    assert_eq!((items(&first).len(), items(&second).len()), (20, 2));
    let end = second.json();
    assert!(end["next"].is_null() && end["links"]["next"].is_null(), "{end}");
    let all: Vec<Value> = [items(&first), items(&second)].concat();
    let ids: BTreeSet<i64> = all.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), 22);
    for event in &all {
        let stated = (
            &event["name"],
            &event["outcome"],
            &event["user_id"],
            &event["address"],
        );
        let expected = ("authn_login_success", "success", ann.id, "127.0.0.1");
        assert_eq!(
            stated,
            (
                &json!(expected.0),
                &json!(expected.1),
                &json!(expected.2),
                &json!(expected.3)
            )
        );
    }
    for ignored in ["?user_id=abc", "?cursor=%21", "?name=a%00b", "?unknown=1"] {
        let read = admin.get(&format!("{list}{ignored}")).await.expect(200);
        assert_eq!(items(&read).len(), 20, "{ignored}");
    }
    let nothing = admin.get(&format!("{list}?name=no_such_event")).await.expect(200);
    assert!(items(&nothing).is_empty());

    let id = ann.id.to_string();
    let printed = [
        "events",
        "list",
        "--json",
        "--user",
        &id,
        "--name",
        "authn_login_success",
        "--limit",
        "22",
    ];
    assert_eq!(world.cli(&printed, ""), json!(all));
    let lines = world.run(&["events", "list", "--limit", "3"], "");
    assert_eq!(String::from_utf8(lines.stdout).unwrap().lines().count(), 3);
}

async fn only_administrators_read_events(world: World) {
    let (ann, admin) = (world.sign_up().await, world.user_with_role("admin").await);
    let list = "/admin/events";
    world
        .anyone()
        .get(list)
        .await
        .expect_error(401, "unauthenticated");
    let refused = ann.get(list).await.expect_error(403, "forbidden");
    expect_event(&world, &refused, "authz_fail", "failure", Some(ann.id), None).await;
    admin
        .with("authorization", "Bearer x")
        .get(list)
        .await
        .expect_error(401, "invalid_token");
    let args = [
        "users",
        "create",
        "--email",
        "only-administrators@example.org",
        "--role",
        "admin",
        "--json",
    ];
    let password = world.cli(&args, "")["initial_password"]
        .as_str()
        .unwrap()
        .to_owned();
    let new = world.log_in("only-administrators@example.org", &password).await;
    new.get(list).await.expect_error(403, "password_change_required");
}

async fn events_are_deleted_after_their_retention_time(shape: Shape) {
    let mut world = World::builder(shape)
        .clock()
        .flag("--events-kept", "2h")
        .start()
        .await;
    let ann = world.sign_up_and_log_in().await;
    let count = async |world: &World, email: &str| {
        let query = "SELECT e.id FROM security_events e JOIN users u ON u.id = e.user_id WHERE u.email = $1";
        let db = world.db().await;
        fetch_all!(db.reader(), (i64,), query, email).unwrap().len()
    };
    assert_eq!(count(&world, &ann.email).await, 2);
    let old = "INSERT INTO security_events (at, name, outcome, trace_id) VALUES ($1, 'old', 'success', 't')";
    let db = world.db().await;
    for _ in 0..1200 {
        storage::execute!(db.writer(), old, world.now()).unwrap();
    }
    world.stop().await;
    world.advance(Duration::from_secs(3600));
    world.restart().await;
    let bob = world.sign_up_and_log_in().await;
    world.stop().await;
    world.advance(Duration::from_secs(3660));
    world.restart().await;
    eventually("old events are still stored", || async {
        let rows = fetch_all!(
            db.reader(),
            (i64,),
            "SELECT id FROM security_events WHERE name = 'old'"
        );
        rows.unwrap().is_empty() && count(&world, &ann.email).await == 0
    })
    .await;
    assert_eq!(count(&world, &bob.email).await, 2);
}

on_every_shape!(
    stored_events_and_log_lines_correspond,
    answered_requests_are_recorded_even_if_the_process_is_killed,
    administrators_read_events_page_by_page,
    only_administrators_read_events,
    events_are_deleted_after_their_retention_time,
    signing_in_and_out_is_recorded,
    refusals_are_counted_by_the_minute,
    sign_ins_with_made_up_addresses_share_a_row,
    a_lockout_is_recorded_at_once,
    password_changes_are_recorded,
    rejected_requests_are_recorded,
    grant_changes_are_recorded,
    signing_key_changes_are_recorded,
    secrets_are_never_stored_logged_or_in_a_url,
);
