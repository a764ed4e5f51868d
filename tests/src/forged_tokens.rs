//! Access tokens that the tests sign themselves: valid ones, and invalid ones that the issuer never issues.

use crate::accounts::User;
use crate::base64url;
use crate::http::Caller;
use crate::world::World;
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{self, KeyPair as _, RsaKeyPair};
use base64::Engine as _;
use foundation::random;
use foundation::sealing::SealingKey;
use serde_json::{Value, json};
use storage::fetch_one;

/// An RSA key with its `kid`.
#[derive(Debug)]
pub struct Signer {
    /// `kid`
    pub kid: String,
    key: RsaKeyPair,
}

/// Signs access tokens of one user. A test may change the header, the claims and the key.
#[derive(Debug)]
pub struct TokenForger {
    /// The signing key.
    pub signer: Signer,
    /// The header of a valid token.
    pub header: Value,
    /// The claims of a valid token issued now.
    pub claims: Value,
}

impl Signer {
    /// The issuer's active signing key, unsealed with the master key.
    pub async fn active_key(world: &World) -> Self {
        let db = world.db().await;
        let query = "SELECT kid, sealed_private_key FROM signing_keys WHERE state = 'active'";
        let (kid, sealed) = fetch_one!(db.reader(), (String, Vec<u8>), query).unwrap();
        let master = std::fs::read_to_string(world.data_dir().join("master.key")).unwrap();
        let master: SealingKey = master.parse().unwrap();
        let key = RsaKeyPair::from_pkcs8(&master.open(&kid, &sealed).unwrap()).unwrap();
        Self { kid, key }
    }

    /// A key that the issuer does not know.
    pub fn unknown(kid: &str) -> Self {
        Self {
            kid: kid.to_owned(),
            key: RsaKeyPair::generate(KeySize::Rsa2048).unwrap(),
        }
    }

    /// Signs these exact JSON texts with RS256. Returns the compact serialization (RFC 7515 §3.1).
    pub fn sign(&self, header: &str, claims: &str) -> String {
        self.sign_with(&signature::RSA_PKCS1_SHA256, header, claims)
    }

    /// Like [`Signer::sign`], with another RSA algorithm.
    pub fn sign_with(
        &self,
        algorithm: &'static signature::RsaSignatureEncoding,
        header: &str,
        claims: &str,
    ) -> String {
        let text = format!("{}.{}", base64url(header), base64url(claims));
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key
            .sign(algorithm, &SystemRandom::new(), text.as_bytes(), &mut signature)
            .unwrap();
        format!("{text}.{}", base64url(signature))
    }

    /// The private key in PEM (PKCS#8), for unmodified client libraries.
    pub fn private_pem(&self) -> String {
        let der: Pkcs8V1Der<'_> = self.key.as_der().unwrap();
        let text = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
        format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
    }

    /// The public key in DER (PKCS#1).
    pub fn public_der(&self) -> Vec<u8> {
        self.key.public_key().as_ref().to_vec()
    }

    /// The public key as a JWK (RFC 7517).
    pub fn jwk(&self) -> Value {
        let public = self.key.public_key();
        json!({
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.kid,
            "n": base64url(public.modulus().big_endian_without_leading_zero()),
            "e": base64url(public.exponent().big_endian_without_leading_zero()),
        })
    }
}

impl TokenForger {
    /// Prepares valid tokens of this user, signed with the issuer's own key.
    pub async fn new(world: &World, user: &User) -> Self {
        let signer = Signer::active_key(world).await;
        let now = world.now().seconds();
        Self {
            header: json!({ "alg": "RS256", "typ": "at+jwt", "kid": signer.kid }),
            claims: json!({
                "iss": world.base(),
                "aud": world.base(),
                "exp": now + 300,
                "iat": now,
                "jti": random::id(),
                "sub": user.id.to_string(),
                "client_id": "an-app",
                "scope": "posts:read posts:write profile:read",
                "grant_id": random::id(),
                "user_epoch": 0,
                "client_epoch": 0,
            }),
            signer,
        }
    }

    /// A valid token.
    pub fn good(&self) -> String {
        self.signer
            .sign(&self.header.to_string(), &self.claims.to_string())
    }

    /// A token that differs from a valid one in one claim. `None` omits the claim.
    pub fn with_claim(&self, name: &str, value: impl Into<Option<Value>>) -> String {
        let claims = replaced(&self.claims, name, value.into());
        self.signer.sign(&self.header.to_string(), &claims.to_string())
    }

    /// A token that differs from a valid one in one header member.
    pub fn with_header(&self, name: &str, value: impl Into<Option<Value>>) -> String {
        let header = replaced(&self.header, name, value.into());
        self.signer.sign(&header.to_string(), &self.claims.to_string())
    }
}

/// A caller with a token of this user, limited to this scope.
pub async fn caller_with_scope(world: &World, user: &User, scope: &str) -> Caller {
    let forger = TokenForger::new(world, user).await;
    world.anyone().bearer(&forger.with_claim("scope", json!(scope)))
}

/// A copy of an object with this member replaced, or removed if `value` is `None`.
fn replaced(object: &Value, name: &str, value: Option<Value>) -> Value {
    let mut object = object.clone();
    let members = object.as_object_mut().unwrap();
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
    object
}
