//! `GET /admin/security-events`.

mod query;

use super::{Administrator, Page, page};
use audit::events::list;
use audit::events::list::{Filter, SecurityEvent};
use axum::Json;
use axum::extract::{RawQuery, State};
use identity::Identity;
use query::EventsQuery;
use std::sync::Arc;
use web::{Error, Policy};

const PATH: &str = "/admin/security-events";

/// List the security events
///
/// Returns the newest events first, 20 per page. Unknown and invalid query parameters are ignored.
#[utoipa::path(
    get, path = PATH, operation_id = "listSecurityEvents", tag = "Administration", params(EventsQuery),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "A page of events.", body = Page<SecurityEvent>), Administrator)
)]
pub(crate) async fn list(
    _: Administrator,
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Json<Page<SecurityEvent>>, Error> {
    let EventsQuery {
        name,
        user_id,
        cursor,
    } = EventsQuery::read(&query.unwrap_or_default());
    let filter = Filter { name, user_id };
    let items = list::newest(&identity.db, &filter, cursor, page::SIZE).await?;
    let filters = [
        ("name", filter.name),
        ("user_id", filter.user_id.map(|id| id.to_string())),
    ];
    Ok(Json(Page::new(
        items,
        |event| event.cursor().to_string(),
        &filters,
        (&policy, PATH),
    )))
}
