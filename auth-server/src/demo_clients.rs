//! The public first-party clients of a trial on loopback, which `latchkey` creates there.

use foundation::context::RequestContext;
use identity::clients::{self, Client, ClientType};
use identity::users::Role;
use issuer::clients::{Registration, disable};
use runtime::startup::{Error, Runtime};

/// The `client_id` of the demo client.
pub const DEMO_CLIENT_ID: &str = "demo";
/// The path of the demo client's redirect URI, and of the demo app.
pub const DEMO_PATH: &str = "/demo";
/// The `client_id` of the demo app.
pub const DEMO_APP_ID: &str = "demo-app";
/// The path of the demo app's redirect URI.
pub const DEMO_APP_CALLBACK: &str = "/demo/callback";
/// The `client_id` of the page of the reference that sends requests. The page proposes it.
const REFERENCE_ID: &str = "reference";
/// The path of that page, to which its sign-in returns.
const REFERENCE_PATH: &str = "/docs/try";

/// Returns the registrations of the demo client, of the demo app, and of the page of the reference.
pub fn registrations(runtime: &Runtime) -> [Registration; 3] {
    [
        demo_client(runtime),
        app(runtime, DEMO_APP_ID, "Latchkey demo app", DEMO_APP_CALLBACK),
        app(runtime, REFERENCE_ID, "API reference", REFERENCE_PATH),
    ]
}

fn demo_client(runtime: &Runtime) -> Registration {
    let (id, name) = (DEMO_CLIENT_ID.to_owned(), "Latchkey demo".to_owned());
    Registration {
        redirect_uris: vec![
            runtime.policy.url(DEMO_PATH),
            "http://127.0.0.1/callback".to_owned(),
        ],
        post_logout_redirect_uris: vec![runtime.policy.url(DEMO_PATH)],
        first_party: true,
        ..Registration::new(id, name, ClientType::Spa, Role::User.scope())
    }
}

/// The demo client has its refresh tokens in bodies, for programs without a browser, and the apps in a
/// cookie. Their pages are on the origin of the issuer, which alone receives the cookie.
fn app(runtime: &Runtime, id: &str, name: &str, callback: &str) -> Registration {
    let (id, name) = (id.to_owned(), name.to_owned());
    Registration {
        redirect_uris: vec![format!("{}{callback}", runtime.urls.issuer)],
        first_party: true,
        refresh_cookie: true,
        ..Registration::new(id, name, ClientType::Spa, Role::User.scope())
    }
}

/// Disables the clients of a trial that has become an installation of production, by its base URL or as a
/// database that `latchkey copy` filled. Any program on a user's machine can act as these clients.
pub(crate) async fn disable_unchanged(runtime: &Runtime) -> Result<(), Error> {
    let (db, revocations) = (&runtime.identity.db, &runtime.identity.revocations);
    let context = RequestContext::without_request();
    for created in registrations(runtime) {
        let found = clients::find(db, &created.id).await?;
        let Some(client) =
            found.filter(|client| client.disabled_at.is_none() && is_unchanged(client, &created))
        else {
            continue;
        };
        let disabled = disable(db, revocations, &client.id, &context).await;
        disabled.map_err(|error| Error::Other(error.to_string()))?;
        tracing::warn!(
            client_id = client.id.as_str(),
            "the demo client is disabled, because this installation is not on loopback any more"
        );
    }
    Ok(())
}

/// Returns whether the operator has made no other client of it.
fn is_unchanged(client: &Client, created: &Registration) -> bool {
    // The first redirect URI is at the former base URL, so only its path is compared.
    client.name == created.name
        && client.first_party
        && client.scope == created.scope
        && first_path(&client.redirect_uris) == first_path(&created.redirect_uris)
        && client.redirect_uris.get(1..) == created.redirect_uris.get(1..)
}

/// Returns the path of the first of these URIs, without the slash at its beginning.
fn first_path(uris: &[String]) -> Option<&str> {
    uris.first()?.splitn(4, '/').nth(3)
}
