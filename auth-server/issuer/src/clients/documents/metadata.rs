//! The content of a client ID metadata document: client metadata, read as those of a client that registers
//! itself, with the restrictions of draft-ietf-oauth-client-id-metadata-document-02 §4.

use super::ClientIdUrl;
use crate::clients::metadata::{ClientMetadata, UNUSED_LIFETIME};
use crate::clients::rules;
use foundation::clock::Timestamp;
use foundation::json;
use identity::clients::{Client, ClientOrigin, ClientType};
use serde_json::Value;

/// The methods by which a client without a shared secret authenticates.
const METHODS: [&str; 2] = ["none", "private_key_jwt"];

/// Parses a document at the URL `id` for the issuer with the URL `issuer`. Returns the client that it
/// describes. Fails with a reason for the developer of the client.
pub fn parse(body: &[u8], id: &ClientIdUrl, issuer: &str, now: Timestamp) -> Result<Client, String> {
    let metadata = ClientMetadata::parse(body).map_err(|error| error.to_string())?;
    if metadata.client_id.as_deref() != Some(id.as_str()) {
        return Err(format!("its client_id is not {}", id.as_str()));
    }
    // Read here because a registration ignores the expiry, and takes an empty secret as none.
    let document = json::parse(body).map_err(|error| error.to_string())?;
    let has = |name| document.get(name).is_some_and(|value: &Value| !value.is_null());
    if has("client_secret") || has("client_secret_expires_at") {
        return Err("it has a client_secret, which everybody could read: use private_key_jwt".to_owned());
    }
    let client = client(metadata, id, issuer, now)?;
    rules::check_members(&client, issuer).map_err(|flaw| flaw.reason)?;
    Ok(client)
}

/// Returns a client that has registered this redirect URI and may request whatever a document can give. Fails
/// if no document may have the redirect URI.
pub(super) fn stand_in(
    id: &ClientIdUrl,
    redirect_uri: &str,
    issuer: &str,
    now: Timestamp,
) -> Result<Client, String> {
    let metadata = ClientMetadata {
        redirect_uris: Some(vec![redirect_uri.to_owned()]),
        application_type: Some("native".to_owned()),
        ..ClientMetadata::default()
    };
    client(metadata, id, issuer, now)
}

/// Returns the client with these metadata, of which only the redirect URIs are checked.
fn client(
    metadata: ClientMetadata,
    id: &ClientIdUrl,
    issuer: &str,
    now: Timestamp,
) -> Result<Client, String> {
    let method = metadata.token_endpoint_auth_method.as_deref().unwrap_or("none");
    if !METHODS.contains(&method) {
        return Err("its token_endpoint_auth_method is neither none nor private_key_jwt".to_owned());
    }
    let metadata = ClientMetadata {
        token_endpoint_auth_method: Some(method.to_owned()),
        client_name: metadata.client_name.or_else(|| Some(id.host().to_owned())),
        // An app can push requests only when its document is known.
        require_pushed_authorization_requests: None,
        ..metadata
    };
    let registration = metadata.into_registration(id.as_str().to_owned(), issuer);
    let (registration, _) = registration.map_err(|error| error.to_string())?;
    if registration.kind == ClientType::Service {
        return Err("its grant_types lack authorization_code".to_owned());
    }
    let (client, _) = registration.into_unchecked(now);
    Ok(Client {
        origin: ClientOrigin::Document,
        unused_until: Some(now.after(UNUSED_LIFETIME)),
        // Not that of a deleted client with the same URL, whose tokens stay ended.
        epoch: now.micros(),
        ..client
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_client::Guard;
    use proptest::prelude::*;
    use serde_json::json;

    const ISSUER: &str = "https://id.example.org";
    const ID: &str = "https://app.example/client.json";

    fn parse_json(document: &Value) -> Result<Client, String> {
        let id = ClientIdUrl::parse(ID, Guard::of_server(ISSUER)).unwrap();
        parse(
            document.to_string().as_bytes(),
            &id,
            ISSUER,
            Timestamp::from_micros(1),
        )
    }

    fn document(members: &Value) -> Value {
        let mut document = json!({ "client_id": ID, "redirect_uris": ["https://app.example/cb"] });
        let (target, added) = (document.as_object_mut().unwrap(), members.as_object().unwrap());
        target.extend(added.clone());
        document
    }

    #[test]
    fn a_client_without_a_method_is_public() {
        for (members, kind) in [
            (json!({}), ClientType::Spa),
            (
                json!({ "redirect_uris": ["http://127.0.0.1/cb"] }),
                ClientType::Native,
            ),
            (
                json!({ "redirect_uris": ["https://app.example/cb", "org.example.app:/cb"] }),
                ClientType::Native,
            ),
            (
                json!({ "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://app.example/jwks" }),
                ClientType::Web,
            ),
        ] {
            let client = parse_json(&document(&members)).unwrap();
            assert_eq!(client.kind, kind, "{members}");
            assert_eq!(client.name, "app.example");
            assert!(client.has_document() && !client.first_party);
        }
    }

    #[test]
    fn a_stand_in_may_request_what_a_document_can_give() {
        let id = ClientIdUrl::parse(ID, Guard::of_server(ISSUER)).unwrap();
        let stand_in = |uri| stand_in(&id, uri, ISSUER, Timestamp::from_micros(1));
        let native = stand_in("org.example.app:/cb").unwrap();
        assert_eq!(native.scope, parse_json(&document(&json!({}))).unwrap().scope);
        assert!(!native.scope.contains("admin"));
        let of_issuer = format!("{ISSUER}/docs/try");
        for bad in ["", "javascript:alert(1)", "http://app.example/cb", &of_issuer] {
            assert!(stand_in(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn an_accepted_document_obeys_the_rules(
            method in prop::sample::select(vec!["none", "private_key_jwt", "client_secret_basic", "client_secret_jwt"]),
            uris in prop::collection::vec(
                prop::sample::select(vec!["https://app.example/cb", "http://127.0.0.1/cb", "a.b:/cb", "http://a/", "x"]), 0..22),
            scope in prop::option::of("(admin|posts:read|payments:write|x| ){0,4}"),
        ) {
            let members = json!({
                "token_endpoint_auth_method": method, "redirect_uris": uris, "scope": scope,
                "jwks_uri": "https://app.example/jwks",
            });
            if let Ok(client) = parse_json(&document(&members)) {
                prop_assert!((1..=20).contains(&client.redirect_uris.len()));
                prop_assert!(!client.scope.contains("admin") && !client.scope.is_empty());
                prop_assert_eq!(client.kind.is_confidential(), method == "private_key_jwt");
                prop_assert_eq!(client.has_keys(), client.kind.is_confidential());
                prop_assert!(client.secrets.iter().next().is_none());
            }
        }
    }
}
