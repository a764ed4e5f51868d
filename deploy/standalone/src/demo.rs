//! The pages that show a newcomer around: the front page, and where the demo client's codes arrive.

use askama::Template;
use auth_server::pages::render;
use axum::Router;
use axum::extract::Query;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;

/// The demo client's redirect URI, below the base URL.
pub(crate) const PATH: &str = "/demo";

#[derive(Template)]
#[template(path = "home.html")]
struct Home;

/// An authorization response (RFC 6749 §4.1.2).
#[derive(Deserialize, Template)]
#[template(path = "demo.html")]
#[serde(default)]
#[derive(Default)]
struct Arrived {
    code: String,
    state: String,
    error: String,
    error_description: String,
}

/// The demo's routes.
pub(crate) fn routes() -> Router {
    Router::new().route("/", get(home)).route(PATH, get(arrived))
}

async fn home() -> Response {
    render(&Home)
}

async fn arrived(Query(arrived): Query<Arrived>) -> Response {
    render(&arrived)
}
