//! The pages that show a newcomer around: the front page, and where the demo client's codes arrive.

use askama::Template;
use auth_server::pages::render;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;

/// The demo client's redirect URI, below the base URL.
pub(crate) const PATH: &str = "/demo";

#[derive(Template)]
#[template(path = "home.html")]
struct Home;

/// An authorization response (RFC 6749 §4.1.2).
#[derive(Default, Template)]
#[template(path = "demo.html")]
struct Arrived {
    code: String,
    state: String,
    error: String,
    error_description: String,
}

/// The demo's routes.
#[allow(
    clippy::disallowed_methods,
    reason = "the demo is no part of the product's interface"
)]
pub(crate) fn routes() -> Router {
    Router::new().route("/", get(home)).route(PATH, get(arrived))
}

async fn home() -> Response {
    render(&Home)
}

async fn arrived(RawQuery(query): RawQuery) -> Response {
    let mut arrived = Arrived::default();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "code" => arrived.code = value.into_owned(),
            "state" => arrived.state = value.into_owned(),
            "error" => arrived.error = value.into_owned(),
            "error_description" => arrived.error_description = value.into_owned(),
            _ => {}
        }
    }
    render(&arrived)
}
