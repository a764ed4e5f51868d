//! The metadata of clients that register themselves: what is accepted without a token is the metadata of an
//! app with safe redirect URIs.

use crate::harness::{ISSUER, empty_database, wait};
use audit::events::EventRecorder;
use foundation::context::RequestContext;
use issuer::clients::ClientMetadata;
use issuer::registrations::{ClientRegistration, Error, Registrations};
use revocation::RevocationMirror;
use serde_json::Value;
use storage::expiring::ExpiringStore;
use storage::notifications::Notifications;
use url::Url;

pub(super) fn check(input: &[u8]) {
    let Ok(metadata) = ClientMetadata::parse(input) else {
        assert!(!is_accepted(input), "what cannot be parsed is not accepted");
        return;
    };
    let value = foundation::json::parse(input).expect("accepted metadata are strict JSON");
    assert!(value.is_object() && value["software_statement"] == Value::Null);
    for (member, text) in [("client_name", &metadata.client_name), ("scope", &metadata.scope)] {
        assert_eq!(text.as_deref(), value[member].as_str().filter(|text| !text.is_empty()));
    }
    if !is_accepted(input) {
        return;
    }
    let uris = metadata.redirect_uris.expect("an app has redirect URIs");
    assert!((1..=20).contains(&uris.len()));
    for text in uris {
        let uri = Url::parse(&text).expect("an accepted URI is a URL");
        let is_safe = match uri.scheme() {
            "https" => true,
            "http" => http_client::is_loopback(&uri),
            scheme => scheme.contains('.') && metadata.token_endpoint_auth_method.as_deref() == Some("none"),
        };
        assert!(is_safe && uri.as_str() == text && uri.fragment().is_none());
    }
}

/// Returns whether a client with these metadata would be stored, in a database without tables.
fn is_accepted(input: &[u8]) -> bool {
    let db = empty_database().clone();
    wait(async {
        let revocations = RevocationMirror::new(&db, Notifications::new(None), |_| ());
        let (policy, counts) = (ClientRegistration::Open, ExpiringStore::new(None));
        let events = EventRecorder::new(db.clone());
        let registrations = Registrations::new(db, policy, ISSUER.to_owned(), revocations, events, counts);
        let context = RequestContext::without_request();
        match registrations.register(input, None, &context).await {
            Err(Error::Database(_)) => true,
            Err(Error::Metadata(_)) => false,
            other => unreachable!("{:?}", other.err()),
        }
    })
}
