//! OpenID Connect: ID tokens, the UserInfo endpoint, discovery and logout.

mod backchannel_logout;
mod conformance;
mod discovery;
mod hints;
mod id_tokens;
mod independent_clients;
mod sign_out;
mod user_info;

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::Value;
use tests::{App, Browser, Grant, Tokens, User, World};

/// Verifies a JWT of the issuer with its published keys. Returns the claims. Fails the test unless it has
/// this `typ` and this audience.
pub(super) async fn verify(world: &World, token: &str, typ: &str, audience: &str) -> Value {
    let header = decode_header(token).unwrap();
    assert_eq!(header.typ.as_deref(), Some(typ));
    let jwks = world.anyone().get("/.well-known/jwks.json").await.expect(200);
    let jwks: JwkSet = serde_json::from_value(jwks.json()).unwrap();
    let jwk = jwks.find(&header.kid.unwrap()).unwrap();
    let mut checks = Validation::new(Algorithm::RS256);
    checks.set_issuer(&[world.base()]);
    checks.set_audience(&[audience]);
    checks.set_required_spec_claims(&["iss", "aud"]);
    checks.validate_exp = false;
    let key = DecodingKey::from_jwk(jwk).unwrap();
    decode::<Value>(token, &key, &checks).unwrap().claims
}

/// The ID token of a token response.
pub(super) fn id_token(tokens: &Tokens) -> String {
    tokens.reply.json()["id_token"].as_str().unwrap().to_owned()
}

/// Signs a user in at an app in this browser.
pub(super) async fn sign_in(app: &App, browser: &mut Browser, user: &User, scope: &str) -> Tokens {
    let grant: Grant = app.authorize(browser, user, scope).await;
    Tokens::parse(app.exchange(&user.anonymous(), &grant).await)
}
