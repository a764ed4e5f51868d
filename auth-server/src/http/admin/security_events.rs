//! `GET /admin/security-events`.

use super::Administrator;
use audit::events::list::{self, Filter, ListQuery, SecurityEvent};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use identity::Identity;
use std::sync::Arc;
use storage::paging::PageRequest;
use web::{Envelope, Error, Policy, list_response};

const PATH: &str = "/admin/security-events";

/// List the security events
///
/// Returns the newest events first, 20 per page. Unknown and invalid query parameters are ignored.
#[utoipa::path(
    get, path = PATH, operation_id = "listSecurityEvents", tag = "Administration", params(Filter, PageRequest),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "A page of events.", body = Envelope<SecurityEvent>, headers(("Link"))),
        Administrator,
    )
)]
pub(crate) async fn list(
    _: Administrator,
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = list::page(&identity.db, &query).await?;
    Ok(list_response(page, &query.page, &policy.url(PATH)))
}
