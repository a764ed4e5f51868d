//! Client ID metadata documents: an accepted document describes a client within the rules, which it also is
//! when the document is written in another way.

use crate::harness::{ISSUER, NOW};
use http_client::Guard;
use identity::clients::ClientType;
use issuer::clients::documents::{ClientIdUrl, metadata};
use serde_json::Value;

const ID: &str = "https://app.example/client.json";

pub(super) fn check(input: &[u8]) {
    let id = ClientIdUrl::parse(ID, Guard::of_server(ISSUER)).expect("an id");
    let Ok(client) = metadata::parse(input, &id, ISSUER, NOW) else {
        return;
    };
    let document: Value = serde_json::from_slice(input).expect("an accepted document is JSON");
    assert!(document["client_id"] == ID && client.id == ID && document["client_secret"].is_null());
    assert!(client.has_document() && !client.first_party && !client.refresh_cookie);
    assert!(client.secrets.iter().next().is_none() && client.kind != ClientType::Service);
    assert!(client.kind.is_confidential() == client.has_keys());
    assert!((1..=20).contains(&client.redirect_uris.len()) && client.name.chars().count() <= 253);
    assert!(!client.scope.contains("admin") && client.scope.covers(client.default_scope));
    assert!(!client.default_scope.is_empty());
    let again = metadata::parse(document.to_string().as_bytes(), &id, ISSUER, NOW).expect("the same document");
    assert!(again.redirect_uris == client.redirect_uris && again.scope == client.scope && again.kind == client.kind);
}
