//! The page on which a user decides about the request of a client.

use super::{CONTENT_SECURITY_POLICY, FormState, in_words, presentation, render, set_policy, text};
use askama::Template;
use axum::response::Response;
use foundation::scope::Scope;
use identity::clients::{Client, ClientOrigin};
use identity::users::User;
use issuer::clients::documents::authority_of;
use url::Url;

/// The consent form.
pub(crate) struct ConsentPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) flow: &'a str,
    pub(crate) client: &'a Client,
    /// The logo of a client that describes itself, as a `data:` URL.
    pub(crate) logo: Option<&'a str>,
    /// The version of the description of a client that describes itself.
    pub(crate) client_version: Option<String>,
    /// The requested scope.
    pub(crate) scope: Scope,
    /// The scope that the user granted to the client before.
    pub(crate) granted: Scope,
    pub(crate) redirect_uri: &'a str,
    /// The user who decides.
    pub(crate) user: &'a User,
    /// The path of the page on which another user signs in.
    pub(crate) sign_in: String,
    /// The path of the page on which the user can add a passkey, if the page offers one.
    pub(crate) passkey_offer: Option<String>,
}

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentTemplate<'a> {
    form: FormState<'a>,
    flow: &'a str,
    client: &'a str,
    logo: Option<&'a str>,
    /// The host of the document of a client that describes itself, and the version of its description.
    document: Option<(String, &'a str)>,
    destination: String,
    /// The name of this service.
    service: &'a str,
    /// The name and the description of each requested scope that the user has not granted to the client.
    new_scopes: Vec<(&'static str, String)>,
    /// The same of each requested scope that the user granted before.
    granted_scopes: Vec<(&'static str, String)>,
    /// The id of the user who decides, which the form sends back.
    user: i64,
    email: &'a str,
    sign_in: &'a str,
    passkey_offer: Option<&'a str>,
    /// Whether the client registered itself, so that nobody has checked its name.
    registered_itself: bool,
}

/// Renders the consent page, which names the client, the scopes and the host of the redirect URI. Images
/// inside the page are allowed on this page alone, if it shows a logo.
pub(crate) fn consent(page: &ConsentPage<'_>) -> Response {
    // The host and port, or the private-use scheme of an installed app (RFC 8252 §7.1).
    let destination = match Url::parse(page.redirect_uri) {
        Ok(url) => match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => format!("{}:", url.scheme()),
        },
        Err(_) => String::new(),
    };
    let client = page.client.name.as_str();
    let brand = presentation::brand();
    let template = ConsentTemplate {
        form: page.form,
        flow: page.flow,
        client,
        logo: page.logo,
        document: page
            .client_version
            .as_deref()
            .map(|version| (authority_of(&page.client.id), version)),
        destination,
        service: &brand.name,
        new_scopes: in_words(page.scope.difference(page.granted)),
        granted_scopes: in_words(page.scope.intersection(page.granted)),
        user: page.user.id,
        email: &page.user.email,
        sign_in: &page.sign_in,
        passkey_offer: page.passkey_offer.as_deref(),
        registered_itself: page.client.origin == ClientOrigin::Registration,
    };
    let title = text::of("consent").with("client", client).plain();
    let mut response = render(&title, &template);
    if page.logo.is_some() {
        set_policy(
            &mut response,
            &CONTENT_SECURITY_POLICY.replace("img-src 'self'", "img-src 'self' data:"),
        );
    }
    response
}
