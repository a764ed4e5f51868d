//! The sequences of those modules of the OpenID Foundation's plan for FAPI 2.0 that no other test goes
//! through, by apps that are registered as the Security Profile asks. `docs/develop/conformance.md` lists all
//! modules with their tests.

mod authorization_requests;
mod client_assertions;
mod proofs;
mod token_requests;

use super::pushed_requests::{reference, request_uri};
use serde_json::{Value, json};
use tests::{
    App, Authorization, Call, Grant, Page, ProofKey, Proven, Reply, Shape, Tokens, User, World, WorldBuilder,
    send_with_proof,
};
use url::Url;

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The redirect URI of the second client of the modules.
const WITH_QUERY: &str = "https://app.test/cb?dummy1=lorem&dummy2=ipsum";

/// The header and the claims of a proof.
#[derive(Clone)]
struct ProofParts {
    header: Value,
    claims: Value,
}

/// An app that signs its assertions, pushes its requests and proves that its tokens are its own.
struct FapiApp {
    app: App,
    /// The key of its assertions.
    key: ProofKey,
    /// The key of its tokens.
    proof_key: ProofKey,
}

/// A world whose issuer accepts only its own URL as the `aud` of assertions.
fn strict(shape: Shape) -> WorldBuilder {
    World::builder(shape).flag("--client-assertion-audience", "issuer")
}

impl FapiApp {
    fn register(world: &World, redirect_uri: &str) -> Self {
        let key = ProofKey::default();
        let file = world.data_dir().join(format!("{}.jwks", key.thumbprint()));
        std::fs::write(&file, json!({ "keys": [key.jwk()] }).to_string()).unwrap();
        let app = world
            .app()
            .kind("web")
            .redirect_uri(redirect_uri)
            .jwks(file.to_str().unwrap())
            .option(&["--require-par", "--dpop-bound", "--refresh-retry-window", "60s"])
            .register();
        Self {
            app,
            key,
            proof_key: ProofKey::default(),
        }
    }

    /// The claims of a new assertion.
    fn assertion_claims(&self, world: &World) -> Value {
        let now = world.now().seconds();
        json!({
            "iss": self.app.id, "sub": self.app.id, "aud": world.base(), "jti": foundation::random::id(),
            "iat": now, "nbf": now, "exp": now + 60,
        })
    }

    /// Signs an assertion with these claims.
    fn assertion(&self, claims: &Value) -> String {
        self.key.sign(&json!({ "alg": "ES256" }), claims)
    }

    /// Prepares a request with a new assertion.
    fn call(&self, world: &World, path: &str, fields: &[(&str, &str)]) -> Call {
        let assertion = self.assertion(&self.assertion_claims(world));
        call_with_assertion(world, path, fields, &assertion)
    }

    /// Prepares a pushed request.
    fn push(&self, world: &World, request: &Authorization) -> Call {
        self.call(world, "/par", &parameters(request))
    }

    /// Pushes a request, and sends the browser through the flow with these further parameters. Returns the
    /// redirect to the app.
    async fn decide(
        &self,
        world: &World,
        user: &User,
        request: &Authorization,
        (further, decision): (&str, &str),
    ) -> Url {
        let pushed = self.push(world, request).await.expect(201);
        let path = reference(&self.app.id, &request_uri(&pushed)) + further;
        let redirect = user.browser().complete_flow(&path, user, decision).await;
        redirect.unwrap_or_else(|Page { reply, .. }| panic!("{reply}"))
    }

    /// Pushes a request, which the user allows.
    async fn allow(&self, world: &World, user: &User, request: &Authorization) -> Grant {
        let redirect = self.decide(world, user, request, ("", "allow")).await;
        Grant::parse(redirect, request.verifier.clone())
    }

    /// Pushes a request for this scope, which the user allows.
    async fn authorize(&self, world: &World, user: &User, scope: &str) -> Grant {
        let request = self.app.authorization().set("scope", scope);
        self.allow(world, user, &request).await
    }

    /// The fields of the exchange of a code.
    fn exchange_fields<'a>(&'a self, grant: &'a Grant) -> [(&'a str, &'a str); 4] {
        [
            ("grant_type", "authorization_code"),
            ("code", &grant.code),
            ("redirect_uri", &self.app.redirect_uri),
            ("code_verifier", &grant.verifier),
        ]
    }

    /// Sends a token request with a proof of `key`.
    async fn token(&self, world: &World, key: &ProofKey, fields: &[(&str, &str)]) -> Reply {
        prove(world, key, &to_token(world), || {
            self.call(world, "/token", fields)
        })
        .await
    }

    /// Exchanges a code.
    async fn exchange(&self, world: &World, grant: &Grant) -> Reply {
        let fields = self.exchange_fields(grant);
        self.token(world, &self.proof_key, &fields).await
    }

    /// Authorizes the app and exchanges the code.
    async fn tokens(&self, world: &World, user: &User, scope: &str) -> Tokens {
        let grant = self.authorize(world, user, scope).await;
        Tokens::parse(self.exchange(world, &grant).await)
    }

    /// Reads `/me` with an access token and a proof of `key`.
    async fn read(&self, world: &World, key: &ProofKey, token: &str) -> Reply {
        let (request, caller) = (to_resource(world, token), world.anyone().dpop(token));
        prove(world, key, &request, || caller.get("/me")).await
    }
}

/// The token request, for proofs.
fn to_token(world: &World) -> Proven {
    Proven::new("POST", &format!("{}/token", world.base()))
}

/// The request of the resource, for proofs.
fn to_resource(world: &World, token: &str) -> Proven {
    Proven::new("GET", &format!("{}/me", world.base())).token(token)
}

/// The parameters of a request without `client_id`, which the assertion names.
fn parameters(request: &Authorization) -> Vec<(&str, &str)> {
    let all = request.parameters().iter();
    all.map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| *name != "client_id")
        .collect()
}

/// Prepares a request with this assertion.
fn call_with_assertion(world: &World, path: &str, fields: &[(&str, &str)], assertion: &str) -> Call {
    world.register_secret(assertion);
    let client = [
        ("client_assertion_type", ASSERTION_TYPE),
        ("client_assertion", assertion),
    ];
    world.anyone().post(path).form(&[fields, &client].concat())
}

/// The parts of a new proof of `key`, which was made now.
fn proof_parts(world: &World, key: &ProofKey, request: &Proven) -> ProofParts {
    let mut claims = request.claims();
    claims["iat"] = json!(world.now().seconds());
    ProofParts {
        header: key.header(),
        claims,
    }
}

/// Sends a request with a proof.
async fn prove(world: &World, key: &ProofKey, request: &Proven, call: impl Fn() -> Call) -> Reply {
    let prove = |request: &Proven| {
        let ProofParts { header, claims } = proof_parts(world, key, request);
        key.sign(&header, &claims)
    };
    send_with_proof(request, prove, call).await
}
