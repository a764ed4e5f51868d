//! The OpenAPI document: complete, consistent with the routes, and published by the program. The harness
//! validates every response against it in every test.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{Chromium, SharedWorld, UNDOCUMENTED, on_every_shape};

/// A documented path with its parameters filled in.
fn fill_parameters(path: &str) -> String {
    path.replace("{id}", "1")
        .replace("{comment_id}", "1")
        .replace("{kid}", "1")
}

async fn operations_are_described_with_their_errors(world: SharedWorld) {
    let anyone = world.anyone();
    let contract = anyone.contract();
    assert_eq!(contract.document["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    for (path, method, operation) in contract.operations() {
        let what = format!("{method} {path}");
        for member in ["operationId", "summary", "description"] {
            assert!(operation[member].is_string(), "{what} has no {member}");
        }
        assert!(
            ids.insert(operation["operationId"].as_str()),
            "{what}: duplicate operationId"
        );
        assert!(
            operation["security"].is_array(),
            "{what} has no security requirement"
        );
        assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{what}");
        let responses = operation["responses"].as_object().unwrap();
        let errors = responses.iter().filter(|(status, _)| status.as_str() >= "400");
        assert!(errors.clone().count() >= 2, "{what}");
        for (status, error) in errors {
            let content = contract.resolve(error)["content"].as_object().unwrap();
            assert!(!content.is_empty(), "{what} {status}");
            for (media_type, content) in content {
                let has_example = content["examples"].is_object() || !content["example"].is_null();
                assert!(has_example, "{what} {status} {media_type} has no example");
            }
        }
    }
    assert!(ids.len() > 20, "{ids:?}");
}

/// Collects every `example`, and every value of `examples`, with its schema.
fn examples<'a>(value: &'a Value, found: &mut Vec<(&'a Value, &'a Value)>) {
    match value {
        Value::Object(members) => {
            if let Some(schema) = members.get("schema") {
                found.extend(members.get("example").map(|example| (schema, example)));
                let many = members.get("examples").and_then(Value::as_object);
                let values = many.into_iter().flat_map(|many| many.values());
                found.extend(values.map(|example| (schema, &example["value"])));
            } else if let Some(example) = members.get("example").filter(|_| members.contains_key("type")) {
                found.push((value, example));
            }
            members.values().for_each(|member| examples(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| examples(item, found)),
        _ => {}
    }
}

async fn examples_match_their_schemas(world: SharedWorld) {
    let anyone = world.anyone();
    let contract = anyone.contract();
    let mut found = Vec::new();
    examples(&contract.document, &mut found);
    assert!(found.len() > 30, "{} examples", found.len());
    for (schema, example) in found {
        let errors = contract.schema_errors(&schema.to_string(), schema, example);
        assert!(errors.is_empty(), "{example}: {errors:?}\n{schema}");
    }
}

async fn paths_have_exactly_the_documented_methods(world: SharedWorld) {
    let anyone = world.anyone();
    let operations = anyone.contract().operations();
    let paths: BTreeSet<&str> = operations.iter().map(|(path, ..)| *path).collect();
    for path in paths {
        let methods = operations
            .iter()
            .filter(|(of, ..)| *of == path)
            .map(|(_, method, _)| method.to_uppercase());
        let mut documented: BTreeSet<String> = methods.collect();
        if documented.contains("GET") {
            documented.insert("HEAD".to_owned());
        }
        let reply = anyone.call("OPTIONS", &fill_parameters(path)).await.expect(204);
        let allowed = reply
            .header("allow")
            .split(',')
            .map(|method| method.trim().to_owned());
        let allowed: BTreeSet<String> = allowed.filter(|method| method != "OPTIONS").collect();
        assert_eq!(allowed, documented, "{path}");
        for method in ["TRACE", "BREW"] {
            anyone
                .call(method, &fill_parameters(path))
                .await
                .expect_error(405, "method_not_allowed");
        }
    }
}

async fn undocumented_paths_are_known_pages(world: SharedWorld) {
    for path in UNDOCUMENTED {
        assert!(
            world.anyone().contract().document["paths"][path].is_null(),
            "{path}"
        );
    }
    for path in ["/docs/index.html", "/docs/a/b", "/openapi.yaml", "/users/1/posts"] {
        world.anyone().get(path).await.expect_error(404, "not_found");
    }
}

/// The scopes of an operation in the alternatives of `security`. `None` if the operation is public.
fn scopes(operation: &Value) -> Option<BTreeSet<&str>> {
    let alternatives = operation["security"].as_array().unwrap();
    let is_open = alternatives.is_empty() || alternatives.contains(&json!({}));
    let scopes = alternatives
        .iter()
        .flat_map(|one| one["oauth2"].as_array().into_iter().flatten());
    (!is_open).then(|| scopes.filter_map(Value::as_str).collect())
}

async fn security_requirements_are_as_documented(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let all = [
        "posts:read",
        "posts:write",
        "comments:write",
        "payments:read",
        "payments:write",
        "profile:read",
    ];
    for (path, method, operation) in world.anyone().contract().operations() {
        let Some(needed) = scopes(operation) else { continue };
        // The token of a registration is none of a user: `oauth::registration::management` tests it.
        if operation["security"] == json!([{ "registration": [] }]) {
            continue;
        }
        let (method, path) = (method.to_uppercase(), fill_parameters(path));
        let reply = world
            .anyone()
            .call(&method, &path)
            // Without a key a payment is rejected before authentication.
            .key("a-key")
            .await
            .expect_error(401, "unauthenticated");
        assert!(reply.has("www-authenticate"), "{reply}");
        let others: Vec<&str> = all.into_iter().filter(|scope| !needed.contains(scope)).collect();
        let token = app.tokens(&user, &others.join(" ")).await.access;
        let reply = user.bearer(&token).call(&method, &path).key("a-key").await;
        if needed.is_empty() {
            let asks_for_token = operation["security"] == json!([{ "oauth2": [] }]);
            assert_eq!(reply.status, if asks_for_token { 200 } else { 403 }, "{reply}");
        } else {
            let reply = reply.expect_error(403, "insufficient_scope");
            let named = |scope: &&str| {
                reply
                    .header("www-authenticate")
                    .contains(&format!("scope=\"{scope}\""))
            };
            assert!(needed.iter().any(named), "{reply}");
        }
    }
}

async fn the_document_is_cacheable(world: SharedWorld) {
    let reply = world.anyone().get("/openapi.json").await.expect(200);
    assert_eq!(reply.header("content-type"), "application/json");
    assert!(reply.header("cache-control").contains("max-age="), "{reply}");
    let etag = reply.header("etag").to_owned();
    let again = world
        .anyone()
        .get("/openapi.json")
        .header("if-none-match", &etag)
        .await
        .expect(304);
    assert!(again.body.is_empty(), "{again}");
    let document = reply.json();
    let urls: Vec<_> = document["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| &server["url"])
        .collect();
    assert_eq!(
        urls,
        [&json!(world.base()), &json!(format!("{}/v1", world.base()))]
    );
    let flow = &document["components"]["securitySchemes"]["oauth2"]["flows"]["authorizationCode"];
    assert_eq!(flow["authorizationUrl"], format!("{}/authorize", world.base()));
    assert_eq!(flow["tokenUrl"], format!("{}/token", world.base()));
}

async fn swagger_ui_shows_the_document_and_loads_only_own_assets(world: SharedWorld) {
    let reply = world.anyone().get("/docs/try").await.expect(200);
    assert_eq!(reply.header("cache-control"), "no-store");
    let policy = reply.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"),
        "{policy}"
    );
    let connections = format!("connect-src 'self' {};", world.base());
    assert!(policy.contains(&connections), "{policy}");
    let others = policy.replace(&connections, "");
    assert!(!others.contains("unsafe") && !others.contains("http"), "{policy}");
    let page = reply.text();
    assert!(
        !page.contains("://") && !page.contains("<style") && !page.contains("style="),
        "{page}"
    );
    for asset in [
        "/docs/swagger-ui.css",
        "/docs/swagger-ui-bundle.js",
        "/docs/try.css",
        "/docs/try.js",
    ] {
        assert!(page.contains(asset), "{page}");
        world.anyone().get(asset).await.expect(200);
    }
    let browser = Chromium::with_scripts().await;
    browser.open(&format!("{}/docs/try", world.base())).await;
    browser.expect("operations-Posts-createPost").await;
}

on_every_shape!(
    operations_are_described_with_their_errors,
    examples_match_their_schemas,
    paths_have_exactly_the_documented_methods,
    undocumented_paths_are_known_pages,
    security_requirements_are_as_documented,
    the_document_is_cacheable,
    swagger_ui_shows_the_document_and_loads_only_own_assets,
);
