//! The keys that clients register for their assertions.

use super::super::{clients, expect_token_error_soon};
use super::{Key, claims, create, jwks_file, register, request};
use serde_json::{Value, json};
use tests::{SharedWorld, on_every_shape};

async fn keys_are_replaced_and_disabled_with_their_client(world: SharedWorld) {
    let (former, current) = (Key::rsa("former"), Key::ec());
    let app = register(&world, &[&former]);
    request(&world.anyone(), &former.assertion(&claims(&world, &app)))
        .await
        .expect(200);
    let file = jwks_file(&world, &json!({ "keys": [current.jwk()] }));
    let updated = clients(&world, "update", &app, &["--jwks", &file]);
    assert_eq!(updated["jwks"], json!({ "keys": [current.jwk()] }));
    expect_token_error_soon(&world, 401, "invalid_client", |issuer| {
        request(issuer, &former.assertion(&claims(&world, &app)))
    })
    .await;
    let fresh = || current.assertion(&claims(&world, &app));
    request(&world.anyone(), &fresh()).await.expect(200);
    clients(&world, "disable", &app, &[]);
    expect_token_error_soon(&world, 401, "invalid_client", |issuer| request(issuer, &fresh())).await;
    let refused = world.run(&["clients", "rotate-secret", &app.id], "");
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
}

async fn invalid_keys_are_refused(world: SharedWorld) {
    let (rsa, ec) = (Key::rsa("rsa").jwk(), Key::ec().jwk());
    let with = |key: &Value, name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        key
    };
    let key = |key: Value| json!({ "keys": [key] }).to_string();
    let many: Vec<Value> = (0..11).map(|n| with(&rsa, "kid", json!(n.to_string()))).collect();
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
        let refused = create(&world, &options);
        assert_eq!(refused.status.code(), Some(64), "{reason}: {refused:?}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(reason), "{reason}: {message}");
    }
    let good = jwks_file(&world, &json!({ "keys": [rsa] }));
    let spa = ["spa", "--redirect-uri", "https://app.test/cb", "--jwks", &good];
    let missing = ["service", "--jwks", "no-such-file.jwks"];
    for options in [spa.as_slice(), &missing] {
        let refused = create(&world, options);
        assert_eq!(refused.status.code(), Some(64), "{options:?}: {refused:?}");
    }
    let with_secret = world.app().kind("web").register();
    let refused = world.run(&["clients", "update", &with_secret.id, "--jwks", &good], "");
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
}

on_every_shape!(
    keys_are_replaced_and_disabled_with_their_client,
    invalid_keys_are_refused,
);
