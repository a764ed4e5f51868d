//! `GET /admin/security-events`.

mod query;

use super::{Administrator, ListRequest, PAGE_SIZE, Page};
use audit::events::list;
use audit::events::list::SecurityEvent;
use axum::Json;
use axum::extract::State;
use identity::Identity;
use query::EventsQuery;
use web::Error;

/// List the security events
///
/// Returns the newest events first, 20 per page. Unknown and invalid query parameters are ignored.
#[utoipa::path(
    get, path = "/admin/security-events", operation_id = "listSecurityEvents", tag = "Administration",
    params(EventsQuery), security(("session" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "A page of events.", body = Page<SecurityEvent>), Administrator)
)]
pub(crate) async fn list(
    _: Administrator,
    State(identity): State<Identity>,
    request: ListRequest<EventsQuery>,
) -> Result<Json<Page<SecurityEvent>>, Error> {
    let query = &request.query;
    let items = list::newest(&identity.db, &query.filter(), query.cursor, PAGE_SIZE).await?;
    Ok(request.page(items, |event| event.cursor().to_string()))
}
