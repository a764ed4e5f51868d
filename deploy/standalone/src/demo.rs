//! The demo pages: the front page, and the redirect URI of the demo client.

use crate::first_start::has_demo_client;
use askama::Template;
use auth_server::pages::render;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use foundation::urls::Urls;

/// The path of the demo client's redirect URI.
pub(crate) const PATH: &str = "/demo";

#[derive(Template)]
#[template(path = "home.html")]
struct Home;

/// The parameters of an authorization response (RFC 6749 §4.1.2).
#[derive(Default, Template)]
#[template(path = "demo.html")]
struct Callback {
    code: String,
    state: String,
    error: String,
    error_description: String,
}

/// Returns the routes of the demo pages: the front page, and the redirect URI if there is a demo client.
#[allow(
    clippy::disallowed_methods,
    reason = "the demo pages are not part of the documented interface"
)]
pub(crate) fn routes(urls: &Urls) -> Router {
    let routes = Router::new().route("/", get(home));
    match has_demo_client(urls) {
        true => routes.route(PATH, get(callback)),
        false => routes,
    }
}

async fn home() -> Response {
    render(&Home)
}

async fn callback(RawQuery(query): RawQuery) -> Response {
    let mut callback = Callback::default();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "code" => callback.code = value.into_owned(),
            "state" => callback.state = value.into_owned(),
            "error" => callback.error = value.into_owned(),
            "error_description" => callback.error_description = value.into_owned(),
            _ => {}
        }
    }
    render(&callback)
}
