//! A proof is accepted once, by one replica, with and without Redis.

use super::{bound_tokens, token_request};
use tests::{
    App, Caller, ProofKey, Proven, Reply, Shape, User, World, asks_for_nonce, eventually, on_every_shape,
    on_many_processes, run_concurrently, status_counts,
};

const CALLERS: usize = 50;

/// A bound access token with its key.
struct Fixture {
    world: World,
    user: User,
    app: App,
    key: ProofKey,
    token: String,
    request: Proven,
}

impl Fixture {
    async fn create(world: World) -> Self {
        let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
        let token = bound_tokens(&world, &app, &user, &key, "profile:read")
            .await
            .access;
        Self {
            request: Proven::new("GET", &format!("{}/me", world.base())).token(&token),
            world,
            user,
            app,
            key,
            token,
        }
    }

    /// Callers with the token, one for each API process.
    fn apis(&self) -> Vec<Caller> {
        self.world.at_each_api(&self.world.anyone().dpop(&self.token))
    }

    /// A new proof without a nonce, of a client whose clock is ahead by this number of seconds.
    fn proof_made_in(&self, seconds: i64) -> String {
        let mut claims = self.request.claims();
        claims["iat"] = (self.world.now().seconds() + seconds).into();
        self.key.sign(&self.key.header(), &claims)
    }

    /// A new proof that this API accepts, with a nonce if it needs one.
    async fn proof_for(&self, api: &Caller) -> String {
        let reply = read(api, &self.key.proof(&self.request)).await;
        match asks_for_nonce(&reply) {
            Some(nonce) => self.key.proof(&self.request.nonce(&nonce)),
            None => self.key.proof(&self.request),
        }
    }
}

async fn read(api: &Caller, proof: &str) -> Reply {
    api.get("/me").header("dpop", proof).await
}

/// Expects that a proof which was used, or which is bound to another replica, is refused.
fn expect_refused(reply: &Reply) {
    let body = reply.json();
    let is_refusal = body["code"] == "invalid_dpop_proof" || body["code"] == "use_dpop_nonce";
    assert!(reply.status == 401 && is_refusal, "{reply}");
}

/// Waits until every API reaches a Redis that just started. Proofs without a nonce show it if they cannot
/// have been used before the start: those of a client whose clock is ahead by almost as much as is accepted.
async fn wait_for_redis(fixture: &Fixture) {
    for api in fixture.apis() {
        eventually("an API does not reach Redis", async || {
            let proof = fixture.proof_made_in(29);
            read(&api, &proof).await.status == 200
        })
        .await;
    }
}

/// Uses a proof many times at once, in turn at each API.
async fn read_at_once(apis: &[Caller], proof: &str) -> Vec<Reply> {
    run_concurrently(CALLERS, |n| {
        let call = apis[n % apis.len()].get("/me");
        call.header("dpop", proof).into_future()
    })
    .await
}

async fn concurrent_uses_of_a_proof_succeed_once(world: World) {
    let fixture = Fixture::create(world).await;
    let apis = fixture.apis();
    for round in 0..20 {
        let proof = fixture.proof_for(&apis[0]).await;
        let replies = read_at_once(&apis, &proof).await;
        let counts = status_counts(&replies);
        assert_eq!(counts, [(200, 1), (401, CALLERS - 1)].into(), "round {round}");
    }
}

async fn concurrent_token_requests_with_a_proof_succeed_once(world: World) {
    let Fixture {
        world,
        user,
        app,
        key,
        ..
    } = Fixture::create(world).await;
    let issuers = world.at_each_issuer(&world.anyone());
    let request = token_request(&world);
    let first = app
        .refresh(&issuers[0], "x")
        .header("dpop", &key.proof(&request))
        .await;
    let request = asks_for_nonce(&first).map_or(request.clone(), |nonce| request.nonce(&nonce));
    // Different codes, so that only the proof can refuse.
    let mut grants = Vec::new();
    for _ in 0..10 {
        grants.push(app.authorize(&mut user.browser(), &user, "posts:read").await);
    }
    let proof = key.proof(&request);
    let replies = run_concurrently(grants.len(), |n| {
        let call = app.exchange(&issuers[n % issuers.len()], &grants[n]);
        call.header("dpop", &proof).into_future()
    });
    let counts = status_counts(&replies.await);
    assert_eq!(counts, [(200, 1), (400, 9)].into());
}

/// The memory of used proofs is lost, so proofs from before are refused by their nonces.
async fn a_proof_from_before_a_restart_is_refused(world: World) {
    let mut fixture = Fixture::create(world).await;
    let proof = fixture.proof_for(&fixture.apis()[0]).await;
    read(&fixture.apis()[0], &proof).await.expect(200);
    fixture.world.stop().await;
    fixture.world.restart().await;
    for api in fixture.apis() {
        expect_refused(&read(&api, &proof).await);
    }
    let proof = fixture.proof_for(&fixture.apis()[0]).await;
    read(&fixture.apis()[0], &proof).await.expect(200);
}

async fn a_replayed_proof_is_refused_at_every_replica(world: World) {
    let fixture = Fixture::create(world).await;
    for api in fixture.apis() {
        let proof = fixture.key.proof(&fixture.request);
        read(&api, &proof).await.expect(200);
        for other in fixture.apis() {
            read(&other, &proof).await.expect_error(401, "invalid_dpop_proof");
        }
    }
    let Fixture {
        world,
        user,
        app,
        key,
        ..
    } = &fixture;
    for issuer in world.at_each_issuer(&world.anyone()) {
        let proof = key.proof(&token_request(world));
        let grant = app.authorize(&mut user.browser(), user, "posts:read").await;
        app.exchange(&issuer, &grant)
            .header("dpop", &proof)
            .await
            .expect(200);
        for other in world.at_each_issuer(&world.anyone()) {
            let grant = app.authorize(&mut user.browser(), user, "posts:read").await;
            let replayed = app.exchange(&other, &grant).header("dpop", &proof).await;
            replayed.expect_token_error(400, "invalid_dpop_proof");
        }
    }
}

/// Expects that each issuer accepts a new proof for `/userinfo` at its first use only, and that the others
/// refuse it.
async fn expect_single_use_at_userinfo(fixture: &Fixture, token: &str) {
    let request = Proven::new("GET", &format!("{}/userinfo", fixture.world.base())).token(token);
    let issuers = fixture.world.at_each_issuer(&fixture.world.anyone().dpop(token));
    let send = async |issuer: &Caller, proof: &str| issuer.get("/userinfo").header("dpop", proof).await;
    for issuer in &issuers {
        let mut proof = fixture.key.proof(&request);
        let mut reply = send(issuer, &proof).await;
        if let Some(nonce) = asks_for_nonce(&reply) {
            proof = fixture.key.proof(&request.nonce(&nonce));
            reply = send(issuer, &proof).await;
        }
        reply.expect(200);
        for other in &issuers {
            expect_refused(&send(other, &proof).await);
        }
    }
}

async fn userinfo_accepts_a_proof_once(shape: Shape) {
    let fixture = Fixture::create(World::start(shape).await).await;
    let Fixture {
        world,
        user,
        app,
        key,
        ..
    } = &fixture;
    let token = bound_tokens(world, app, user, key, "openid").await.access;
    expect_single_use_at_userinfo(&fixture, &token).await;
    if shape == Shape::Split {
        world.redis().kill();
        expect_single_use_at_userinfo(&fixture, &token).await;
    }
}

async fn a_proof_costs_one_redis_command(world: World) {
    const PROOFS: usize = 20;
    let fixture = Fixture::create(world).await;
    let api = &fixture.apis()[0];
    // Redis has the script from the first proof on.
    fixture.proof_for(api).await;
    let monitor = fixture.world.redis().monitor();
    for _ in 0..PROOFS {
        read(api, &fixture.key.proof(&fixture.request)).await.expect(200);
    }
    let is_claim = |line: &&str| line.contains("{dpop}:") && !line.contains(" lua]");
    assert_eq!(monitor.stop().lines().filter(is_claim).count(), PROOFS);
}

async fn without_redis_each_replica_accepts_its_own_nonces_once(world: World) {
    let fixture = Fixture::create(world).await;
    let before = fixture.key.proof(&fixture.request);
    read(&fixture.apis()[0], &before).await.expect(200);
    fixture.world.redis().kill();
    let mut used = vec![before];
    for api in fixture.apis() {
        let without_nonce = read(&api, &fixture.key.proof(&fixture.request)).await;
        let nonce = without_nonce
            .expect_error(401, "use_dpop_nonce")
            .header("dpop-nonce")
            .to_owned();
        for _ in 0..2 {
            let proof = fixture.key.proof(&fixture.request.nonce(&nonce));
            read(&api, &proof).await.expect(200);
            used.push(proof);
        }
    }
    let expect_all_refused = async || {
        for proof in &used {
            for api in fixture.apis() {
                expect_refused(&read(&api, proof).await);
            }
        }
    };
    expect_all_refused().await;
    // Redis is back and empty. It knows none of the used proofs: each may be older than its data, or has the
    // nonce of one replica.
    fixture.world.redis().start();
    wait_for_redis(&fixture).await;
    expect_all_refused().await;
}

/// The clock of the client is ahead, so its proof looks younger than the data of the emptied Redis.
async fn a_proof_from_before_redis_was_emptied_is_refused(world: World) {
    let fixture = Fixture::create(world).await;
    for ahead in [0, 20] {
        fixture.world.redis().look_old();
        let proof = fixture.proof_made_in(ahead);
        read(&fixture.apis()[0], &proof).await.expect(200);
        fixture.world.redis().command(&["FLUSHALL"]);
        for api in fixture.apis() {
            expect_refused(&read(&api, &proof).await);
        }
        let proof = fixture.proof_for(&fixture.apis()[0]).await;
        read(&fixture.apis()[0], &proof).await.expect(200);
    }
}

/// Redis crashes and starts with its data from before the use of the proof.
async fn a_proof_from_before_a_crash_of_redis_is_refused(world: World) {
    let fixture = Fixture::create(world).await;
    let redis = fixture.world.redis();
    redis.save();
    let proofs = [fixture.proof_made_in(0), fixture.proof_made_in(20)];
    for proof in &proofs {
        read(&fixture.apis()[0], proof).await.expect(200);
    }
    redis.kill();
    redis.start_from_snapshot();
    wait_for_redis(&fixture).await;
    for api in fixture.apis() {
        for proof in &proofs {
            expect_refused(&read(&api, proof).await);
        }
    }
    let proof = fixture.proof_for(&fixture.apis()[0]).await;
    read(&fixture.apis()[0], &proof).await.expect(200);
}

/// A client that keeps the nonce of one replica gets one for all replicas when Redis is back.
async fn nonces_are_for_all_replicas_when_redis_is_back(world: World) {
    let fixture = Fixture::create(world).await;
    let apis = fixture.apis();
    fixture.world.redis().kill();
    let refused = read(&apis[0], &fixture.key.proof(&fixture.request)).await;
    let nonce = asks_for_nonce(&refused).unwrap();
    fixture.world.redis().start();
    fixture.world.redis().look_old();
    wait_for_redis(&fixture).await;
    let proof = fixture.key.proof(&fixture.request.nonce(&nonce));
    let accepted = read(&apis[0], &proof).await.expect(200);
    let shared = accepted.header("dpop-nonce").to_owned();
    let elsewhere = fixture.key.proof(&fixture.request.nonce(&nonce));
    let refused = read(&apis[1], &elsewhere)
        .await
        .expect_error(401, "use_dpop_nonce");
    for nonce in [&shared, refused.header("dpop-nonce")] {
        for api in &apis {
            let proof = fixture.key.proof(&fixture.request.nonce(nonce));
            read(api, &proof).await.expect(200);
            for other in &apis {
                read(other, &proof).await.expect_error(401, "invalid_dpop_proof");
            }
        }
    }
}

/// A replica that hangs on Redis asks for its own nonces, like one that cannot reach it.
async fn a_paused_redis_lets_no_proof_be_used_twice(shape: Shape) {
    let setup = World::builder(shape).default_time_limits();
    let fixture = Fixture::create(setup.start().await).await;
    let proof = fixture.key.proof(&fixture.request);
    fixture.world.redis().pause();
    for api in fixture.apis() {
        read(&api, &proof).await.expect_error(401, "use_dpop_nonce");
    }
    fixture.world.redis().resume();
    let apis = fixture.apis();
    let replies = read_at_once(&apis, &proof).await;
    let accepted = replies.iter().filter(|reply| reply.status == 200).count();
    assert!(accepted <= 1, "{accepted}");
}

on_every_shape!(
    concurrent_uses_of_a_proof_succeed_once,
    concurrent_token_requests_with_a_proof_succeed_once,
    a_proof_from_before_a_restart_is_refused,
    userinfo_accepts_a_proof_once,
);

on_many_processes!(
    a_proof_costs_one_redis_command,
    a_replayed_proof_is_refused_at_every_replica,
    without_redis_each_replica_accepts_its_own_nonces_once,
    a_proof_from_before_redis_was_emptied_is_refused,
    a_proof_from_before_a_crash_of_redis_is_refused,
    nonces_are_for_all_replicas_when_redis_is_back,
    a_paused_redis_lets_no_proof_be_used_twice,
);
