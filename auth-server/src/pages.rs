//! The HTML pages: plain forms without scripts.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use foundation::scope;
use foundation::scope::Scope;
use foundation::urls::origin_of;
use identity::captcha::Captcha;
use identity::grants::clients::Client;
use issuer::grants::EndSessionRequest;
use url::Url;
use web::Error;

/// There is no `form-action`: browsers apply it to the redirects that follow a form, which lead to the clients.
const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The parts that all form pages have in common.
#[derive(Clone, Copy)]
pub(crate) struct FormState<'a> {
    /// The anti-forgery token, sent back in a hidden field.
    pub(crate) csrf: &'a str,
    /// The message about the previous attempt, if it failed.
    pub(crate) error: Option<&'a str>,
}

/// The sign-in form.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub(crate) struct SignInPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The authorization flow that continues after sign-in.
    pub(crate) flow: Option<&'a str>,
    pub(crate) email: &'a str,
    /// Whether the form has a field for a one-time code: only after the password was right.
    pub(crate) asks_code: bool,
    pub(crate) captcha: Option<CaptchaWidget<'a>>,
}

/// The element that the script of a captcha service fills in.
pub(crate) struct CaptchaWidget<'a> {
    site_key: &'a str,
    script_url: &'a Url,
}

impl<'a> CaptchaWidget<'a> {
    /// Returns the widget of a captcha, or `None` if no script is configured.
    pub(crate) fn new(captcha: &'a Captcha) -> Option<Self> {
        Some(Self {
            site_key: captcha.site_key(),
            script_url: captcha.script_url()?,
        })
    }
}

/// The consent form.
pub(crate) struct ConsentPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) flow: &'a str,
    pub(crate) client: &'a Client,
    /// The requested scope.
    pub(crate) scope: Scope,
    /// The scope that the user granted to the client before.
    pub(crate) granted: Scope,
    pub(crate) redirect_uri: &'a str,
    pub(crate) email: &'a str,
}

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentTemplate<'a> {
    form: FormState<'a>,
    flow: &'a str,
    client: &'a str,
    destination: String,
    /// The name and the description of each requested scope that the user has not granted to the client.
    new_scopes: Vec<(&'static str, &'static str)>,
    /// The same of each requested scope that the user granted before.
    granted_scopes: Vec<(&'static str, &'static str)>,
    email: &'a str,
}

/// The form to change a password.
#[derive(Template)]
#[template(path = "password.html")]
pub(crate) struct PasswordPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The authorization flow that continues after the change.
    pub(crate) flow: Option<&'a str>,
}

/// The form to confirm a sign-out.
#[derive(Template)]
#[template(path = "sign_out.html")]
pub(crate) struct SignOutPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) email: &'a str,
    pub(crate) request: &'a EndSessionRequest,
}

/// The form that requests a password reset.
#[derive(Template)]
#[template(path = "forgot.html")]
pub(crate) struct ForgotPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) email: &'a str,
}

/// The form behind the link of a password reset.
#[derive(Template)]
#[template(path = "reset.html")]
pub(crate) struct ResetPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) token: &'a str,
}

/// The button behind the link that confirms an address.
#[derive(Template)]
#[template(path = "verify.html")]
pub(crate) struct VerifyPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) token: &'a str,
}

#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    title: &'a str,
    text: &'a str,
    /// The path and the label of a link to the next page.
    next: Option<(&'a str, &'a str)>,
}

/// Renders the sign-in page. The script of a captcha, and its frames, may be loaded on this page alone, and
/// from the script's origin alone.
pub(crate) fn sign_in(page: &SignInPage<'_>) -> Response {
    let mut response = render(page);
    if let Some(widget) = &page.captcha {
        let origin = origin_of(widget.script_url);
        let policy = format!(
            "{CONTENT_SECURITY_POLICY}; script-src {origin}; frame-src {origin}; connect-src {origin}"
        );
        if let Ok(policy) = HeaderValue::try_from(policy) {
            response
                .headers_mut()
                .insert(header::CONTENT_SECURITY_POLICY, policy);
        }
    }
    response
}

/// Renders the consent page, which names the client, the scopes and the host of the redirect URI.
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
    render(&ConsentTemplate {
        form: page.form,
        flow: page.flow,
        client: &page.client.name,
        destination,
        new_scopes: in_words(page.scope.difference(page.granted)),
        granted_scopes: in_words(page.scope.intersection(page.granted)),
        email: page.email,
    })
}

/// Returns the name and the description of each scope.
fn in_words(scope: Scope) -> Vec<(&'static str, &'static str)> {
    scope.iter().map(|name| (name, scope::in_words(name))).collect()
}

/// Returns the page for a signed-in user who opens the sign-in page outside any authorization flow.
pub(crate) fn signed_in(email: &str) -> Response {
    let text = format!("You are signed in as {email}.");
    message("You are signed in", &text, None)
}

/// Returns a page with a message and, optionally, the path and the label of a link to the next page.
pub(crate) fn message(title: &str, text: &str, next: Option<(&str, &str)>) -> Response {
    render(&MessagePage { title, text, next })
}

/// Returns a page with an error message, which should tell the user what to do.
pub(crate) fn error(status: StatusCode, title: &str, text: &str) -> Response {
    (status, message(title, text, None)).into_response()
}

/// 400: the authorization flow is finished, expired, unknown, or bound to another browser.
pub(crate) fn flow_not_found() -> Response {
    error(
        StatusCode::BAD_REQUEST,
        "This sign-in has expired",
        "It was completed already, took too long, or began in another browser. Go back to the application and start \
         again.",
    )
}

/// Returns the page for a link from a mail whose token is missing or invalid.
pub(crate) fn invalid_link(status: StatusCode) -> Response {
    error(
        status,
        "This link does not work",
        "The link was used already, has expired, was replaced by a newer one, or was not copied completely. Nothing \
         was changed. Request a new link.",
    )
}

/// `GET /assets/latchkey.css`.
pub(crate) async fn stylesheet() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, include_str!("../assets/latchkey.css"))
}

/// Renders a page, with the security headers of all pages.
pub fn render(page: &impl Template) -> Response {
    let html = match page.render() {
        Ok(html) => html,
        Err(error) => return Error::internal(&error).into_response(),
    };
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(CONTENT_SECURITY_POLICY),
        ),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        // With no-referrer, browsers would send these forms with Origin: null.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, [("cross-origin-opener-policy", "same-origin")], html).into_response()
}
