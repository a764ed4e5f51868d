//! Who may call: sessions, bearer tokens, both, neither; scopes and what a refusal says.

use serde_json::json;
use tests::{Forger, World, on_every_shape, with_scope};

async fn who_sends_nothing_is_told_where_to_get_a_token(world: World) {
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
}

async fn a_missing_scope_is_named(world: World) {
    let person = world.sign_up().await;
    let post = person.publish("A post").await;
    let none = with_scope(&world, &person, "comments:write").await;
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
    person.get(&post.path).await.expect(200);
}

async fn a_scope_opens_its_own_doors_alone(world: World) {
    let person = world.sign_up().await;
    let post = person.publish("A post").await;
    let read = with_scope(&world, &person, "posts:read").await;
    read.get("/posts").await.expect(200);
    read.get("/me").await.expect_error(403, "insufficient_scope");
    let write = with_scope(&world, &person, "posts:write").await;
    write
        .post("/posts")
        .json(&json!({ "title": "Another" }))
        .await
        .expect(201);
    write.get("/posts").await.expect_error(403, "insufficient_scope");
    let profile = with_scope(&world, &person, "profile:read").await;
    assert_eq!(
        profile.get("/me").await.expect(200).json()["auth"]["scope"],
        "profile:read"
    );
    for any in [read, write, profile] {
        any.get(&post.path).await.expect(200);
        any.get("/protected").await.expect(200);
    }
}

async fn a_token_allows_no_more_than_its_users_role(world: World) {
    let (author, person) = (world.sign_up().await, world.sign_up().await);
    let post = author.publish("A post").await;
    let caller = with_scope(&world, &person, "posts:read posts:write admin").await;
    let edit = caller
        .patch(&post.path)
        .header("if-match", &post.etag)
        .json(&json!({ "title": "Mine" }));
    edit.await.expect_error(403, "forbidden");
}

async fn an_invalid_bearer_is_refused_even_where_none_is_needed(world: World) {
    let person = world.sign_up().await;
    let post = person.publish("A post").await;
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

async fn where_both_come_the_bearer_decides(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let token = Forger::new(&world, &bob).await.good();
    let both = ann.with("authorization", &format!("Bearer {token}"));
    assert_eq!(both.get("/me").await.expect(200).json()["id"], json!(bob.id));
    let bad = ann.with("authorization", "Bearer nonsense");
    bad.get("/me").await.expect_error(401, "invalid_token");
}

async fn the_scheme_is_bearer_in_any_case_and_the_token_is_nowhere_else(world: World) {
    let person = world.sign_up().await;
    let token = Forger::new(&world, &person).await.good();
    let anyone = world.anyone();
    world.keep_secret(&token);
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

async fn two_authorization_headers_are_refused(world: World) {
    let person = world.sign_up().await;
    let token = Forger::new(&world, &person).await.good();
    let both = world
        .anyone()
        .bearer(&token)
        .with("authorization", &format!("Bearer {token}"));
    for path in ["/protected", "/me", "/posts"] {
        let reply = both.get(path).await;
        assert!([400, 401].contains(&reply.status), "{reply}");
    }
}

async fn a_session_is_no_bearer_and_a_bearer_no_session(world: World) {
    let person = world.sign_up().await;
    person
        .get("/protected")
        .await
        .expect_error(401, "unauthenticated");
    let caller = with_scope(&world, &person, "posts:read posts:write profile:read").await;
    let body = json!({ "current_password": person.password, "new_password": "another good password" });
    let refused = caller.call("PUT", "/me/password").json(&body).await;
    assert!([401, 403].contains(&refused.status), "{refused}");
    let refused = caller.post("/logout").await;
    assert!([401, 403].contains(&refused.status), "{refused}");
    person.get("/me").await.expect(200);
}

async fn a_token_of_a_user_who_is_not_there_is_refused(world: World) {
    let person = world.sign_up().await;
    let forger = Forger::new(&world, &person).await;
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
    who_sends_nothing_is_told_where_to_get_a_token,
    a_missing_scope_is_named,
    a_scope_opens_its_own_doors_alone,
    a_token_allows_no_more_than_its_users_role,
    an_invalid_bearer_is_refused_even_where_none_is_needed,
    where_both_come_the_bearer_decides,
    the_scheme_is_bearer_in_any_case_and_the_token_is_nowhere_else,
    two_authorization_headers_are_refused,
    a_session_is_no_bearer_and_a_bearer_no_session,
    a_token_of_a_user_who_is_not_there_is_refused,
);
