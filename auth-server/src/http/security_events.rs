//! `GET /admin/security-events`.

mod query;

use super::administrator::Administrator;
use audit::events::list;
use audit::events::list::{Filter, SecurityEvent};
use axum::Json;
use axum::extract::{RawQuery, State};
use foundation::cursor::Cursor;
use identity::Identity;
use query::EventsQuery;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use web::{Error, Policy};

const PATH: &str = "/admin/security-events";
/// The number of events on a page.
const PAGE_SIZE: i64 = 20;

/// A page of security events, the newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct SecurityEvents {
    /// At most twenty events.
    items: Vec<SecurityEvent>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next: Option<Cursor>,
    /// Links to other pages.
    links: Links,
}

/// Links to other pages of the list.
#[derive(Serialize, ToSchema)]
#[schema(as = SecurityEventLinks)]
pub(crate) struct Links {
    /// The URL of the next page; null on the last page.
    #[schema(required, format = "uri")]
    next: Option<String>,
}

/// List the security events
///
/// Returns the newest events first. Requires the session of an administrator.
#[utoipa::path(
    get, path = PATH, operation_id = "listSecurityEvents", tag = "Administration", params(EventsQuery),
    security(("session" = [])),
    responses((status = 200, description = "A page of events.", body = SecurityEvents), Administrator)
)]
pub(crate) async fn list(
    _: Administrator,
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Json<SecurityEvents>, Error> {
    let EventsQuery {
        name,
        user_id,
        cursor,
    } = EventsQuery::read(&query.unwrap_or_default());
    let filter = Filter { name, user_id };
    let items = list::newest(&identity.db, &filter, cursor, PAGE_SIZE).await?;
    let is_full = i64::try_from(items.len()) == Ok(PAGE_SIZE);
    let last = items.last().filter(|_| is_full);
    let next = last.map(SecurityEvent::cursor);
    let links = Links {
        next: next.map(|cursor| policy.url(&format!("{PATH}?{}", page_query(&filter, cursor)))),
    };
    Ok(Json(SecurityEvents { items, next, links }))
}

/// Returns the query string of the page that begins at a cursor.
fn page_query(filter: &Filter, cursor: Cursor) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(filter.name.iter().map(|name| ("name", name)));
    query.extend_pairs(filter.user_id.iter().map(|id| ("user_id", id.to_string())));
    query.append_pair("cursor", &cursor.to_string());
    query.finish()
}
