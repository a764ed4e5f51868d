//! The pages: plain HTML forms, no script.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use shared::grants::clients::Client;
use shared::http::{Error, origin_of};
use shared::identity::captcha::Captcha;
use shared::scope::{self, Scope};
use url::Url;

/// No `form-action`: browsers apply it to the redirects that follow a form, which lead to the apps.
const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The sign-in form.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub(crate) struct SignIn<'a> {
    pub(crate) csrf: &'a str,
    /// The flow to go on with; empty if there is none.
    pub(crate) flow: &'a str,
    pub(crate) email: &'a str,
    /// What was wrong the last time; empty at first.
    pub(crate) complaint: &'a str,
    /// Whether the account asks for a one-time code, known once the password was right.
    pub(crate) asks_code: bool,
    /// A captcha's.
    pub(crate) widget: Option<Widget<'a>>,
}

/// The widget of a captcha, which its script fills in.
pub(crate) struct Widget<'a> {
    site_key: &'a str,
    script_url: &'a Url,
}

impl<'a> Widget<'a> {
    /// That of a captcha, where its script is known.
    pub(crate) fn of(captcha: &'a Captcha) -> Option<Self> {
        Some(Self {
            site_key: captcha.site_key(),
            script_url: captcha.script_url()?,
        })
    }
}

/// What the consent form shows.
pub(crate) struct Consent<'a> {
    pub(crate) csrf: &'a str,
    pub(crate) flow: &'a str,
    pub(crate) client: &'a Client,
    pub(crate) scope: &'a Scope,
    pub(crate) redirect_uri: &'a str,
    pub(crate) email: &'a str,
}

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentPage<'a> {
    csrf: &'a str,
    flow: &'a str,
    client: &'a str,
    destination: String,
    scopes: Vec<(&'static str, &'static str)>,
    email: &'a str,
}

/// The form for a new password.
#[derive(Template)]
#[template(path = "password.html")]
pub(crate) struct NewPassword<'a> {
    pub(crate) csrf: &'a str,
    pub(crate) flow: &'a str,
    pub(crate) complaint: &'a str,
}

/// The form of those who forgot their password.
#[derive(Template)]
#[template(path = "forgot.html")]
pub(crate) struct Forgot<'a> {
    pub(crate) csrf: &'a str,
    pub(crate) email: &'a str,
    pub(crate) complaint: &'a str,
}

/// The form for a new password, for who has the link from the mail.
#[derive(Template)]
#[template(path = "reset.html")]
pub(crate) struct Reset<'a> {
    pub(crate) csrf: &'a str,
    pub(crate) token: &'a str,
    pub(crate) complaint: &'a str,
}

/// The button that confirms an address, for who has the link from the mail.
#[derive(Template)]
#[template(path = "verify.html")]
pub(crate) struct Verify<'a> {
    pub(crate) csrf: &'a str,
    pub(crate) token: &'a str,
}

#[derive(Template)]
#[template(path = "message.html")]
struct Message<'a> {
    title: &'a str,
    says: &'a str,
    /// Where to go on, and what that is called.
    next: Option<(&'a str, &'a str)>,
}

/// A captcha's script, and what it frames, may be loaded on this page alone and from its origin alone.
pub(crate) fn sign_in(page: &SignIn<'_>) -> Response {
    let mut response = render(page);
    if let Some(widget) = &page.widget {
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

pub(crate) fn password(page: &NewPassword<'_>) -> Response {
    render(page)
}

pub(crate) fn forgot(page: &Forgot<'_>) -> Response {
    render(page)
}

pub(crate) fn reset(page: &Reset<'_>) -> Response {
    render(page)
}

pub(crate) fn verify(page: &Verify<'_>) -> Response {
    render(page)
}

/// Names the client, what it asks for, and where the user will be sent.
pub(crate) fn consent(page: &Consent<'_>) -> Response {
    // Host and port, or the scheme of an installed app's own.
    let destination = match Url::parse(page.redirect_uri) {
        Ok(url) => match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => format!("{}:", url.scheme()),
        },
        Err(_) => String::new(),
    };
    render(&ConsentPage {
        csrf: page.csrf,
        flow: page.flow,
        client: &page.client.name,
        destination,
        scopes: page
            .scope
            .iter()
            .map(|name| (name, scope::in_words(name)))
            .collect(),
        email: page.email,
    })
}

/// Says that somebody is signed in.
pub(crate) fn signed_in(email: &str) -> Response {
    render(&Message {
        title: "You are signed in",
        says: &format!("You are signed in as {email}."),
        next: None,
    })
}

/// Says that something is done, and where to go on.
pub(crate) fn done(title: &str, says: &str, next: Option<(&str, &str)>) -> Response {
    render(&Message { title, says, next })
}

/// Says what went wrong and what to do.
pub(crate) fn error(status: StatusCode, title: &str, says: &str) -> Response {
    let next = None;
    (status, render(&Message { title, says, next })).into_response()
}

/// A flow that is over, unknown, or another browser's.
pub(crate) fn no_such_flow() -> Response {
    error(
        StatusCode::BAD_REQUEST,
        "This sign-in is over",
        "It was finished, took too long, or was begun in another browser. Go back to the application and begin again.",
    )
}

/// A link from a mail that is used, too old or mangled.
pub(crate) fn no_such_link(status: StatusCode) -> Response {
    error(
        status,
        "This link does not work",
        "It was used already, is too old, or there is a newer one; or it was not copied whole. Nothing was changed: \
         ask for another one.",
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

/// Renders a page with the headers that every page has.
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
        // Under no-referrer browsers would send our own forms with Origin: null.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, [("cross-origin-opener-policy", "same-origin")], html).into_response()
}
