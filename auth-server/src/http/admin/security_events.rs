//! `GET /admin/events`.

use super::Administrator;
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::paths;
use audit::events::list::{self, Filter, ListQuery, SecurityEvent};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::list_query::PageRequest;
use identity::Identity;
use std::sync::Arc;
use web::{Envelope, Error, Policy, list_response};

/// List the security events
///
/// Returns the newest events first, 20 per page. Unknown and invalid query parameters are ignored. A browser
/// that opens the address gets a page in place of JSON, or is sent to the sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_EVENTS, operation_id = "listSecurityEvents", tag = "Administration", params(Filter, PageRequest),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "A page of events.", headers(("Link")),
         content((Envelope<SecurityEvent> = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors,
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
    Ok(list_response(page, &query.page, &policy.url(paths::ADMIN_EVENTS)))
}
