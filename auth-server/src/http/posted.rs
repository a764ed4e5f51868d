//! Requests that a form of another site posts to a page, see [`issuer::posted_requests`].

use super::paths::with_query;
use super::redirects::see_other;
use crate::app::App;
use axum::response::Response;
use foundation::clock::Timestamp;
use issuer::params::Params;
use issuer::posted_requests::{self, PARAMETER};

/// Returns the redirect that makes the browser repeat a posted request by GET, with the request in sealed form.
pub(super) fn repeat_by_get(app: &App, path: &str, params: Params, now: Timestamp) -> Response {
    let sealed = posted_requests::seal(&app.flows.key, path, params, now);
    see_other(&with_query(path, &[(PARAMETER, &sealed)]))
}

/// Returns the parameters of a request that arrived by GET: those of the posted request that it repeats, or its own. Returns `None` if
/// the posted request has expired or cannot be read.
pub(super) fn read(app: &App, path: &str, params: Params, now: Timestamp) -> Option<Params> {
    posted_requests::open(&app.flows.key, path, params, now)
}
