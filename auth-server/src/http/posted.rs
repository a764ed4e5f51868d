//! Requests that a form of another site posts to a page, see [`issuer::posted_requests`].

use super::redirects::see_other;
use crate::app::App;
use crate::http::flow::FlowError;
use crate::paths::with_query;
use axum::response::Response;
use foundation::context::RequestContext;
use issuer::params::Params;
use issuer::posted_requests::{self, PARAMETER};

/// Returns the redirect that makes the browser repeat a posted request by GET, with the request in sealed
/// form. Fails if the request is long and cannot be stored.
pub(super) async fn repeat_by_get(
    app: &App,
    path: &str,
    params: Params,
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let text = posted_requests::seal(&app.flows, path, params, context).await?;
    Ok(see_other(&with_query(path, &[(PARAMETER, &text)])))
}
