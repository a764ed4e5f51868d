//! Nonces that are always required (`DPOP=nonces`), even where the processes share a Redis.

use super::super::pushed_requests::fields;
use super::token_request;
use std::time::Duration;
use tests::{
    App, Call, Caller, ProofKey, Proven, Reply, Shape, Tokens, User, World, on_every_shape, send_with_proof,
};

/// The endpoints of the issuer that accept proofs, with their status after a success.
const ENDPOINTS: [(&str, u16); 3] = [("/token", 200), ("/par", 201), ("/userinfo", 200)];

/// A bound access token with its key, where nonces are required.
struct Fixture {
    world: World,
    user: User,
    app: App,
    service: App,
    key: ProofKey,
    token: String,
}

impl Fixture {
    async fn create(shape: Shape) -> Self {
        let world = World::builder(shape)
            .flag("--dpop", "nonces")
            .clock()
            .start()
            .await;
        let (user, app) = world.user_and_app().await;
        let service = world.app().kind("service").scope("posts:read").register();
        let mut fixture = Self {
            world,
            user,
            app,
            service,
            key: ProofKey::default(),
            token: String::new(),
        };
        fixture.token = fixture.bound_token().await;
        fixture
    }

    async fn bound_token(&self) -> String {
        let (mut browser, anyone) = (self.user.browser(), self.world.anyone());
        let scope = "profile:read openid";
        let grant = self.app.authorize(&mut browser, &self.user, scope).await;
        let exchange = || self.app.exchange(&anyone, &grant);
        let prove = |request: &Proven| self.proof(request);
        let reply = send_with_proof(&token_request(&self.world), prove, exchange).await;
        Tokens::parse(reply).access
    }

    /// A new proof, by the clock of the programs.
    fn proof(&self, request: &Proven) -> String {
        let mut claims = request.claims();
        claims["iat"] = self.world.now().seconds().into();
        self.key.sign(&self.key.header(), &claims)
    }

    fn issuers(&self) -> Vec<Caller> {
        self.world.at_each_issuer(&self.world.anyone())
    }

    /// Sends a request that can be repeated, with a new proof that has this nonce, to an endpoint of an
    /// issuer.
    async fn send(&self, issuer: &Caller, path: &str, nonce: Option<&str>) -> Reply {
        let url = format!("{}{path}", self.world.base());
        let request = match path {
            "/userinfo" => Proven::new("GET", &url).token(&self.token),
            _ => Proven::new("POST", &url),
        };
        let request = nonce.map_or(request.clone(), |nonce| request.nonce(nonce));
        let call = self.call(issuer, path);
        call.header("dpop", &self.proof(&request)).await
    }

    fn call(&self, issuer: &Caller, path: &str) -> Call {
        match path {
            "/token" => {
                let fields = [("grant_type", "client_credentials")];
                self.service.token(issuer, &fields)
            }
            "/par" => {
                let request = self.app.authorization().without("client_id");
                self.app.client_call(issuer, path, &fields(&request))
            }
            _ => issuer.dpop(&self.token).get(path),
        }
    }

    /// The nonce for which an endpoint of an issuer asks, if the proof has this one.
    async fn required_nonce(&self, issuer: &Caller, path: &str, nonce: Option<&str>) -> String {
        let refused = self.send(issuer, path, nonce).await;
        let refused = match path {
            "/userinfo" => refused.expect_error(401, "use_dpop_nonce"),
            _ => refused.expect_token_error(400, "use_dpop_nonce"),
        };
        refused.header("dpop-nonce").to_owned()
    }
}

async fn nonces_can_be_required_always(shape: Shape) {
    let fixture = Fixture::create(shape).await;
    let world = &fixture.world;
    let me = Proven::new("GET", &format!("{}/me", world.base())).token(&fixture.token);
    let caller = world.anyone().dpop(&fixture.token);
    let refused = caller.get("/me").header("dpop", &fixture.proof(&me)).await;
    let refused = refused.expect_error(401, "use_dpop_nonce");
    let nonce = refused.header("dpop-nonce");
    // It is accepted by every replica until it ends.
    for _ in 0..4 {
        let proof = fixture.proof(&me.nonce(nonce));
        caller.get("/me").header("dpop", &proof).await.expect(200);
    }
    for issuer in fixture.issuers() {
        for (path, status) in ENDPOINTS {
            let nonce = fixture.required_nonce(&issuer, path, None).await;
            fixture.send(&issuer, path, Some(&nonce)).await.expect(status);
        }
    }
}

async fn a_refusal_for_a_nonce_leaves_the_code_unused(shape: Shape) {
    let fixture = Fixture::create(shape).await;
    let Fixture { world, user, app, .. } = &fixture;
    let request = token_request(world);
    for issuer in fixture.issuers() {
        let grant = app.authorize(&mut user.browser(), user, "posts:read").await;
        let exchange = async |request: &Proven| {
            let call = app.exchange(&issuer, &grant);
            call.header("dpop", &fixture.proof(request)).await
        };
        let refused = exchange(&request).await.expect_token_error(400, "use_dpop_nonce");
        let nonce = refused.header("dpop-nonce");
        Tokens::parse(exchange(&request.nonce(nonce)).await);
    }
}

/// A client that keeps the latest nonce is never refused for one that ended.
async fn a_success_offers_the_next_nonce_before_the_present_one_ends(shape: Shape) {
    let fixture = Fixture::create(shape).await;
    let issuers = fixture.issuers();
    let mut kept = Vec::new();
    for issuer in &issuers {
        for (path, status) in ENDPOINTS {
            let nonce = fixture.required_nonce(issuer, path, None).await;
            kept.push((issuer, path, status, nonce));
        }
    }
    // At an age of 150 and of 299 seconds.
    for seconds in [150, 149] {
        fixture.world.advance(Duration::from_secs(seconds));
        for (issuer, path, status, nonce) in &kept {
            let reply = fixture.send(issuer, path, Some(nonce)).await.expect(*status);
            let next = reply.header("dpop-nonce");
            assert_ne!(next, nonce);
            fixture.send(issuer, path, Some(next)).await.expect(*status);
        }
    }
    fixture.world.advance(Duration::from_secs(1));
    for (issuer, path, status, nonce) in &kept {
        let next = fixture.required_nonce(issuer, path, Some(nonce)).await;
        fixture.send(issuer, path, Some(&next)).await.expect(*status);
    }
}

on_every_shape!(
    nonces_can_be_required_always,
    a_refusal_for_a_nonce_leaves_the_code_unused,
    a_success_offers_the_next_nonce_before_the_present_one_ends,
);
