//! Authentication by signed assertions, `private_key_jwt` (RFC 7523).

pub(super) mod foreign_urls;
pub(super) mod key;
mod published_keys;
mod refused_key_sets;
mod registered_keys;

use super::SECOND;
use key::Key;
use serde_json::{Value, json};
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use storage::fetch_one;
use tests::{
    App, Call, Caller, Shape, SharedWorld, Tokens, World, basic, eventually, on_every_shape,
    run_concurrently, status_counts,
};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
pub(super) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

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

/// Runs `clients create` with these options, of which the first is the type of the client.
fn create(world: &World, options: &[&str]) -> Output {
    let command = [
        "clients",
        "create",
        "--id",
        "keyed",
        "--name",
        "Some App",
        "--scope",
        "posts:read",
        "--type",
    ];
    world.run(&[command.as_slice(), options].concat(), "")
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

async fn assertions_of_both_algorithms_authenticate(world: SharedWorld) {
    let (rsa, ec) = (Key::rsa("rsa"), Key::ec());
    let app = register(&world, &[&rsa, &ec]);
    let (anyone, base) = (world.anyone(), world.base().to_owned());
    for audience in [
        json!(base),
        json!(format!("{base}/token")),
        json!([base, format!("{base}/token")]),
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
    expect_web_app_authenticated(&world).await;
}

/// Goes through the life of a grant to a web app with keys. Every request needs an assertion of the app, and
/// one that another key signed changes nothing.
async fn expect_web_app_authenticated(world: &World) {
    let (key, stranger) = (Key::rsa("rsa"), Key::rsa("rsa"));
    let file = jwks_file(world, &json!({ "keys": [key.jwk()] }));
    let app = world.app().kind("web").jwks(&file).register();
    assert_eq!(app.secret, None);
    let (user, anyone) = (world.user().await, world.anyone());
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let exchange: [(&str, &str); 4] = [
        ("grant_type", "authorization_code"),
        ("code", &grant.code),
        ("redirect_uri", &app.redirect_uri),
        ("code_verifier", &grant.verifier),
    ];
    let call = |path: &str, fields: &[(&str, &str)], key: &Key| {
        let assertion = key.assertion(&claims(world, &app));
        let by_assertion: [(&str, &str); 2] = [
            ("client_assertion_type", ASSERTION_TYPE),
            ("client_assertion", &assertion),
        ];
        anyone.post(path).form(&[fields, &by_assertion].concat())
    };
    let refused = call("/token", &exchange, &stranger).await;
    refused.expect_token_error(401, "invalid_client");
    let by_id_alone = app.exchange(&anyone, &grant).await;
    by_id_alone.expect_token_error(401, "invalid_client");
    let first = Tokens::parse(call("/token", &exchange, &key).await);
    world.expect_accepted(&first.access).await;
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", first.refresh.as_str()),
    ];
    let refused = call("/token", &refresh, &stranger).await;
    refused.expect_token_error(401, "invalid_client");
    let second = Tokens::parse(call("/token", &refresh, &key).await);
    let revocation = [("token", second.refresh.as_str())];
    let refused = call("/revoke", &revocation, &stranger).await;
    refused.expect_token_error(401, "invalid_client");
    world.expect_accepted(&second.access).await;
    call("/revoke", &revocation, &key).await.expect(200);
    world.expect_revoked(&second.access).await;
}

async fn an_assertion_works_once(world: SharedWorld) {
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

async fn invalid_assertions_are_refused_and_stay_unused(world: SharedWorld) {
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
        ("aud", json!(["https://other.test", world.base()])),
        ("aud", json!([world.base(), format!("{}/tokens", world.base())])),
        ("aud", json!(null)),
        ("exp", json!(now - 1)),
        ("exp", json!(now + 7200)),
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

async fn a_request_authenticates_in_one_way(world: SharedWorld) {
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

async fn used_assertions_are_deleted_an_hour_after_their_expiry(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let key = Key::rsa("rsa");
    let app = register(&world, &[&key]);
    let assertion = key.assertion(&claims(&world, &app));
    request(&world.anyone(), &assertion).await.expect(200);
    world.advance(MINUTE + HOUR - SECOND);
    // Expired rows are deleted at the start of an issuer.
    world.stop().await;
    world.restart().await;
    let later = key.assertion(&claims(&world, &app));
    request(&world.anyone(), &later).await.expect(200);
    assert_eq!(used_assertions(&world).await, 2);
    world.advance(SECOND);
    world.stop().await;
    world.restart().await;
    eventually("the row is still there", async || {
        used_assertions(&world).await == 1
    })
    .await;
    let reply = request(&world.anyone(), &later).await;
    reply.expect_token_error(401, "invalid_client");
}

/// The number of stored assertions.
async fn used_assertions(world: &World) -> i64 {
    let count = fetch_one!(
        world.db().await.reader(),
        (i64,),
        "SELECT COUNT(*) FROM client_assertions"
    );
    count.unwrap().0
}

async fn the_metadata_lists_the_method(world: SharedWorld) {
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
    used_assertions_are_deleted_an_hour_after_their_expiry,
    the_metadata_lists_the_method,
);
