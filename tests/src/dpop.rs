//! Keys with which clients prove that an access token is theirs: DPoP (RFC 9449).

use crate::http::Call;
use crate::reply::Reply;
use crate::{base64url, tokens::Tokens};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use foundation::{clock, random, secret};
use serde_json::{Value, json};

/// The number of nonces that a caller tries.
const MAX_NONCES: usize = 5;

/// A key of a client, for ES256.
#[derive(Debug)]
pub struct ProofKey(EcdsaKeyPair);

/// A request for which proofs are made.
#[derive(Clone, Debug)]
pub struct Proven {
    method: String,
    url: String,
    access_token: Option<String>,
    nonce: Option<String>,
}

impl Proven {
    /// A request with this method and this public URL.
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            access_token: None,
            nonce: None,
        }
    }

    /// A copy with an access token.
    #[must_use]
    pub fn token(&self, token: &str) -> Self {
        Self {
            access_token: Some(token.to_owned()),
            ..self.clone()
        }
    }

    /// A copy with a nonce.
    #[must_use]
    pub fn nonce(&self, nonce: &str) -> Self {
        Self {
            nonce: Some(nonce.to_owned()),
            ..self.clone()
        }
    }

    /// The claims of a new proof.
    pub fn claims(&self) -> Value {
        let now = clock::now().seconds();
        let mut claims = json!({ "jti": random::id(), "htm": self.method, "htu": self.url, "iat": now });
        if let Some(token) = &self.access_token {
            claims["ath"] = json!(base64url(secret::hash(token)));
        }
        if let Some(nonce) = &self.nonce {
            claims["nonce"] = json!(nonce);
        }
        claims
    }
}

impl Default for ProofKey {
    fn default() -> Self {
        Self(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
    }
}

impl ProofKey {
    /// The public key.
    pub fn jwk(&self) -> Value {
        let point = &self.0.public_key().as_ref()[1..];
        json!({ "kty": "EC", "crv": "P-256", "x": base64url(&point[..32]), "y": base64url(&point[32..]) })
    }

    /// The thumbprint (RFC 7638 §3).
    pub fn thumbprint(&self) -> String {
        let jwk = self.jwk();
        let (x, y) = (&jwk["x"], &jwk["y"]);
        let canonical = format!(r#"{{"crv":"P-256","kty":"EC","x":{x},"y":{y}}}"#);
        base64url(secret::hash(&canonical))
    }

    /// The header of a proof.
    pub fn header(&self) -> Value {
        json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk() })
    }

    /// Signs a header and claims, whatever they say.
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        let text = format!(
            "{}.{}",
            base64url(header.to_string()),
            base64url(claims.to_string())
        );
        let signature = self.0.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", base64url(signature))
    }

    /// A new proof for a request.
    pub fn proof(&self, request: &Proven) -> String {
        self.sign(&self.header(), &request.claims())
    }

    /// Sends a request with a new proof, see [`send_with_proof`].
    pub async fn send(&self, request: &Proven, call: impl Fn() -> Call) -> Reply {
        send_with_proof(request, |request| self.proof(request), call).await
    }

    /// Sends a token request with a proof, see [`ProofKey::send`]. Returns the tokens, which must be bound to
    /// the key.
    pub async fn tokens(&self, request: &Proven, call: impl Fn() -> Call) -> Tokens {
        let tokens = Tokens::parse(self.send(request, call).await);
        assert_eq!(tokens.reply.json()["token_type"], "DPoP");
        assert_eq!(tokens.claims()["cnf"], json!({ "jkt": self.thumbprint() }));
        tokens
    }
}

/// Sends a request with the proof that `prove` makes, and again with a nonce if the server asks for one. On a
/// busy machine a replica may not reach Redis in time, and then gives a nonce that the next replica refuses.
pub async fn send_with_proof(
    request: &Proven,
    prove: impl Fn(&Proven) -> String,
    call: impl Fn() -> Call,
) -> Reply {
    let mut reply = call().header("dpop", &prove(request)).await;
    for _ in 0..MAX_NONCES {
        let Some(nonce) = asks_for_nonce(&reply) else {
            break;
        };
        let proof = prove(&request.nonce(&nonce));
        reply = call().header("dpop", &proof).await;
    }
    reply
}

/// The nonce of a response that asks for one (RFC 9449 §8, §9).
pub fn asks_for_nonce(reply: &Reply) -> Option<String> {
    let asks = matches!(reply.status, 400 | 401)
        && serde_json::from_slice::<Value>(&reply.body)
            .is_ok_and(|body| body["error"] == "use_dpop_nonce" || body["code"] == "use_dpop_nonce");
    asks.then(|| reply.header("dpop-nonce").to_owned())
}
