//! Credentials: sessions, bearer tokens, both, neither; scopes and error responses.

use serde_json::json;
use tests::{SharedWorld, TokenForger, caller_with_scope, on_every_shape};

async fn missing_credentials_answer_401_with_the_metadata_address(world: SharedWorld) {
    for path in ["/posts", "/me", "/protected"] {
        let reply = world
            .anyone()
            .get(path)
            .await
            .expect_error(401, "unauthenticated");
        let challenge = reply.header("www-authenticate");
        let metadata = format!(
            "resource_metadata=\"{}/.well-known/oauth-protected-resource\"",
            world.base()
        );
        assert!(
            challenge.starts_with("Bearer ") && challenge.contains(&metadata),
            "{challenge}"
        );
        assert!(!challenge.contains("error="), "{challenge}");
    }
    let metadata = world
        .anyone()
        .get("/.well-known/oauth-protected-resource")
        .await
        .expect(200)
        .json();
    assert_eq!(metadata["resource"], json!(world.base()));
    assert_eq!(metadata["authorization_servers"], json!([world.base()]));
    // Clients that are told nothing else ask for these scopes, so `admin` is not among them.
    assert_eq!(
        metadata["scopes_supported"],
        json!(["posts:read", "profile:read"])
    );
}

/// A version prefix makes no difference, and neither does a token that is not valid.
async fn a_401_names_the_scope_of_the_route(world: SharedWorld) {
    let anyone = world.anyone();
    for prefix in ["", "/v1"] {
        let posts = format!("{prefix}/posts");
        for (call, scope) in [
            (anyone.get(&posts), Some("posts:read")),
            (anyone.call("HEAD", &posts), Some("posts:read")),
            (anyone.post(&posts), Some("posts:write")),
            (anyone.delete(&format!("{posts}/1")), Some("posts:write")),
            (anyone.get(&format!("{prefix}/users/1")), Some("profile:read")),
            (anyone.bearer("nonsense").get(&posts), Some("posts:read")),
            (anyone.bearer("nonsense").get(&format!("{posts}/1")), None),
            (anyone.get(&format!("{prefix}/me/sessions")), None),
            (anyone.get(&format!("{prefix}/protected")), None),
        ] {
            let reply = call.await.expect(401);
            let challenge = reply.header("www-authenticate");
            let expected = scope.map(|scope| format!("scope=\"{scope}\", resource_metadata="));
            match expected {
                Some(expected) => assert!(challenge.contains(&expected), "{reply}"),
                None => assert!(!challenge.contains("scope="), "{reply}"),
            }
        }
    }
}

async fn a_missing_scope_is_named_in_the_challenge(world: SharedWorld) {
    let user = world.user().await;
    let post = user.publish("A post").await;
    let none = caller_with_scope(&world, &user, "comments:write").await;
    let body = json!({ "title": "x" });
    for (call, scope) in [
        (none.get("/posts"), "posts:read"),
        (none.get("/me"), "profile:read"),
        (none.post("/posts").json(&body), "posts:write"),
        (none.patch(&post.path).json(&body), "posts:write"),
        (none.delete(&post.path), "posts:write"),
    ] {
        let reply = call.await.expect_error(403, "insufficient_scope");
        let challenge = reply.header("www-authenticate");
        let expected = [
            "Bearer ".to_owned(),
            "error=\"insufficient_scope\"".to_owned(),
            format!("scope=\"{scope}\""),
        ];
        assert!(
            expected.iter().all(|part| challenge.contains(part.as_str())),
            "{challenge}"
        );
    }
    user.get(&post.path).await.expect(200);
}

async fn each_scope_allows_only_its_own_operations(world: SharedWorld) {
    let user = world.user().await;
    let post = user.publish("A post").await;
    let read = caller_with_scope(&world, &user, "posts:read").await;
    read.get("/posts").await.expect(200);
    read.get("/me").await.expect_error(403, "insufficient_scope");
    let write = caller_with_scope(&world, &user, "posts:write").await;
    write
        .post("/posts")
        .json(&json!({ "title": "Another" }))
        .await
        .expect(201);
    write.get("/posts").await.expect_error(403, "insufficient_scope");
    let profile = caller_with_scope(&world, &user, "profile:read").await;
    assert_eq!(
        profile.get("/me").await.expect(200).json()["auth"]["scope"],
        "profile:read"
    );
    for any in [read, write, profile] {
        any.get(&post.path).await.expect(200);
        any.get("/protected").await.expect(200);
    }
}

async fn tokens_are_limited_by_the_role_of_their_user(world: SharedWorld) {
    let (author, user) = (world.user().await, world.user().await);
    let post = author.publish("A post").await;
    let caller = caller_with_scope(&world, &user, "posts:read posts:write admin").await;
    let edit = caller
        .patch(&post.path)
        .header("if-match", &post.etag)
        .json(&json!({ "title": "Mine" }));
    edit.await.expect_error(403, "forbidden");
}

async fn invalid_bearer_tokens_are_rejected_on_public_routes(world: SharedWorld) {
    let user = world.user().await;
    let post = user.publish("A post").await;
    world
        .anyone()
        .bearer("nonsense")
        .get(&post.path)
        .await
        .expect_error(401, "invalid_token");
    world
        .anyone()
        .cookies("sid=stale")
        .get(&post.path)
        .await
        .expect(200);
    world.anyone().get(&post.path).await.expect(200);
}

async fn the_bearer_token_takes_precedence_over_the_session(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let token = TokenForger::new(&world, &bob).await.good();
    let both = ann.with("authorization", &format!("Bearer {token}"));
    assert_eq!(both.get("/me").await.expect(200).json()["id"], json!(bob.id));
    let bad = ann.with("authorization", "Bearer nonsense");
    bad.get("/me").await.expect_error(401, "invalid_token");
}

async fn the_bearer_scheme_is_case_insensitive_and_header_only(world: SharedWorld) {
    let user = world.user().await;
    let token = TokenForger::new(&world, &user).await.good();
    let anyone = world.anyone();
    world.register_secret(&token);
    for scheme in ["Bearer", "bearer", "BEARER"] {
        anyone
            .with("authorization", &format!("{scheme} {token}"))
            .get("/protected")
            .await
            .expect(200);
    }
    for value in [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {token} x"),
        format!("Bearer,{token}"),
    ] {
        let reply = anyone.with("authorization", &value).get("/protected").await;
        assert!([400, 401].contains(&reply.status), "{value:.20}: {reply}");
    }
    let other = anyone
        .with("authorization", &format!("Basic {token}"))
        .get("/protected")
        .await;
    other.expect(401);
    anyone
        .get(&format!("/protected?access_token={token}"))
        .await
        .expect_error(401, "unauthenticated");
    let form = anyone
        .post("/posts")
        .form(&[("access_token", token.as_str()), ("title", "x")]);
    form.await.expect_error(401, "unauthenticated");
}

async fn two_authorization_headers_are_rejected(world: SharedWorld) {
    let user = world.user().await;
    let token = TokenForger::new(&world, &user).await.good();
    let both = world
        .anyone()
        .bearer(&token)
        .with("authorization", &format!("Bearer {token}"));
    for path in ["/protected", "/me", "/posts"] {
        let reply = both.get(path).await;
        assert!([400, 401].contains(&reply.status), "{reply}");
    }
}

async fn sessions_and_bearer_tokens_are_not_interchangeable(world: SharedWorld) {
    let user = world.user().await;
    user.get("/protected").await.expect_error(401, "unauthenticated");
    let caller = caller_with_scope(&world, &user, "posts:read posts:write profile:read").await;
    let body = json!({ "current_password": user.password, "new_password": "another good password" });
    let refused = caller.call("PUT", "/me/password").json(&body).await;
    assert!([401, 403].contains(&refused.status), "{refused}");
    let refused = caller.post("/logout").await;
    assert!([401, 403].contains(&refused.status), "{refused}");
    user.get("/me").await.expect(200);
}

async fn tokens_of_unknown_users_are_rejected(world: SharedWorld) {
    let user = world.user().await;
    let forger = TokenForger::new(&world, &user).await;
    for sub in [
        "999999",
        "0",
        "-1",
        "+1",
        "01",
        "abc",
        "",
        " 1",
        "99999999999999999999",
    ] {
        let reply = world
            .anyone()
            .bearer(&forger.with_claim("sub", json!(sub)))
            .get("/me")
            .await;
        assert!([401, 403].contains(&reply.status), "sub {sub:?}: {reply}");
    }
}

on_every_shape!(
    missing_credentials_answer_401_with_the_metadata_address,
    a_401_names_the_scope_of_the_route,
    a_missing_scope_is_named_in_the_challenge,
    each_scope_allows_only_its_own_operations,
    tokens_are_limited_by_the_role_of_their_user,
    invalid_bearer_tokens_are_rejected_on_public_routes,
    the_bearer_token_takes_precedence_over_the_session,
    the_bearer_scheme_is_case_insensitive_and_header_only,
    two_authorization_headers_are_rejected,
    sessions_and_bearer_tokens_are_not_interchangeable,
    tokens_of_unknown_users_are_rejected,
);
