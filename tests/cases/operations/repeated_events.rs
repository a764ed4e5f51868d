//! Security events that a client can cause in any number are counted by user, route and minute.

use super::security_events::counted;
use serde_json::json;
use std::time::Duration;
use tests::{Shape, Tokens, World, eventually, on_every_shape};

/// A client with one user repeats what it is allowed to do, and what it is not, from many networks.
async fn repeated_grants_revocations_and_refusals_are_counted_by_user(shape: Shape) {
    const REPETITIONS: i64 = 20;
    let builder = World::builder(shape).clock();
    let world = builder.flag("--trusted-proxies", "127.0.0.1").start().await;
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let (app, post) = (world.app().first_party().register(), bob.publish("A post").await);
    let (anyone, mut browser) = (world.anyone(), ann.browser());
    let create = |title: &str| {
        let post = json!({ "title": title });
        ann.post("/posts")
            .header("idempotency-key", "one-key")
            .json(&post)
    };
    create("A first post").await.expect(201);
    for n in 0..REPETITIONS {
        // A code that is used twice while its tokens live.
        let grant = app.authorize(&mut browser, &ann, "posts:read").await;
        Tokens::parse(app.exchange(&anyone, &grant).await);
        app.exchange(&anyone, &grant)
            .await
            .expect_token_error(400, "invalid_grant");
        let conflict = create(&format!("post {n}"));
        conflict.await.expect_problem(422, "idempotency_key_reused");
        let grant = app.authorize(&mut browser, &ann, "posts:read").await;
        let tokens = Tokens::parse(app.exchange(&anyone, &grant).await);
        for token in [&tokens.access, &tokens.refresh] {
            let revocation = app.client_call(&anyone, "/revoke", &[("token", token)]);
            revocation.await.expect(200);
        }
        app.exchange(&anyone, &grant)
            .await
            .expect_token_error(400, "invalid_grant");
        let of_another = ann.with("x-forwarded-for", &format!("2001:db8:{n}::1"));
        of_another.delete(&post.path).await.expect_error(403, "forbidden");
    }
    world.advance(Duration::from_secs(60));
    for (name, sent) in [
        ("authz_consent", 1),
        ("authz_access_renewed", 2 * REPETITIONS - 1),
        ("authn_token_revoked", 3 * REPETITIONS),
        ("authn_code_reuse", 2 * REPETITIONS),
        ("idempotency_conflict", REPETITIONS),
        ("authz_fail", REPETITIONS),
    ] {
        eventually("the counts were not written", || async {
            counted(&world, name).await.1 == sent
        })
        .await;
        // Each of two processes has the first of a minute and the number of the others, in at most three
        // minutes.
        let (rows, _) = counted(&world, name).await;
        assert!(rows <= 12, "{rows} rows of {name}");
    }
}

/// A client that registered itself changes itself again and again.
async fn repeated_changes_of_a_client_by_itself_are_counted(shape: Shape) {
    const REPETITIONS: i64 = 20;
    let builder = World::builder(shape).clock();
    let world = builder.flag("--client-registration", "open").start().await;
    let metadata = json!({
        "client_name": "An app", "redirect_uris": ["https://app.test/cb"], "token_endpoint_auth_method": "none",
    });
    let registered = world.anyone().post("/register").json(&metadata).await;
    let registered = registered.expect(201).json();
    let manager = registered["registration_access_token"].as_str().unwrap();
    let manager = world.anyone().bearer(manager);
    let path = format!("/register/{}", registered["client_id"].as_str().unwrap());
    for _ in 0..REPETITIONS {
        manager.call("PUT", &path).json(&registered).await.expect(200);
    }
    world.advance(Duration::from_secs(60));
    eventually("the counts were not written", || async {
        counted(&world, "client_updated").await.1 == REPETITIONS
    })
    .await;
    let (rows, _) = counted(&world, "client_updated").await;
    assert!(rows <= 12, "{rows} rows");
}

on_every_shape!(
    repeated_grants_revocations_and_refusals_are_counted_by_user,
    repeated_changes_of_a_client_by_itself_are_counted,
);
