//! The names that the API specification fixes, in one test: paths, members, parameters, cookies and headers.

use serde_json::{Value, json};
use tests::{PASSWORD, Reply, SharedWorld, World, claims, cursor, fresh_key, on_every_shape};

/// The names of the members of an object, sorted.
fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[track_caller]
fn expect_members(value: &Value, expected: &[&str]) {
    let found = members(value);
    for name in expected {
        assert!(found.contains(name), "{name} is missing: {value}");
    }
}

/// 2: post, comment, collection envelope and cursor; 4.1: paths, parameters and headers.
async fn expect_names_of_posts(world: &World) {
    let ann = world.sign_up().await;
    let members = json!({ "title": "A post", "status": "published" });
    let made = ann.post("/posts").json(&members).await.expect(201);
    let path = made.header("location").to_owned();
    assert_eq!(path, format!("/posts/{}", made.json()["id"]));
    let post = ann.get(&path).await.expect(200);
    let fields = ["id", "title", "status", "author_id", "created_at", "updated_at"];
    expect_members(&post.json(), &fields);
    let edit = ann.patch(&path).header("If-Match", post.header("ETag"));
    let edited = edit.json(&json!({ "status": "draft" })).await.expect(200);
    assert_ne!(edited.header("ETag"), post.header("ETag"));
    for n in 0..20 {
        ann.publish(&format!("Post {n}")).await;
    }
    let list = format!("/posts?status=published&author_id={}", ann.id);
    let page = ann.get(&list).await.expect(200).json();
    expect_members(&page, &["items", "next", "links"]);
    expect_members(&page["links"], &["next", "prev"]);
    let last = &page["items"][19];
    assert_eq!(page["next"], cursor(&last["created_at"], &last["id"]));
    let next = format!("{list}&cursor={}", page["next"].as_str().unwrap());
    let next = ann.get(&next).await.expect(200).json();
    assert_eq!((&next["items"], &next["next"]), (&json!([]), &Value::Null));
    let comments = format!("{path}/comments");
    let comment = ann.post(&comments).json(&json!({ "body": "A comment" })).await;
    assert!(comment.expect(201).has("location"));
    ann.get(&comments).await.expect(200);
}

/// 4.2, 4.4 and 5: users, sessions, the anti-forgery token and payments.
async fn expect_names_of_accounts(world: &World) {
    let (anyone, email) = (world.anyone(), world.fresh_email());
    let credentials = json!({ "email": email, "password": PASSWORD });
    anyone.post("/users").json(&credentials).await.expect(201);
    let sid = anyone.post("/login").json(&credentials).await.cookie("sid");
    let csrf = anyone.get("/csrf").await.expect(200);
    assert_eq!(members(&csrf.json()), ["token"]);
    let token = csrf.cookie("csrf");
    assert_eq!(csrf.json()["token"], token.as_str());
    let caller = anyone.cookies(&format!("sid={sid}; csrf={token}"));
    caller.get("/me").await.expect(200);
    let payment = json!({ "amount": 1250, "currency": "EUR" });
    let pay = caller.post("/payments").header("x-csrf-token", &token);
    let missing = pay.json(&payment).await.expect(400);
    expect_members(&missing.json(), &["type", "title", "status"]);
    let pay = caller.post("/payments").header("x-csrf-token", &token);
    let paid = pay.header("Idempotency-Key", &fresh_key()).json(&payment).await;
    let paid = paid.expect(201).json();
    assert_eq!(
        (members(&paid), &paid["status"]),
        (vec!["id", "status"], &json!("created"))
    );
    let error = anyone.get("/me").await.expect(401).json();
    assert_eq!(members(&error), ["code", "correlationId", "message"]);
}

/// 2: the claims of access tokens; 4.3: the token flow.
async fn expect_names_of_tokens(world: &World) {
    let (ann, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", grant.code.as_str()),
        ("redirect_uri", app.redirect_uri.as_str()),
        ("code_verifier", grant.verifier.as_str()),
    ];
    let tokens = app.token(&anyone, &fields).await.expect(200).json();
    let access = tokens["access_token"].as_str().unwrap();
    expect_members(&claims(access), &["iss", "aud", "exp", "jti", "scope"]);
    anyone.bearer(access).get("/protected").await.expect(200);
    let refresh = tokens["refresh_token"].as_str().unwrap();
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh)];
    let tokens = app.token(&anyone, &fields).await.expect(200).json();
    expect_members(&tokens, &["access_token", "refresh_token"]);
    let keys = anyone.get("/.well-known/jwks.json").await.expect(200);
    expect_members(&keys.json(), &["keys"]);
}

/// The trace ids of the events in a list.
fn trace_ids(events: &Value) -> Vec<&Value> {
    let events = events.as_array().unwrap().iter();
    events.map(|event| &event["traceId"]).collect()
}

/// 6: security events are "each correlated by a `traceId`": in the log, in the list for administrators, for
/// the user and for the shell.
async fn expect_names_of_events(world: &World) {
    let admin = world.user_with_role("admin").await;
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    let signed_in: Reply = anyone.login(&ann.email, PASSWORD).await.expect(200);
    let trace_id = json!(signed_in.correlation_id());
    let mut lines = world.log_lines().into_iter();
    let logged = lines.find(|line| line["target"] == "security" && line["traceId"] == trace_id);
    assert_eq!(logged.unwrap()["event"], "authn_login_success");
    let listed = admin.get(&format!("/admin/events?user_id={}", ann.id)).await;
    let exported = ann.get("/me/export").await.expect(200).json();
    let of_user = ["events", "list", "--user", &ann.id.to_string(), "--json"];
    for (events, place) in [
        (
            listed.expect(200).json()["items"].clone(),
            "the list for administrators",
        ),
        (exported["security_events"].clone(), "the export"),
        (world.cli(&of_user, ""), "the command"),
    ] {
        assert!(trace_ids(&events).contains(&&trace_id), "{place}: {events}");
    }
}

async fn every_name_of_the_specification_is_kept(world: SharedWorld) {
    expect_names_of_posts(&world).await;
    expect_names_of_accounts(&world).await;
    expect_names_of_tokens(&world).await;
    expect_names_of_events(&world).await;
}

on_every_shape!(every_name_of_the_specification_is_kept);
