//! Authentication by signed assertions, `private_key_jwt` (RFC 7523).

use super::{clients, expect_token_error_within_a_second};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use tests::{
    App, Call, Caller, Signer, World, base64url, basic, on_every_shape, run_concurrently, status_counts,
};

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A key of a client.
enum Key {
    Rsa(Signer),
    Ec(EcdsaKeyPair),
}

impl Key {
    fn rsa(kid: &str) -> Self {
        Self::Rsa(Signer::unknown(kid))
    }

    fn ec() -> Self {
        Self::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
    }

    fn jwk(&self) -> Value {
        match self {
            Self::Rsa(signer) => signer.jwk(),
            Self::Ec(pair) => {
                let point = &pair.public_key().as_ref()[1..];
                json!({ "kty": "EC", "crv": "P-256", "kid": "ec", "x": base64url(&point[..32]), "y": base64url(&point[32..]) })
            }
        }
    }

    fn header(&self) -> Value {
        match self {
            Self::Rsa(signer) => json!({ "alg": "RS256", "kid": signer.kid }),
            Self::Ec(_) => json!({ "alg": "ES256", "kid": "ec" }),
        }
    }

    /// Signs with the algorithm of the key, whatever the header says.
    fn sign(&self, header: &Value, claims: &Value) -> String {
        match self {
            Self::Rsa(signer) => signer.sign(&header.to_string(), &claims.to_string()),
            Self::Ec(pair) => {
                let text = format!(
                    "{}.{}",
                    base64url(header.to_string()),
                    base64url(claims.to_string())
                );
                let signature = pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
                format!("{text}.{}", base64url(signature))
            }
        }
    }

    /// An assertion with these claims.
    fn assertion(&self, claims: &Value) -> String {
        self.sign(&self.header(), claims)
    }
}

/// Writes a JWK set to a file and returns its path.
fn jwks_file(world: &World, jwks: &Value) -> String {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let name = format!("{}.jwks", FILES.fetch_add(1, Ordering::Relaxed));
    let path = world.data_dir().join(name);
    std::fs::write(&path, jwks.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Registers a service with these keys.
fn register(world: &World, keys: &[&Key]) -> App {
    let keys: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
    let file = jwks_file(world, &json!({ "keys": keys }));
    let app = world
        .app()
        .kind("service")
        .scope("posts:read")
        .jwks(&file)
        .register();
    assert_eq!(app.secret, None);
    app
}

/// The claims of a valid assertion with a `jti` of its own.
fn claims(world: &World, app: &App) -> Value {
    json!({
        "iss": app.id, "sub": app.id, "aud": world.base(), "jti": foundation::random::id(),
        "exp": world.now().seconds() + 60,
    })
}

fn request(caller: &Caller, assertion: &str) -> Call {
    caller.post("/token").form(&[
        ("grant_type", "client_credentials"),
        ("client_assertion_type", ASSERTION_TYPE),
        ("client_assertion", assertion),
    ])
}

async fn assertions_of_both_algorithms_authenticate(world: World) {
    let (rsa, ec) = (Key::rsa("rsa"), Key::ec());
    let app = register(&world, &[&rsa, &ec]);
    let (anyone, base) = (world.anyone(), world.base().to_owned());
    for audience in [
        json!(base),
        json!(format!("{base}/token")),
        json!(["https://other.test", base]),
    ] {
        for key in [&rsa, &ec] {
            let mut claims = claims(&world, &app);
            claims["aud"] = audience.clone();
            let reply = request(&anyone, &key.assertion(&claims)).await.expect(200);
            world
                .expect_accepted(reply.json()["access_token"].as_str().unwrap())
                .await;
        }
    }
    // Without a kid, each key is tried.
    let assertion = ec.sign(&json!({ "alg": "ES256" }), &claims(&world, &app));
    request(&anyone, &assertion).await.expect(200);
    for path in ["/introspect", "/revoke"] {
        let call = anyone.post(path).form(&[
            ("token", "unknown"),
            ("client_id", app.id.as_str()),
            ("client_assertion_type", ASSERTION_TYPE),
            ("client_assertion", &rsa.assertion(&claims(&world, &app))),
        ]);
        call.await.expect(200);
    }
}

async fn an_assertion_works_once(world: World) {
    let key = Key::rsa("rsa");
    let app = register(&world, &[&key]);
    let anyone = world.anyone();
    let assertion = key.assertion(&claims(&world, &app));
    let replies = run_concurrently(20, |_| request(&anyone, &assertion).into_future()).await;
    assert_eq!(status_counts(&replies), [(200, 1), (401, 19)].into());
    // Another assertion with the same jti is refused too, and the jti is that of this client only.
    let used = claims(&world, &app);
    request(&anyone, &key.assertion(&used)).await.expect(200);
    let mut again = claims(&world, &app);
    again["jti"] = used["jti"].clone();
    request(&anyone, &key.assertion(&again))
        .await
        .expect_token_error(401, "invalid_client");
    let other = register(&world, &[&key]);
    let mut of_other = claims(&world, &other);
    of_other["jti"] = used["jti"].clone();
    request(&anyone, &key.assertion(&of_other)).await.expect(200);
}

async fn invalid_assertions_are_refused_and_stay_unused(world: World) {
    let (key, stranger) = (Key::rsa("rsa"), Key::rsa("rsa"));
    let (app, anyone) = (register(&world, &[&key]), world.anyone());
    let now = world.now().seconds();
    let good = claims(&world, &app);
    let changed = |name: &str, value: Value| {
        let mut claims = good.clone();
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value,
        }
        claims
    };
    let mut refused = Vec::new();
    for (name, value) in [
        ("iss", json!("another")),
        ("iss", json!(null)),
        ("sub", json!("another")),
        ("sub", json!(null)),
        ("aud", json!("https://other.test")),
        ("aud", json!(format!("{}/tokens", world.base()))),
        ("aud", json!([])),
        ("aud", json!(null)),
        ("exp", json!(now - 1)),
        ("exp", json!(now + 3600)),
        ("exp", json!("soon")),
        ("exp", json!(null)),
        ("iat", json!(now + 3600)),
        ("nbf", json!(now + 3600)),
        ("jti", json!("")),
        ("jti", json!("x".repeat(257))),
        ("jti", json!("a\0b")),
        ("jti", json!(null)),
    ] {
        refused.push((format!("{name} {value}"), key.assertion(&changed(name, value))));
    }
    for header in [
        json!({ "alg": "none" }),
        json!({ "alg": "HS256" }),
        json!({ "alg": "RS384" }),
        json!({ "alg": "ES256" }),
        json!({ "alg": "RS256", "kid": "another" }),
        json!({ "alg": "RS256", "crit": ["b64"] }),
        json!({}),
    ] {
        refused.push((header.to_string(), key.sign(&header, &good)));
    }
    let assertion = key.assertion(&good);
    refused.push(("another key".to_owned(), stranger.assertion(&good)));
    refused.push((
        "no signature".to_owned(),
        assertion[..=assertion.rfind('.').unwrap()].to_owned(),
    ));
    refused.push(("cut".to_owned(), assertion[..assertion.len() - 4].to_owned()));
    refused.push(("long".to_owned(), format!("{}.{assertion}", "x".repeat(9_000))));
    refused.push(("no JWS".to_owned(), "nonsense".to_owned()));
    let other = register(&world, &[&stranger]);
    refused.push(("a key of another client".to_owned(), {
        let mut claims = good.clone();
        (claims["iss"], claims["sub"]) = (json!(other.id), json!(other.id));
        key.assertion(&claims)
    }));
    for (case, assertion) in refused {
        let reply = request(&anyone, &assertion).await;
        assert_eq!(reply.status, 401, "{case}: {reply}");
        reply.expect_token_error(401, "invalid_client");
    }
    let with_id = anyone.post("/token").form(&[
        ("grant_type", "client_credentials"),
        ("client_id", other.id.as_str()),
        ("client_assertion_type", ASSERTION_TYPE),
        ("client_assertion", &assertion),
    ]);
    with_id.await.expect_token_error(401, "invalid_client");
    request(&anyone, &assertion).await.expect(200);
}

async fn a_request_authenticates_in_one_way(world: World) {
    let key = Key::rsa("rsa");
    let (app, anyone) = (register(&world, &[&key]), world.anyone());
    let assertion = key.assertion(&claims(&world, &app));
    let good = [
        ("grant_type", "client_credentials"),
        ("client_assertion_type", ASSERTION_TYPE),
        ("client_assertion", assertion.as_str()),
    ];
    let in_both = [good.as_slice(), &[("client_secret", "secret")]].concat();
    for call in [
        anyone.post("/token").form(&in_both),
        anyone
            .post("/token")
            .form(&good)
            .header("authorization", &basic(&app.id, "secret")),
        anyone.post("/token").form(&[good[0], good[1]]),
        anyone.post("/token").form(&[good[0], good[2]]),
        anyone
            .post("/token")
            .form(&[good[0], good[2], ("client_assertion_type", "jwt")]),
    ] {
        call.await.expect_token_error(400, "invalid_request");
    }
    // A client with keys has no secret, and a client with a secret no keys.
    let with_secret = world.app().kind("service").scope("posts:read").register();
    let reply = request(&anyone, &key.assertion(&claims(&world, &with_secret))).await;
    reply.expect_token_error(401, "invalid_client");
    for secret in [Some("secret".to_owned()), None] {
        let app = App {
            secret,
            ..app.clone()
        };
        let reply = app.token(&anyone, &[("grant_type", "client_credentials")]).await;
        reply.expect_token_error(401, "invalid_client");
    }
    anyone.post("/token").form(&good).await.expect(200);
}

async fn keys_are_replaced_and_disabled_with_their_client(world: World) {
    let (former, current) = (Key::rsa("former"), Key::ec());
    let app = register(&world, &[&former]);
    request(&world.anyone(), &former.assertion(&claims(&world, &app)))
        .await
        .expect(200);
    let file = jwks_file(&world, &json!({ "keys": [current.jwk()] }));
    let updated = clients(&world, "update", &app, &["--jwks", &file]);
    assert_eq!(updated["jwks"], json!({ "keys": [current.jwk()] }));
    expect_token_error_within_a_second(&world, 401, "invalid_client", |issuer| {
        request(issuer, &former.assertion(&claims(&world, &app)))
    })
    .await;
    let fresh = || current.assertion(&claims(&world, &app));
    request(&world.anyone(), &fresh()).await.expect(200);
    clients(&world, "disable", &app, &[]);
    expect_token_error_within_a_second(&world, 401, "invalid_client", |issuer| request(issuer, &fresh()))
        .await;
    let refused = world.run(&["clients", "rotate-secret", &app.id], "");
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
}

async fn invalid_keys_are_refused(world: World) {
    let (rsa, ec) = (Key::rsa("rsa").jwk(), Key::ec().jwk());
    let with = |key: &Value, name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        key
    };
    let key = |key: Value| json!({ "keys": [key] }).to_string();
    let many: Vec<Value> = (0..11).map(|n| with(&rsa, "kid", json!(n.to_string()))).collect();
    let command = [
        "clients",
        "create",
        "--name",
        "Some App",
        "--scope",
        "posts:read",
        "--id",
        "keyed",
        "--type",
    ];
    for (jwks, reason) in [
        (key(with(&rsa, "d", json!("AQAB"))), "is private"),
        (key(json!({ "kty": "oct", "k": "c2VjcmV0" })), "is private"),
        (key(with(&rsa, "n", json!("AQAB"))), "2048"),
        (key(with(&ec, "crv", json!("P-384"))), "P-256"),
        (
            key(json!({ "kty": "OKP", "crv": "Ed25519", "x": "AQAB" })),
            "P-256",
        ),
        (key(json!("key")), "not a JWK"),
        (json!({ "keys": [rsa, rsa] }).to_string(), "different kids"),
        (json!({ "keys": many }).to_string(), "1 to 10 keys"),
        (json!({ "keys": [] }).to_string(), "1 to 10 keys"),
        (rsa.to_string(), "1 to 10 keys"),
        ("nonsense".to_owned(), ".jwks"),
        (" ".repeat(70_000), "at most 64 KiB"),
    ] {
        let path = world.data_dir().join("invalid.jwks");
        std::fs::write(&path, jwks).unwrap();
        let options = ["service", "--jwks", path.to_str().unwrap()];
        let refused = world.run(&[command.as_slice(), &options].concat(), "");
        assert_eq!(refused.status.code(), Some(64), "{reason}: {refused:?}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(reason), "{reason}: {message}");
    }
    let good = jwks_file(&world, &json!({ "keys": [rsa] }));
    let spa = ["spa", "--redirect-uri", "https://app.test/cb", "--jwks", &good];
    let missing = ["service", "--jwks", "no-such-file.jwks"];
    for options in [spa.as_slice(), &missing] {
        let refused = world.run(&[command.as_slice(), options].concat(), "");
        assert_eq!(refused.status.code(), Some(64), "{options:?}: {refused:?}");
    }
    let with_secret = world.app().kind("web").register();
    let refused = world.run(&["clients", "update", &with_secret.id, "--jwks", &good], "");
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
}

async fn the_metadata_lists_the_method(world: World) {
    let metadata = world
        .anyone()
        .get("/.well-known/oauth-authorization-server")
        .await;
    let metadata = metadata.expect(200).json();
    for endpoint in ["token", "revocation", "introspection"] {
        let methods = &metadata[format!("{endpoint}_endpoint_auth_methods_supported")];
        assert!(
            methods.as_array().unwrap().contains(&json!("private_key_jwt")),
            "{methods}"
        );
        let algorithms = &metadata[format!("{endpoint}_endpoint_auth_signing_alg_values_supported")];
        assert_eq!(algorithms, &json!(["RS256", "ES256"]));
    }
}

on_every_shape!(
    assertions_of_both_algorithms_authenticate,
    an_assertion_works_once,
    invalid_assertions_are_refused_and_stay_unused,
    a_request_authenticates_in_one_way,
    keys_are_replaced_and_disabled_with_their_client,
    invalid_keys_are_refused,
    the_metadata_lists_the_method,
);
