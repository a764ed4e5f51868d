//! `/admin/apps/new`: the pages on which an administrator creates an app, reviews it, and sees its secret
//! once.

use super::{require_administrator, require_recent_administrator};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::documentation::{FormErrors, NewClientErrors, SessionErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AccountQuery, NewClientForm};
use crate::http::reauthentication::require_recent_sign_in;
use crate::pages::{self, EnteredClient, text};
use crate::paths;
use axum::extract::State;
use axum::response::Response;
use foundation::scope::{self, Scope};
use foundation::{json, random, secret};
use http_client::{ForeignUrl, Guard};
use identity::clients::ClientType;
use issuer::clients::{Error, Registration, RegistrationFlaw, register};
use serde_json::Value;
use url::Url;
use web::Context;

/// Show the page that creates an app
///
/// Only for administrators who signed in within the last ten minutes.
#[utoipa::path(
    get, path = paths::ADMIN_NEW_CLIENT, operation_id = "showNewClient", tag = "Pages", params(AccountQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, which leads back.", headers(("Location"))),
        SessionErrors, NewClientErrors,
    )
)]
pub(crate) async fn show(
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let just_signed_in = query.signed_in.is_some();
    let session = require_administrator(session, paths::ADMIN_NEW_CLIENT, just_signed_in)?;
    let session = require_recent_sign_in(Some(session), paths::ADMIN_NEW_CLIENT, false, &context)?;
    let entered = EnteredClient {
        kind: "",
        name: "",
        redirect_uris: "",
        keys: "",
        scope: scope::DEFAULT,
        first_party: false,
    };
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| pages::new_client(form, entered)))
}

/// Create an app by a form
///
/// The first step shows the app for a review, and creates nothing. The second has the effect of the operation
/// `createClient`, with an id that the issuer chooses, and shows the secret once. Requires a sign-in within
/// the last ten minutes.
#[utoipa::path(
    post, path = paths::ADMIN_NEW_CLIENT, operation_id = "createClientByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = NewClientForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The page that shows the app for a review, or the created one.", body = String,
         content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, NewClientErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<NewClientForm>,
) -> Result<Response, FlowError> {
    let (session, administrator) = require_recent_administrator(session, paths::ADMIN_NEW_CLIENT, &context)?;
    let renderer = renderer.for_user(&session);
    let entered = EnteredClient {
        kind: &fields.kind,
        name: &fields.name,
        redirect_uris: &fields.redirect_uris,
        keys: without_private_keys(&fields.keys),
        scope: &fields.scope,
        first_party: fields.first_party == "yes",
    };
    if fields.step == "edit" {
        return Ok(renderer.show(|form| pages::new_client(form, entered)));
    }
    let registration = match read(&fields, &app.grants.issuer) {
        Ok(registration) => registration,
        Err(error) => {
            return Ok(renderer.show_again(error, |form| pages::new_client(form, entered)));
        }
    };
    if fields.step != "create" {
        let url = app.policy.url(paths::ADMIN_CLIENTS);
        return Ok(renderer.show(|form| pages::client_review(form, entered, &registration, &url)));
    }
    let registered = register(&app.identity.db, &app.grants.issuer, registration, &administrator).await;
    match registered {
        Ok((client, secret)) => {
            let path = paths::of_client(&client.id);
            Ok(pages::client_created(&client, secret.as_ref(), &path))
        }
        Err(error) => Ok(renderer.show_again(error.into(), |form| pages::new_client(form, entered))),
    }
}

/// Reads the registration in a form, and checks it.
fn read(fields: &NewClientForm, issuer: &str) -> Result<Registration, FormError> {
    let id = match fields.step.as_str() {
        "create" => fields.id.clone(),
        _ => random::uuid(),
    };
    let kind = ClientType::named(&fields.kind);
    let kind = kind.ok_or_else(|| FormError::invalid(&text::of("new-app-type-missing")))?;
    let scope: Result<Scope, _> = fields.scope.parse();
    let scope = scope.map_err(|error| {
        let flaw = RegistrationFlaw::of("scope", format!("the scope has an {error}"));
        Error::Invalid(flaw)
    })?;
    let (jwks, jwks_uri) = read_keys(fields.keys.trim(), issuer).map_err(Error::Invalid)?;
    let uris = fields.redirect_uris.lines().map(str::trim);
    let registration = Registration {
        redirect_uris: uris.filter(|uri| !uri.is_empty()).map(str::to_owned).collect(),
        first_party: fields.first_party == "yes",
        jwks,
        jwks_uri,
        ..Registration::new(id, fields.name.trim().to_owned(), kind, scope)
    };
    registration.check(issuer).map_err(Error::Invalid)?;
    Ok(registration)
}

/// Reads the public keys of an app: a JWK set, or the URL of one. An empty text has neither.
fn read_keys(text: &str, issuer: &str) -> Result<(Option<Value>, Option<ForeignUrl>), RegistrationFlaw> {
    if text.is_empty() {
        return Ok((None, None));
    }
    if text.starts_with('{') {
        let jwks = json::parse(text.as_bytes());
        let jwks = jwks.map_err(|error| RegistrationFlaw::of("jwks", format!("the JWK set: {error}")))?;
        return Ok((Some(jwks), None));
    }
    if !is_url(text) {
        let reason = "the public keys must be a JWK set, or the URL of one";
        return Err(RegistrationFlaw::of("jwks", reason));
    }
    let uri = Guard::of_server(issuer).parse(text);
    let flaw =
        |flaw: String| RegistrationFlaw::of("jwks_uri", format!("the URL of the keys {text:?}: {flaw}"));
    Ok((None, Some(uri.map_err(flaw)?)))
}

/// Returns the keys as they were typed if they are a JWK set of public keys or a URL, or else nothing: no
/// page repeats a secret, and a text that cannot be parsed may be a private key.
fn without_private_keys(text: &str) -> &str {
    let is_public = match json::parse(text.trim().as_bytes()) {
        Ok(jwks) => {
            let keys = jwks["keys"].as_array();
            keys.is_some_and(|keys| !keys.iter().chain([&jwks]).any(secret::has_private_member))
        }
        Err(_) => is_url(text.trim()),
    };
    if is_public { text } else { "" }
}

/// Returns whether the whole text is a URL with a host. A private key may have a URL as one of its members.
fn is_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| url.has_host()) && !text.contains(char::is_whitespace)
}
