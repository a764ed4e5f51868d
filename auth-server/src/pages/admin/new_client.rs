//! The pages on which an administrator creates an app.

use super::clients::kind_in_words;
use super::{InTerminal, quoted};
use crate::pages::text::Text;
use crate::pages::{FormState, in_words, render, render_in_tab, text};
use crate::paths;
use askama::Template;
use axum::response::Response;
use foundation::scope::Scope;
use foundation::secret::Secret;
use identity::clients::{Client, ClientType};
use issuer::clients::Registration;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// An app, as an administrator entered it.
#[derive(Clone, Copy)]
pub(crate) struct EnteredClient<'a> {
    /// The name of the type.
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
    /// The redirect URIs, one per line.
    pub(crate) redirect_uris: &'a str,
    /// The URL of its public keys, or these keys.
    pub(crate) keys: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) first_party: bool,
}

#[derive(Template)]
#[template(path = "new_client.html")]
struct NewClientTemplate<'a> {
    form: FormState<'a>,
    entered: EnteredClient<'a>,
    kinds: Vec<KindItem>,
    /// All scopes with their descriptions.
    scopes: Vec<(&'static str, String)>,
    path: &'static str,
}

struct KindItem {
    name: &'static str,
    label: String,
    /// When to choose the type, and how such an app authenticates.
    explanation: Text<'static>,
    is_chosen: bool,
}

/// Renders the form that creates an app.
pub(crate) fn new_client(form: FormState<'_>, entered: EnteredClient<'_>) -> Response {
    let kind = |kind: ClientType| KindItem {
        name: kind.as_str(),
        label: kind_in_words(kind),
        explanation: match kind {
            ClientType::Spa => text::of("client-spa-explanation"),
            ClientType::Native => text::of("client-native-explanation"),
            ClientType::Web => text::of("client-web-explanation"),
            ClientType::Service => text::of("client-service-explanation"),
        },
        is_chosen: entered.kind == kind.as_str(),
    };
    let template = NewClientTemplate {
        form,
        entered,
        kinds: ClientType::ALL.map(kind).into(),
        scopes: in_words(Scope::all()),
        path: paths::ADMIN_NEW_CLIENT,
    };
    render_in_tab("clients", &text::of("new-app").plain(), &template)
}

#[derive(Template)]
#[template(path = "client_review.html")]
struct ClientReviewTemplate<'a> {
    form: FormState<'a>,
    entered: EnteredClient<'a>,
    registration: &'a Registration,
    kind: String,
    authentication: Text<'static>,
    /// The URL of its public keys, or the name of each.
    keys: Vec<String>,
    scopes: Vec<(&'static str, String)>,
    path: &'static str,
    in_terminal: InTerminal,
}

/// Renders an app before it is created. `url` is that of the list of apps.
pub(crate) fn client_review(
    form: FormState<'_>,
    entered: EnteredClient<'_>,
    registration: &Registration,
    url: &str,
) -> Response {
    let template = ClientReviewTemplate {
        form,
        entered,
        registration,
        kind: kind_in_words(registration.kind),
        authentication: match registration.kind.is_confidential() {
            true if entered.keys.trim().is_empty() => text::of("new-app-secret-follows"),
            true => text::of("new-app-has-keys"),
            false => text::of("new-app-no-secret"),
        },
        keys: public_keys(registration),
        scopes: in_words(registration.scope),
        path: paths::ADMIN_NEW_CLIENT,
        in_terminal: creation(registration, url),
    };
    render_in_tab("clients", &text::of("new-app-review").plain(), &template)
}

/// Returns the URL of the public keys, or the `kid` of each, or its type if it has none.
fn public_keys(registration: &Registration) -> Vec<String> {
    let keys = registration
        .jwks
        .as_ref()
        .and_then(|jwks| jwks["keys"].as_array());
    let name = |key: &Value| key["kid"].as_str().or(key["kty"].as_str()).map(str::to_owned);
    let names = keys.into_iter().flatten().filter_map(name);
    let uri = registration.jwks_uri.clone().map(String::from);
    uri.into_iter().chain(names).collect()
}

/// Returns the command and the call that create the app.
fn creation(registration: &Registration, url: &str) -> InTerminal {
    let (kind, scope) = (registration.kind.as_str(), registration.scope.to_string());
    let options = [
        ("id", registration.id.as_str()),
        ("name", registration.name.as_str()),
        ("type", kind),
        ("scope", scope.as_str()),
    ];
    let uris = registration.redirect_uris.iter();
    let uris = uris.map(|uri| ("redirect-uri", uri.as_str()));
    let options = options.into_iter().chain(uris);
    let options = options.map(|(name, value)| format!(" --{name}={}", quoted(value)));
    let mut command = format!("clients create{}", options.collect::<String>());
    if registration.first_party {
        command.push_str(" --first-party");
    }
    let mut body = json!({
        "id": registration.id,
        "name": registration.name,
        "type": kind,
        "scope": scope,
        "redirect_uris": registration.redirect_uris,
        "first_party": registration.first_party,
    });
    if let Some(uri) = registration.jwks_uri.clone().map(String::from) {
        let _ = write!(command, " --jwks-uri={}", quoted(&uri));
        body["jwks_uri"] = json!(uri);
    }
    if let Some(jwks) = &registration.jwks {
        let _ = write!(command, " --jwks=/dev/stdin <<'END'\n{jwks}\nEND");
        body["jwks"] = jwks.clone();
    }
    let body = quoted(&body.to_string());
    InTerminal::new(&command, &format!("--json {body} {}", quoted(url)))
}

#[derive(Template)]
#[template(path = "client_secret.html")]
struct ClientSecretTemplate<'a> {
    title: &'a str,
    id: &'a str,
    /// The secret, which is shown once.
    secret: Option<&'a str>,
    /// How the app authenticates without one.
    without_secret: Text<'static>,
    /// Whether the app had a secret before.
    is_rotation: bool,
    /// The path of the page of the app.
    next: &'a str,
}

/// Renders a new app with its secret, if it has one, and a link to the page with the path `next`.
pub(crate) fn client_created(client: &Client, secret: Option<&Secret>, next: &str) -> Response {
    let without_secret = match client.has_keys() {
        true => text::of("new-app-has-keys"),
        false => text::of("new-app-no-secret"),
    };
    let title = text::of("new-app-created").plain();
    let template = ClientSecretTemplate {
        title: &title,
        id: &client.id,
        secret: secret.map(Secret::expose),
        without_secret,
        is_rotation: false,
        next,
    };
    render(&title, &template)
}

/// Renders the new secret of an app, and a link to the page with the path `next`.
pub(crate) fn client_secret(id: &str, secret: &Secret, next: &str) -> Response {
    let title = text::of("client-new-secret").plain();
    let template = ClientSecretTemplate {
        title: &title,
        id,
        secret: Some(secret.expose()),
        without_secret: text::of("new-app-no-secret"),
        is_rotation: true,
        next,
    };
    render(&title, &template)
}
