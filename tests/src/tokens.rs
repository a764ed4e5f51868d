//! Authorization codes and tokens.

use crate::apps::App;
use crate::reply::Reply;
use crate::world::World;
use serde_json::Value;
use url::Url;

/// An authorization response: the code with its verifier.
#[derive(Clone, Debug)]
pub struct Grant {
    /// `code`
    pub code: String,
    /// `code_verifier`
    pub verifier: String,
    /// The complete redirect address.
    pub landing: Url,
}

/// A token response.
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
    /// Parses the redirect address. Fails the test without a code.
    #[track_caller]
    pub fn read(landing: Url, verifier: String) -> Self {
        let code = parameter(&landing, "code").unwrap_or_else(|| panic!("no code in {landing}"));
        Self {
            code,
            verifier,
            landing,
        }
    }
}

impl Tokens {
    /// Parses a successful token response.
    #[track_caller]
    pub fn of(reply: Reply) -> Self {
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
        let payload = self.access.split('.').nth(1).and_then(foundation::secret::decode);
        serde_json::from_slice(&payload.unwrap()).unwrap()
    }

    /// The `kid` of the key that signed the access token.
    pub fn kid(&self) -> String {
        let header = self.access.split('.').next().and_then(foundation::secret::decode);
        let header: Value = serde_json::from_slice(&header.unwrap()).unwrap();
        header["kid"].as_str().unwrap().to_owned()
    }

    /// Expects that both tokens are rejected.
    pub async fn expect_revoked(&self, world: &World, app: &App) {
        world.expect_revoked(&self.access).await;
        let reply = app.refresh(&world.anyone(), &self.refresh).await;
        reply.expect_token_error(400, "invalid_grant");
    }
}

/// The value of a query parameter.
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
