//! The rules of clients: registration, redirect URIs, authentication.

use shared::clock::Timestamp;
use shared::db::{self, Db};
use shared::events::{Context, Event, Name};
use shared::grants::clients::{self, Client, ClientType};
use shared::random;
use shared::scope::{self, Scope};
use shared::secret::{self, Secret};
use url::{Host, Url};

/// The most redirect URIs of one client.
const MAX_REDIRECT_URIS: usize = 20;

/// A client to register.
#[derive(Clone, Debug)]
pub struct Registration {
    /// `client_id`.
    pub id: String,
    /// The name on the consent page.
    pub name: String,
    /// The type of client.
    pub kind: ClientType,
    /// The registered redirect URIs.
    pub redirect_uris: Vec<String>,
    /// The scope that it may request.
    pub scope: Scope,
    /// The scope of a request without one. If unset: the part of the general default that is in its scope.
    pub default_scope: Option<Scope>,
    /// Whether the operator of this issuer runs the client, rather than a third party.
    pub first_party: bool,
}

/// The reason why a client was not registered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value of the registration is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The id is taken.
    #[error("a client with the id {0:?} already exists")]
    Taken(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Registers a client. Returns it, and the secret of a confidential one, of which only a hash is stored.
pub async fn register(
    db: &Db,
    registration: Registration,
    context: &Context,
) -> Result<(Client, Option<Secret>), Error> {
    let (client, secret) = registration.into_client(context.now)?;
    let mut tx = db.begin().await?;
    match clients::create(&mut tx, &client).await {
        Err(db::Error::Conflict) => return Err(Error::Taken(client.id)),
        done => done?,
    }
    Event::success(Name::ClientCreated)
        .client(&client.id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    Ok((client, secret))
}

/// Tells whether a redirect URI is registered: its text equals a registered one, apart from the port of a
/// loopback address (RFC 9700 §4.1.3, RFC 8252 §7.3).
pub(crate) fn may_redirect_to(client: &Client, redirect_uri: &str) -> bool {
    client.redirect_uris.iter().any(|registered| {
        registered == redirect_uri
            || match (
                without_loopback_port(registered),
                without_loopback_port(redirect_uri),
            ) {
                (Some(registered), Some(presented)) => registered == presented,
                _ => false,
            }
    })
}

/// Authenticates a client: a confidential one needs its secret, a public one must send none. An unknown client
/// with a secret takes the same time.
pub fn authenticates(client: Option<&Client>, secret: Option<&str>) -> bool {
    let stored = client.and_then(|client| client.secret_hash.as_deref());
    match (client, secret) {
        (Some(client), None) => !client.kind.is_confidential(),
        (None, None) => false,
        (_, Some(secret)) => {
            let matches = secret::equal(&secret::hash(secret), stored.unwrap_or(&[0; 32]));
            matches && stored.is_some()
        }
    }
}

impl Registration {
    fn into_client(self, now: Timestamp) -> Result<(Client, Option<Secret>), Error> {
        let refuse = |what: String| Err(Error::Invalid(what));
        let id_char = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if self.id.is_empty() || self.id.len() > 64 || !self.id.chars().all(id_char) {
            return refuse(format!(
                "the id {:?} must be 1 to 64 ASCII letters, digits, - . or _",
                self.id
            ));
        }
        if self.id.bytes().all(|byte| byte.is_ascii_digit()) {
            return refuse("the id must not consist of digits only: those are ids of users".to_owned());
        }
        let name_len = self.name.chars().count();
        if self.name.trim().is_empty() || name_len > 100 || self.name.chars().any(char::is_control) {
            return refuse("the name must have 1 to 100 printable characters".to_owned());
        }
        if self.scope.is_empty() {
            return refuse("the scope must name at least one scope".to_owned());
        }
        if self.kind == ClientType::Service {
            return refuse(
                "the type service is not supported: this version has no client_credentials grant".to_owned(),
            );
        }
        if self.redirect_uris.is_empty() || self.redirect_uris.len() > MAX_REDIRECT_URIS {
            return refuse(format!("a client has 1 to {MAX_REDIRECT_URIS} redirect URIs"));
        }
        for uri in &self.redirect_uris {
            check_redirect_uri(uri, self.kind)
                .map_err(|what| Error::Invalid(format!("redirect URI {uri:?}: {what}")))?;
        }
        let default_scope = match self.default_scope {
            Some(chosen) => chosen,
            None => {
                let general: Scope = scope::DEFAULT.parse().unwrap_or_default();
                Some(self.scope.intersection(&general))
                    .filter(|both| !both.is_empty())
                    .unwrap_or(self.scope.clone())
            }
        };
        if default_scope.is_empty() || !self.scope.covers(&default_scope) {
            return refuse("the default scope must be a non-empty part of the scope".to_owned());
        }
        let secret = self.kind.is_confidential().then(random::token);
        let client = Client {
            id: self.id,
            name: self.name,
            kind: self.kind,
            secret_hash: secret.as_ref().map(Secret::hash),
            redirect_uris: self.redirect_uris,
            scope: self.scope,
            default_scope,
            first_party: self.first_party,
            created_at: now,
        };
        Ok((client, secret))
    }
}

/// Rejects a redirect URI that could deliver a code to someone else (RFC 9700 §2.1, RFC 8252 §7).
fn check_redirect_uri(text: &str, kind: ClientType) -> Result<(), String> {
    let uri = Url::parse(text).map_err(|error| error.to_string())?;
    if uri.as_str() != text {
        return Err(format!("write it in its normal form, {uri}"));
    }
    if text.len() > 2_000 {
        return Err("it is longer than 2000 characters".to_owned());
    }
    if uri.fragment().is_some() || text.contains('*') {
        return Err("it may have no fragment and no wildcard".to_owned());
    }
    if !uri.username().is_empty() || uri.password().is_some() {
        return Err("it may have no user or password".to_owned());
    }
    match uri.scheme() {
        "https" => Ok(()),
        "http" if is_this_host(&uri) => Ok(()),
        "http" => Err("plain http is allowed for 127.0.0.1, [::1] and localhost only".to_owned()),
        // Private-use schemes are reversed domain names (RFC 8252 §7.1); javascript: and data: have no dot.
        scheme if kind == ClientType::Native && scheme.contains('.') => Ok(()),
        scheme => Err(format!(
            "the scheme {scheme} is not allowed: use https, or for a native app a loopback address or a scheme \
             such as org.example.app"
        )),
    }
}

fn is_this_host(uri: &Url) -> bool {
    match uri.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Returns the parts before and after the port of `http://127.0.0.1…` or `http://[::1]…`, else `None`.
fn without_loopback_port(uri: &str) -> Option<(&'static str, &str)> {
    ["http://127.0.0.1", "http://[::1]"]
        .into_iter()
        .find_map(|origin| {
            let rest = uri.strip_prefix(origin)?;
            let path = match rest.strip_prefix(':') {
                None => rest,
                Some(rest) => {
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    let (port, path) = rest.split_at(digits);
                    port.parse::<u16>().ok()?;
                    path
                }
            };
            Some((origin, path))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn client(redirect_uri: &str) -> Client {
        let registration = Registration {
            id: "app".to_owned(),
            name: "App".to_owned(),
            kind: ClientType::Native,
            redirect_uris: vec![redirect_uri.to_owned()],
            scope: Scope::all(),
            default_scope: None,
            first_party: false,
        };
        registration
            .into_client(Timestamp::from_micros(0))
            .map(|(client, _)| client)
            .unwrap()
    }

    #[test]
    fn a_redirect_uri_matches_exactly() {
        let app = client("https://app.test/cb");
        assert!(may_redirect_to(&app, "https://app.test/cb"));
        for other in [
            "https://app.test/cb/",
            "https://app.test/CB",
            "https://app.test:443/cb",
            "http://app.test/cb",
        ] {
            assert!(!may_redirect_to(&app, other), "{other}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_literal_may_vary() {
        let app = client("http://127.0.0.1/cb");
        for good in [
            "http://127.0.0.1/cb",
            "http://127.0.0.1:1024/cb",
            "http://127.0.0.1:65535/cb",
        ] {
            assert!(may_redirect_to(&app, good), "{good}");
        }
        for bad in [
            "http://127.0.0.1:1024/other",
            "http://127.0.0.1:65536/cb",
            "http://127.0.0.1:/cb",
            "http://127.0.0.1:1@evil.test/cb",
            "http://127.0.0.1.evil.test/cb",
            "http://localhost:1024/cb",
            "http://[::1]:1024/cb",
            "https://127.0.0.1:1024/cb",
            "http://127.1:1024/cb",
        ] {
            assert!(!may_redirect_to(&app, bad), "{bad}");
        }
        assert!(!may_redirect_to(
            &client("http://localhost:8080/cb"),
            "http://localhost:8081/cb"
        ));
    }

    #[test]
    fn unsafe_redirect_uris_are_rejected() {
        for bad in [
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "http://app.test/cb",
            "https://*.app.test/cb",
            "https://app.test/cb#x",
            "https://u:p@app.test/cb",
            "https://app.test",
            "https://APP.test/cb",
            "app:/cb",
            "/cb",
        ] {
            assert!(check_redirect_uri(bad, ClientType::Native).is_err(), "{bad}");
        }
        assert!(check_redirect_uri("org.example.app:/cb", ClientType::Native).is_ok());
        assert!(check_redirect_uri("org.example.app:/cb", ClientType::Spa).is_err());
    }

    proptest! {
        #[test]
        fn only_the_port_varies(uri in r"http://127\.0\.0\.1[:/0-9a-z@.?#]{0,12}") {
            let app = client("http://127.0.0.1:9/cb");
            if may_redirect_to(&app, &uri) {
                let parsed = Url::parse(&uri).unwrap();
                prop_assert_eq!((parsed.host_str(), parsed.path(), parsed.query()), (Some("127.0.0.1"), "/cb", None));
            }
        }
    }
}
