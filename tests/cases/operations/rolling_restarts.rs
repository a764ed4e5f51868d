//! Replicas are restarted one after the other while clients call. No client notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tests::{
    Call, FakeIssuer, Shape, Signer, TokenForger, World, eventually, on_every_shape, on_many_processes,
    rounds,
};

/// A client that waits for each response before its next request.
async fn call_until(stop: Arc<AtomicBool>, call: impl Fn() -> Call) -> usize {
    let mut calls = 0;
    while !stop.load(Ordering::Relaxed) {
        call().await.expect(200);
        calls += 1;
    }
    calls
}

async fn no_read_fails_while_replicas_restart_one_by_one(mut world: World) {
    let (user, app) = world.user_and_app().await;
    let post = user.publish("A post").await;
    let bearer = world
        .anyone()
        .bearer(&app.tokens(&user, "posts:read profile:read").await.access);
    let stop = Arc::<AtomicBool>::default();
    let clients = [
        (bearer.clone(), post.path.clone()),
        (bearer, "/protected".to_owned()),
        ((*user).clone(), "/me".to_owned()),
        (world.anyone(), post.path),
        (world.anyone(), "/.well-known/jwks.json".to_owned()),
    ];
    let clients =
        clients.map(|(caller, path)| tokio::spawn(call_until(Arc::clone(&stop), move || caller.get(&path))));
    for _ in 0..rounds(1, 10) {
        for port in [world.api_ports(), world.issuer_ports()].concat() {
            world.restart_under_load(port).await;
        }
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        assert!(client.await.unwrap() > 0);
    }
}

/// The process has no key of the issuer yet, which a token needs.
async fn a_process_that_has_just_started_waits_for_its_first_keys(shape: Shape) {
    let signer = Signer::unknown("the-key");
    let issuer = FakeIssuer::start(&[&signer]).await;
    let setup = World::builder(shape).env("LATCHKEY_JWKS_URL", &issuer.jwks_url);
    let mut world = setup.start().await;
    let user = world.sign_up().await;
    let mut forger = TokenForger::new(&world, &user).await;
    forger.header["kid"] = serde_json::json!(signer.kid);
    forger.signer = signer;
    let bearer = world.anyone().bearer(&forger.good());
    bearer.get("/protected").await.expect(200);
    world.stop().await;
    issuer.answer(503, "");
    world.restart_unready().await;
    let replicas = world.at_each_api(&bearer).into_iter();
    let calls: Vec<_> = replicas
        .map(|replica| tokio::spawn(replica.get("/protected").into_future()))
        .collect();
    // After another failed fetch, the requests wait.
    let before = issuer.fetches();
    eventually("the keys are not fetched again", async || {
        issuer.fetches() > before
    })
    .await;
    issuer.publish(&[&forger.signer]);
    for call in calls {
        call.await.unwrap().expect(200);
    }
}

on_many_processes!(no_read_fails_while_replicas_restart_one_by_one);
on_every_shape!(a_process_that_has_just_started_waits_for_its_first_keys);
