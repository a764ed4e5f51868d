//! The files that the pages load: the stylesheet, the scripts, the icon and the logo.

use super::brand::{Brand, EVENTS_SCRIPT, PASSKEYS_SCRIPT, SCRIPT};
use super::set_policy;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use web::Error;

/// A browser that opens an image as a page runs no script of it.
const POLICY: &str = "default-src 'none'; sandbox";
/// The drawing of an operator may have styles of its own.
const POLICY_OF_LOGO: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// `GET /assets/latchkey.css`.
pub(crate) async fn stylesheet(State(brand): State<Arc<Brand>>, uri: Uri) -> Response {
    let is_current = uri == brand.stylesheet_path.as_str();
    asset("text/css; charset=utf-8", is_current, brand.stylesheet.clone())
}

/// `GET /assets/pages.js`.
pub(crate) async fn script(State(brand): State<Arc<Brand>>, uri: Uri) -> Response {
    let is_current = uri == brand.script_path.as_str();
    asset("text/javascript; charset=utf-8", is_current, SCRIPT)
}

/// `GET /assets/passkeys.js`.
pub(crate) async fn passkeys_script(State(brand): State<Arc<Brand>>, uri: Uri) -> Response {
    let is_current = uri == brand.passkeys_script_path.as_str();
    asset("text/javascript; charset=utf-8", is_current, PASSKEYS_SCRIPT)
}

/// `GET /assets/events.js`.
pub(crate) async fn events_script(State(brand): State<Arc<Brand>>, uri: Uri) -> Response {
    let is_current = uri == brand.events_script_path.as_str();
    asset("text/javascript; charset=utf-8", is_current, EVENTS_SCRIPT)
}

/// `GET /assets/icon.svg`.
pub(crate) async fn icon() -> Response {
    asset("image/svg+xml", false, include_str!("../../assets/icon.svg"))
}

/// `GET /assets/logo`.
pub(crate) async fn logo(State(brand): State<Arc<Brand>>, uri: Uri) -> Response {
    match &brand.logo {
        Some(logo) => {
            let is_current = brand.logo_path.as_deref().is_some_and(|path| uri == path);
            let mut response = asset(logo.media_type, is_current, logo.bytes.clone());
            set_policy(&mut response, POLICY_OF_LOGO);
            response
        }
        None => Error::not_found().into_response(),
    }
}

/// Returns an asset. Caches keep it for ever if the path of the request is the one that changes with the
/// content: while replicas are replaced, one may be asked for the content of another.
fn asset(media_type: &'static str, is_current: bool, content: impl IntoResponse) -> Response {
    let caching = match is_current {
        true => "public, max-age=31536000, immutable",
        false => "public, max-age=3600",
    };
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, caching),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, content).into_response()
}
