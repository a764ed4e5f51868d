//! Credentials at `/admin/…`: every documented operation with every kind of caller. The table in
//! `api::permissions` has the status of each operation; these tests have the rest.

use foundation::scope::OF_API as SCOPES;
use serde_json::json;
use tests::{Caller, RawConnection, Reply, SharedWorld, TokenForger, User, World, on_every_shape};

/// The method and a path of every documented operation for administrators, without the forms of their pages.
/// No resource has the ids in the paths.
fn operations(world: &World) -> Vec<(String, String)> {
    let anyone = world.anyone();
    let documented = anyone.contract().operations().into_iter();
    let operations: Vec<_> = documented
        .filter(|(path, _, operation)| path.starts_with("/admin/") && operation["tags"] != json!(["Pages"]))
        .map(|(path, method, _)| {
            let path = path.replace("{id}", "none").replace("{kid}", "none");
            (method.to_uppercase(), path)
        })
        .collect();
    assert!(operations.len() > 10, "{operations:?}");
    operations
}

/// Sends an empty request of every operation. Expects this error.
async fn expect_refused(world: &World, caller: &Caller, status: u16, code: &str) {
    for (method, path) in operations(world) {
        let reply = caller.call(&method, &path).await.expect_error(status, code);
        if status == 401 {
            let expected = match code {
                "invalid_token" => "Bearer error=\"invalid_token\", scope=\"admin\"",
                _ => "Bearer scope=\"admin\"",
            };
            assert_eq!(reply.header("www-authenticate"), expected, "{reply}");
        }
        if code == "insufficient_scope" {
            let challenge = "Bearer error=\"insufficient_scope\", scope=\"admin\"";
            assert_eq!(reply.header("www-authenticate"), challenge, "{reply}");
        }
    }
}

/// Expects that a request passed all checks of its credentials.
fn expect_authorized(reply: &Reply) {
    assert!(
        [200, 201, 404, 409, 415].contains(&reply.status),
        "not authorized: {reply}"
    );
}

/// Creates an administrator who has not replaced the initial password, and signs in.
async fn with_initial_password(world: &World) -> User {
    let email = world.fresh_email();
    let args = ["users", "create", "--email", &email, "--role", "admin", "--json"];
    let created = world.cli(&args, "");
    world
        .log_in(&email, created["initial_password"].as_str().unwrap())
        .await
}

async fn only_administrators_are_authorized(world: SharedWorld) {
    let (user, editor) = (world.user().await, world.user_with_role("editor").await);
    expect_refused(&world, &world.anyone(), 401, "unauthenticated").await;
    for caller in [&user, &editor] {
        expect_refused(&world, caller, 403, "forbidden").await;
    }
    let new_admin = with_initial_password(&world).await;
    expect_refused(&world, &new_admin, 403, "password_change_required").await;
    let (admin, app) = (world.user_with_role("admin").await, world.app().register());
    let token = app.tokens(&admin, "admin").await.access;
    for caller in [Caller::clone(&admin), world.anyone().bearer(&token)] {
        for (method, path) in operations(&world) {
            expect_authorized(&caller.call(&method, &path).await);
        }
    }
}

async fn a_session_needs_the_anti_forgery_token_for_changes(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let without_token = world.anyone().cookies(&format!("sid={}", admin.sid));
    let other_site = admin.with("origin", "https://attacker.test");
    for caller in [without_token, other_site] {
        for (method, path) in operations(&world) {
            let reply = caller.call(&method, &path).await;
            if method == "GET" {
                expect_authorized(&reply);
            } else {
                reply.expect_error(403, "csrf_mismatch");
            }
        }
    }
}

async fn a_token_needs_the_scope_and_the_role(world: SharedWorld) {
    let (user, admin) = (world.user().await, world.user_with_role("admin").await);
    let (app, anyone) = (world.app().register(), world.anyone());
    let all_but_admin = SCOPES[..6].join(" ");
    let token = app.tokens(&admin, &all_but_admin).await.access;
    expect_refused(&world, &anyone.bearer(&token), 403, "insufficient_scope").await;
    // A token that the issuer never issues: the role of its user does not allow its scope.
    let mut forger = TokenForger::new(&world, &user).await;
    forger.claims["scope"] = json!(SCOPES.join(" "));
    for roles in [json!(["user"]), json!(["editor"])] {
        let token = forger.with_claim("roles", roles);
        expect_refused(&world, &anyone.bearer(&token), 403, "insufficient_scope").await;
    }
    // The same for a client that acts for itself.
    forger.claims["sub"] = forger.claims["client_id"].clone();
    expect_refused(&world, &anyone.bearer(&forger.good()), 403, "forbidden").await;
    let service = world.app().kind("service").scope(&all_but_admin).register();
    let reply = service.token(&anyone, &[("grant_type", "client_credentials")]);
    let reply = reply.await.expect(200).json();
    let token = reply["access_token"].as_str().unwrap();
    expect_refused(&world, &anyone.bearer(token), 403, "insufficient_scope").await;
}

async fn revoked_and_malformed_tokens_are_refused(world: SharedWorld) {
    let (admin, app) = (world.user_with_role("admin").await, world.app().register());
    let (anyone, tokens) = (world.anyone(), app.tokens(&admin, "admin").await);
    let by_token = anyone.bearer(&tokens.access);
    by_token.get("/admin/keys").await.expect(200);
    let revoked = app.client_call(&anyone, "/revoke", &[("token", &tokens.refresh)]);
    revoked.await.expect(200);
    world.expect_revoked(&tokens.access).await;
    tests::eventually("an issuer accepts the token", async || {
        let mut statuses = Vec::new();
        for port in world.issuer_ports() {
            let issuer = by_token.at(&format!("http://localhost:{port}"));
            statuses.push(issuer.get("/admin/keys").await.status);
        }
        statuses.iter().all(|status| *status == 401)
    })
    .await;
    expect_refused(&world, &by_token, 401, "invalid_token").await;
    expect_refused(&world, &anyone.bearer("x"), 401, "invalid_token").await;
}

/// A token of an administrator ends with the role.
async fn a_former_administrator_is_refused(world: SharedWorld) {
    let (admin, app) = (world.user_with_role("admin").await, world.app().register());
    let by_token = world.anyone().bearer(&app.tokens(&admin, "admin").await.access);
    let args = [
        "users",
        "set-role",
        "--email",
        &admin.email,
        "--role",
        "user",
        "--json",
    ];
    world.user_with_role("admin").await;
    world.cli(&args, "");
    tests::eventually("the former administrator is accepted", async || {
        by_token.get("/admin/keys").await.status == 401
    })
    .await;
}

async fn an_authorization_header_decides(world: SharedWorld) {
    let (user, admin) = (world.user().await, world.user_with_role("admin").await);
    let token = world.app().register().tokens(&user, "posts:read").await.access;
    let header = |value: &str| admin.with("authorization", value);
    let of_user = header(&format!("Bearer {token}"));
    expect_refused(&world, &of_user, 403, "insufficient_scope").await;
    expect_refused(&world, &header("Basic YTpi"), 401, "unauthenticated").await;
    let twice = header("Bearer x").with("authorization", "Bearer x");
    for (method, path) in operations(&world) {
        let reply = twice.call(&method, &path).await;
        reply.expect_error(400, "invalid_token");
    }
}

/// The session was valid when the request began, and has ended when its body arrives.
async fn credentials_that_end_before_the_body_change_nothing(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let body = json!({ "id": "late", "name": "Late", "type": "service", "scope": "posts:read" }).to_string();
    let mut raw = RawConnection::connect(world.issuer_ports()[0]).await;
    raw.send(format!(
        "POST /admin/clients HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\ncookie: sid={}; csrf=x\r\nx-csrf-token: x\r\nexpect: 100-continue\r\n\
         connection: close\r\n\r\n",
        body.len(),
        admin.sid,
    ))
    .await;
    // The program sends this status when it begins to read the body, which is after the first check of the
    // session.
    raw.read_until("100 Continue").await;
    admin.post("/logout").await.expect(204);
    raw.send(&body).await;
    let answer = raw.read_to_end().await;
    assert!(answer.contains("HTTP/1.1 401"), "{answer}");
    let clients = world.cli(&["clients", "list", "--json"], "");
    let mut clients = clients.as_array().unwrap().iter();
    assert!(clients.all(|client| client["id"] != "late"));
}

on_every_shape!(
    only_administrators_are_authorized,
    a_session_needs_the_anti_forgery_token_for_changes,
    a_token_needs_the_scope_and_the_role,
    revoked_and_malformed_tokens_are_refused,
    a_former_administrator_is_refused,
    an_authorization_header_decides,
    credentials_that_end_before_the_body_change_nothing,
);
