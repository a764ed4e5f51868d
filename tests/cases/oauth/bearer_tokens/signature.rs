//! Header, key and signature.

use super::gate;
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256};
use base64::Engine as _;
use serde_json::json;
use tests::{Signer, World, base64url, on_every_shape};

async fn the_algorithm_is_not_none(world: World) {
    let gate = gate(&world).await;
    let signature = gate.forger.good().split('.').nth(2).unwrap().to_owned();
    for alg in ["none", "None", "nOnE", ""] {
        let token = gate.forger.with_header("alg", json!(alg));
        let text = token.rsplit_once('.').unwrap().0;
        gate.refuses(alg, &token).await;
        gate.refuses("without a signature", &format!("{text}.")).await;
        gate.refuses("with another's signature", &format!("{text}.{signature}"))
            .await;
    }
    gate.refuses_header(
        "alg",
        &[json!(null), json!(256), json!("rs256"), json!(["RS256"])],
    )
    .await;
}

async fn the_public_key_is_no_secret_to_sign_with(world: World) {
    let gate = gate(&world).await;
    let signer = &gate.forger.signer;
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
        let token = gate.forger.with_header("alg", json!(alg));
        let text = token.rsplit_once('.').unwrap().0;
        for secret in &secrets {
            let tag = hmac::sign(&hmac::Key::new(hash, secret), text.as_bytes());
            gate.refuses(alg, &format!("{text}.{}", base64url(tag))).await;
        }
    }
}

async fn the_algorithm_is_rs256_and_no_other_of_its_key(world: World) {
    let gate = gate(&world).await;
    for (alg, how) in [
        ("RS384", &RSA_PKCS1_SHA384),
        ("RS512", &RSA_PKCS1_SHA512),
        ("PS256", &RSA_PSS_SHA256),
    ] {
        let mut header = gate.forger.header.clone();
        header["alg"] = json!(alg);
        let token = gate
            .forger
            .signer
            .sign_with(how, &header.to_string(), &gate.forger.claims.to_string());
        gate.refuses(alg, &token).await;
    }
    gate.refuses_header(
        "alg",
        &[json!("RS512"), json!("PS256"), json!("ES256"), json!("EdDSA")],
    )
    .await;
}

async fn the_key_is_of_the_key_set(world: World) {
    let gate = gate(&world).await;
    let staged = gate.anyone.get("/.well-known/jwks.json").await.json();
    let other = staged["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["kid"] != gate.forger.signer.kid.as_str());
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
    gate.refuses_header("kid", &unknown).await;
}

async fn the_key_does_not_come_with_the_token(world: World) {
    let gate = gate(&world).await;
    let stranger = Signer::stranger("stranger");
    let claims = gate.forger.claims.to_string();
    for kid in [&stranger.kid, &gate.forger.signer.kid] {
        let header = json!({
            "alg": "RS256", "typ": "at+jwt", "kid": kid, "jwk": stranger.jwk(),
            "jku": "http://127.0.0.1:9/keys", "x5u": "http://127.0.0.1:9/cert",
        });
        gate.refuses("its own key", &stranger.sign(&header.to_string(), &claims))
            .await;
    }
}

async fn the_signature_is_whole_and_right(world: World) {
    let gate = gate(&world).await;
    let good = gate.forger.good();
    let (text, signature) = good.rsplit_once('.').unwrap();
    let (header, claims) = text.split_once('.').unwrap();
    let swap = |text: &str, at: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let other_claims = base64url(gate.forger.claims.to_string().replace("posts:write", "admin"));
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
        gate.refuses(what, &token).await;
    }
    let stranger = Signer::stranger(&gate.forger.signer.kid);
    gate.refuses(
        "another key of this name",
        &stranger.sign(&gate.forger.header.to_string(), &gate.forger.claims.to_string()),
    )
    .await;
}

async fn the_type_is_at_jwt(world: World) {
    let gate = gate(&world).await;
    gate.refuses_header(
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

async fn no_extension_is_critical(world: World) {
    let gate = gate(&world).await;
    for crit in [json!(["x"]), json!([]), json!(["exp"]), json!("x"), json!(null)] {
        gate.refuses("crit", &gate.forger.with_header("crit", crit)).await;
    }
    gate.refuses("b64", &gate.forger.with_header("b64", json!(false)))
        .await;
}

on_every_shape!(
    the_algorithm_is_not_none,
    the_public_key_is_no_secret_to_sign_with,
    the_algorithm_is_rs256_and_no_other_of_its_key,
    the_key_is_of_the_key_set,
    the_key_does_not_come_with_the_token,
    the_signature_is_whole_and_right,
    the_type_is_at_jwt,
    no_extension_is_critical,
);
