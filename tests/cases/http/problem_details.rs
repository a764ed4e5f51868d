//! Problem details (RFC 9457) for clients that request them.

use serde_json::json;
use tests::{Call, PASSWORD, Reply, SharedWorld, on_every_shape};

const PROBLEM: &str = "application/problem+json";

async fn as_problem(call: Call, status: u16, code: &str) -> Reply {
    let reply = call.header("accept", PROBLEM).await.expect_problem(status, code);
    assert!(has_vary(&reply, "Accept"), "{reply}");
    reply
}

fn has_vary(reply: &Reply, name: &str) -> bool {
    reply.header("vary").split(", ").any(|found| found == name)
}

async fn errors_are_problem_details_on_request(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let anyone = world.anyone();
    as_problem(anyone.get("/nothing"), 404, "not_found").await;
    as_problem(anyone.get("/v1/posts"), 401, "unauthenticated").await;
    as_problem(anyone.call("PUT", "/posts"), 405, "method_not_allowed").await;
    as_problem(anyone.get("/token"), 405, "method_not_allowed").await;
    let bearer = anyone.bearer("not.a.token").get("/me");
    as_problem(bearer, 401, "invalid_token").await;
    let patch = || ann.patch(&post.path).json(&json!({ "title": "x" }));
    as_problem(patch(), 428, "precondition_required").await;
    let stale = patch().header("if-match", "\"0\"");
    as_problem(stale, 412, "precondition_failed").await;
    let text = ann.post("/posts").body("text/plain", "x");
    as_problem(text, 415, "unsupported_media_type").await;
    let large = ann.post("/posts").body("application/json", " ".repeat(2_000_000));
    as_problem(large, 413, "payload_too_large").await;
    let broken = ann.post("/posts").body("application/json", "{");
    as_problem(broken, 400, "malformed_json").await;
    let wrong = ann.post("/posts").json(&json!({ "titel": "x" }));
    let wrong = as_problem(wrong, 422, "validation_failed").await;
    assert_eq!(
        wrong.json()["errors"].as_array().map(Vec::len),
        Some(2),
        "{wrong}"
    );
}

async fn clients_that_prefer_json_get_json(world: SharedWorld) {
    let anyone = world.anyone();
    for accept in [
        "*/*",
        "application/json",
        "application/json, text/plain, */*",
        "application/problem+json;q=0",
        "application/problem+json;q=0.5, application/json;q=0.9",
        "nonsense",
        &format!("{PROBLEM}{}", ", text/html".repeat(1_000)),
    ] {
        let reply = anyone.get("/posts").header("accept", accept).await;
        let reply = reply.expect_error(401, "unauthenticated");
        assert!(has_vary(&reply, "Accept"), "{reply}");
        assert!(reply.json().get("type").is_none(), "{accept:.60}: {reply}");
    }
    for accept in [
        "application/json;q=0.8, application/problem+json",
        "application/problem+json;q=0.1",
        "text/html, application/problem+json;q=0.9, */*;q=0.8",
    ] {
        let reply = anyone.get("/posts").header("accept", accept).await;
        assert_eq!(reply.header("content-type"), PROBLEM, "{accept}");
    }
}

async fn fixed_error_bodies_are_not_negotiated(world: SharedWorld) {
    let ann = world.user().await;
    let anyone = world.anyone().with("accept", PROBLEM);
    let wrong = json!({ "email": ann.email, "password": "not the password" });
    let refused = anyone.post("/login").json(&wrong).await.expect(401);
    assert!(
        refused.body.is_empty() && !refused.has("content-type"),
        "{refused}"
    );
    let token = anyone.post("/token").form(&[("grant_type", "password")]);
    let token = token.await.expect(401);
    assert_eq!(token.header("content-type"), "application/json");
    assert_eq!(token.json()["error"], "invalid_client");
    let good = json!({ "email": ann.email, "password": PASSWORD });
    let good = anyone.post("/login").json(&good).await.expect(200);
    assert_eq!(good.header("content-type"), "application/json");
}

on_every_shape!(
    errors_are_problem_details_on_request,
    clients_that_prefer_json_get_json,
    fixed_error_bodies_are_not_negotiated,
);
