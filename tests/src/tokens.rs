//! Authorization codes and tokens.

use crate::apps::App;
use crate::reply::Reply;
use crate::world::World;
use serde_json::Value;
use url::Url;

/// A successful authorization response (RFC 6749 §4.1.2) with the PKCE verifier of its request.
#[derive(Clone, Debug)]
pub struct Grant {
    /// `code`
    pub code: String,
    /// `code_verifier`
    pub verifier: String,
    /// The complete redirect.
    pub redirect: Url,
}

/// A successful token response (RFC 6749 §5.1).
#[derive(Clone, Debug)]
pub struct Tokens {
    /// `access_token`
    pub access: String,
    /// `refresh_token`
    pub refresh: String,
    /// The complete response.
    pub reply: Reply,
}

impl Grant {
    /// Parses the redirect. Fails the test if it has no code.
    #[track_caller]
    pub fn parse(redirect: Url, verifier: String) -> Self {
        let code = parameter(&redirect, "code").unwrap_or_else(|| panic!("no code in {redirect}"));
        Self {
            code,
            verifier,
            redirect,
        }
    }
}

impl Tokens {
    /// Parses a token response. Fails the test unless it is successful and has both tokens.
    #[track_caller]
    pub fn parse(reply: Reply) -> Self {
        let reply = reply.expect(200);
        let body = reply.json();
        let member = |name: &str| match body[name].as_str() {
            Some(token) => token.to_owned(),
            None => panic!("no {name}: {reply}"),
        };
        Self {
            access: member("access_token"),
            refresh: member("refresh_token"),
            reply: reply.clone(),
        }
    }

    /// The unverified claims of the access token.
    pub fn claims(&self) -> Value {
        claims(&self.access)
    }

    /// The `kid` of the key that signed the access token.
    pub fn kid(&self) -> String {
        let header = self.access.split('.').next().and_then(foundation::secret::decode);
        let header: Value = serde_json::from_slice(&header.unwrap()).unwrap();
        header["kid"].as_str().unwrap().to_owned()
    }

    /// Expects that the access token and the refresh token are rejected.
    pub async fn expect_revoked(&self, world: &World, app: &App) {
        world.expect_revoked(&self.access).await;
        let reply = app.refresh(&world.anyone(), &self.refresh).await;
        reply.expect_token_error(400, "invalid_grant");
    }
}

/// The unverified claims of an access token.
pub fn claims(access_token: &str) -> Value {
    let payload = access_token
        .split('.')
        .nth(1)
        .and_then(foundation::secret::decode);
    serde_json::from_slice(&payload.unwrap()).unwrap()
}

/// The decoded value of the first query parameter with this name.
pub fn parameter(url: &Url, name: &str) -> Option<String> {
    url.query_pairs()
        .find(|(found, _)| found == name)
        .map(|(_, value)| value.into_owned())
}

/// The value of an `Authorization` header with client id and secret, both form-encoded (RFC 6749 §2.3.1).
pub fn basic(id: &str, secret: &str) -> String {
    use base64::Engine as _;
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encode(id), encode(secret));
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}
