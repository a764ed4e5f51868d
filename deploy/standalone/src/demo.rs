//! The demo pages: the front page, and the redirect URI of the demo client.

use crate::first_start::{ADMINISTRATOR, DEMO_PATH, PasswordPlace};
use askama::Template;
use auth_server::pages::{Brand, present, render, text};
use axum::Router;
use axum::extract::RawQuery;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    /// The name of the service.
    service: String,
    /// Whether users can create accounts.
    allows_sign_ups: bool,
    /// The URL of the operator's help for users.
    help: Option<String>,
    /// The place of the administrator's initial password, if this process created the administrator.
    password_place: Option<PasswordPlace>,
}

/// The parameters of an authorization response (RFC 6749 §4.1.2).
#[derive(Default, Template)]
#[template(path = "demo.html")]
struct Callback {
    code: String,
    state: String,
    error: String,
    error_description: String,
}

/// Returns the routes of the demo pages: the front page, which links to the sign-up page if there is one, and
/// the redirect URI if there is a demo client. If `password_place` is given, the front page also shows the
/// administrator's first steps.
#[allow(
    clippy::disallowed_methods,
    reason = "the demo pages are not part of the documented interface"
)]
pub(crate) fn routes(
    has_demo_client: bool,
    allows_sign_ups: bool,
    password_place: Option<PasswordPlace>,
    brand: Arc<Brand>,
) -> Router {
    let home = Arc::new(Home {
        service: brand.name().to_owned(),
        allows_sign_ups,
        help: brand.help().map(str::to_owned),
        password_place,
    });
    let show = async move || {
        let title = text::of("home").with("service", &home.service);
        render(&title.plain(), &*home)
    };
    let routes = Router::new().route("/", get(show));
    let routes = match has_demo_client {
        true => routes.route(DEMO_PATH, get(callback)),
        false => routes,
    };
    routes.layer(from_fn_with_state(brand, present))
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
    render(&text::of("demo").plain(), &callback)
}
