//! `GET /admin/events`, and the refusals among the events.

use super::Administrator;
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::paths;
use audit::events::list::{self, Filter, ListQuery, SecurityEvent};
use audit::events::refusals::{self, Refusals};
use axum::Json;
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

/// Group the refusals
///
/// Returns the failed events by kind and cause, which are their `name` and `detail`: for each group the
/// newest event, whose `count` is that of the group, the largest group first. Without `since`, those of a
/// day. The newest 1,000 entries are grouped, and the 50 largest groups are returned. `outcome` has no
/// effect. Unknown and invalid query parameters are ignored.
#[utoipa::path(
    get, path = paths::ADMIN_REFUSALS, operation_id = "groupRefusals", tag = "Administration", params(Filter),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The refusals.", body = Refusals),
        Administrator,
    )
)]
pub(crate) async fn group_refusals(
    Administrator(context): Administrator,
    State(identity): State<Identity>,
    RawQuery(query): RawQuery,
) -> Result<Json<Refusals>, Error> {
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let filter = refusals::filter(&query.filter, context.now);
    Ok(Json(refusals::read(&identity.db, &filter).await?))
}
