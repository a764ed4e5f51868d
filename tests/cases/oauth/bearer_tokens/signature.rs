//! Header, key and signature of access tokens.

use super::token_check;
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256};
use base64::Engine as _;
use serde_json::json;
use tests::{SharedWorld, Signer, base64url, on_every_shape};

async fn unsigned_tokens_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let signature = token_check.forger.good().split('.').nth(2).unwrap().to_owned();
    for alg in ["none", "None", "nOnE", ""] {
        let token = token_check.forger.with_header("alg", json!(alg));
        let text = token.rsplit_once('.').unwrap().0;
        token_check.expect_rejected(alg, &token).await;
        token_check
            .expect_rejected("without a signature", &format!("{text}."))
            .await;
        token_check
            .expect_rejected("with another's signature", &format!("{text}.{signature}"))
            .await;
    }
    token_check
        .expect_header_rejected(
            "alg",
            &[json!(null), json!(256), json!("rs256"), json!(["RS256"])],
        )
        .await;
}

async fn hmac_with_the_public_key_is_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let signer = &token_check.forger.signer;
    let der = signer.public_der();
    let lines = base64::engine::general_purpose::STANDARD.encode(&der);
    let pem = format!("-----BEGIN RSA PUBLIC KEY-----\n{lines}\n-----END RSA PUBLIC KEY-----");
    let n = signer.jwk()["n"].as_str().unwrap().to_owned();
    let secrets = [
        der,
        pem.clone().into_bytes(),
        format!("{pem}\n").into_bytes(),
        n.into_bytes(),
        signer.jwk().to_string().into_bytes(),
    ];
    for (alg, hash) in [("HS256", hmac::HMAC_SHA256), ("HS512", hmac::HMAC_SHA512)] {
        let token = token_check.forger.with_header("alg", json!(alg));
        let text = token.rsplit_once('.').unwrap().0;
        for secret in &secrets {
            let tag = hmac::sign(&hmac::Key::new(hash, secret), text.as_bytes());
            token_check
                .expect_rejected(alg, &format!("{text}.{}", base64url(tag)))
                .await;
        }
    }
}

async fn algorithms_other_than_rs256_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    for (alg, how) in [
        ("RS384", &RSA_PKCS1_SHA384),
        ("RS512", &RSA_PKCS1_SHA512),
        ("PS256", &RSA_PSS_SHA256),
    ] {
        let mut header = token_check.forger.header.clone();
        header["alg"] = json!(alg);
        let token = token_check.forger.signer.sign_with(
            how,
            &header.to_string(),
            &token_check.forger.claims.to_string(),
        );
        token_check.expect_rejected(alg, &token).await;
    }
    token_check
        .expect_header_rejected(
            "alg",
            &[json!("RS512"), json!("PS256"), json!("ES256"), json!("EdDSA")],
        )
        .await;
}

async fn keys_outside_the_key_set_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let staged = token_check.anyone.get("/.well-known/jwks.json").await.json();
    let other = staged["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["kid"] != token_check.forger.signer.kid.as_str());
    let other = other.expect("a staged key is published")["kid"].clone();
    let long = "k".repeat(8_000);
    let unknown = [
        json!("unknown"),
        json!(""),
        json!("../../dev/null"),
        json!("' OR 1=1"),
        json!(long),
        json!(7),
        json!(null),
        other,
    ];
    token_check.expect_header_rejected("kid", &unknown).await;
}

async fn keys_embedded_in_the_token_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let unknown = Signer::unknown("unknown");
    let claims = token_check.forger.claims.to_string();
    for kid in [&unknown.kid, &token_check.forger.signer.kid] {
        let header = json!({
            "alg": "RS256", "typ": "at+jwt", "kid": kid, "jwk": unknown.jwk(),
            "jku": "http://127.0.0.1:9/keys", "x5u": "http://127.0.0.1:9/cert",
        });
        token_check
            .expect_rejected("its own key", &unknown.sign(&header.to_string(), &claims))
            .await;
    }
}

async fn damaged_signatures_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let good = token_check.forger.good();
    let (text, signature) = good.rsplit_once('.').unwrap();
    let (header, claims) = text.split_once('.').unwrap();
    let swap = |text: &str, at: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let other_claims = base64url(
        token_check
            .forger
            .claims
            .to_string()
            .replace("posts:write", "admin"),
    );
    for (what, token) in [
        ("no signature", format!("{text}.")),
        ("no third part", text.to_owned()),
        ("one part", header.to_owned()),
        (
            "cut short",
            format!("{text}.{}", &signature[..signature.len() - 4]),
        ),
        ("flipped", format!("{text}.{}", swap(signature, 10))),
        ("other claims", format!("{header}.{other_claims}.{signature}")),
        (
            "flipped claims",
            format!("{header}.{}.{signature}", swap(claims, 5)),
        ),
        ("padding", format!("{good}==")),
        (
            "trailing bits",
            format!("{text}.{}", swap(signature, signature.len() - 1)),
        ),
        ("a fourth part", format!("{good}.")),
        ("five parts", format!("{good}.x.y")),
        ("nothing", "x".to_owned()),
        ("dots", "..".to_owned()),
        (
            "a JSON serialization",
            json!({ "protected": header, "payload": claims, "signature": signature }).to_string(),
        ),
    ] {
        token_check.expect_rejected(what, &token).await;
    }
    let unknown = Signer::unknown(&token_check.forger.signer.kid);
    token_check
        .expect_rejected(
            "another key of this name",
            &unknown.sign(
                &token_check.forger.header.to_string(),
                &token_check.forger.claims.to_string(),
            ),
        )
        .await;
}

async fn types_other_than_at_jwt_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    token_check
        .expect_header_rejected(
            "typ",
            &[
                json!("JWT"),
                json!("id_token"),
                json!("logout+jwt"),
                json!(""),
                json!(null),
                json!(1),
            ],
        )
        .await;
}

async fn critical_extensions_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    for crit in [json!(["x"]), json!([]), json!(["exp"]), json!("x"), json!(null)] {
        token_check
            .expect_rejected("crit", &token_check.forger.with_header("crit", crit))
            .await;
    }
    token_check
        .expect_rejected("b64", &token_check.forger.with_header("b64", json!(false)))
        .await;
}

on_every_shape!(
    unsigned_tokens_are_rejected,
    hmac_with_the_public_key_is_rejected,
    algorithms_other_than_rs256_are_rejected,
    keys_outside_the_key_set_are_rejected,
    keys_embedded_in_the_token_are_rejected,
    damaged_signatures_are_rejected,
    types_other_than_at_jwt_are_rejected,
    critical_extensions_are_rejected,
);
