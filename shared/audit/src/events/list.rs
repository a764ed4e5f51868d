//! Queries for the recorded security events.

pub mod activity;
pub mod changes;
mod filter;
pub mod lockouts;
mod part;
pub(crate) mod tail;

pub use filter::{Filter, ListQuery, Outcome};
pub(crate) use part::statements;
pub use tail::{POLL_INTERVAL, Tail};

use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use foundation::list_query::Order;
use part::Part;
use serde::Serialize;
use std::collections::BTreeSet;
use storage::db::{Db, Error};
use storage::has_cursor;
use storage::paging::{self, Page, PageSlice, Sorting};
use utoipa::ToSchema;

/// The columns by which the lists are sorted.
const KEY: &[&str] = &["at", "id"];

/// The columns of [`SecurityEvent`].
macro_rules! columns {
    () => {
        "id, at, name, outcome, user_id, client_id, administrator_id, address, trace_id, detail, count"
    };
}
use columns;

/// A recorded security event.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct SecurityEvent {
    /// The event's id.
    pub id: i64,
    /// The time at which the request that caused the event arrived.
    pub at: Timestamp,
    /// The name of the event, from the OWASP logging vocabulary if it has a suitable one.
    pub name: String,
    /// `success` or `failure`.
    pub outcome: String,
    /// The user that the event concerns; for a deleted account a negative number, the same in all its events.
    #[schema(required)]
    pub user_id: Option<i64>,
    /// The client that the event concerns.
    #[schema(required)]
    pub client_id: Option<String>,
    /// The administrator whose request at `/admin/…` caused the event; for a deleted account a negative
    /// number.
    #[schema(required)]
    pub administrator_id: Option<i64>,
    /// The IP address of the caller; null for a command or a background task. For a deleted account a label
    /// of the network, such as `network 7`.
    #[schema(required)]
    pub address: Option<String>,
    /// The correlation id of the response.
    #[serde(rename = "traceId")]
    pub trace_id: String,
    /// Further details.
    #[schema(required)]
    pub detail: Option<String>,
    /// The number of events: failed sign-ins and rejected CSRF tokens of one network and minute after the
    /// first one are one entry, with the time and the correlation id of the last.
    pub count: i64,
}

has_cursor!(SecurityEvent: at, id);

impl SecurityEvent {
    /// Returns the event as the user that it concerns may see it: without the address of an administrator.
    #[must_use]
    pub fn for_its_user(self) -> Self {
        Self {
            address: self.address.filter(|_| self.administrator_id.is_none()),
            ..self
        }
    }

    /// Returns the number of events for which this entry stands, if it is more than one.
    #[must_use]
    pub fn repetitions(&self) -> Option<u64> {
        (self.count > 1).then_some(self.count.cast_unsigned())
    }

    /// Returns the ids of the users that these events concern, and of the administrators who caused them,
    /// without the pseudonyms of deleted accounts.
    #[must_use]
    pub fn persons(events: &[Self]) -> Vec<i64> {
        let ids = events
            .iter()
            .flat_map(|event| [event.user_id, event.administrator_id]);
        let ids: BTreeSet<i64> = ids.flatten().filter(|id| *id > 0).collect();
        ids.into_iter().collect()
    }

    /// Returns the ids of the clients that these events concern.
    #[must_use]
    pub fn clients(events: &[Self]) -> Vec<&str> {
        let ids: BTreeSet<&str> = events
            .iter()
            .filter_map(|event| event.client_id.as_deref())
            .collect();
        ids.into_iter().collect()
    }
}

/// Returns the requested page of the events, the newest first by default. If several conditions select them,
/// the page is not full although more events follow when too many fit only some of the conditions.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<SecurityEvent>, Error> {
    let (request, filter) = (&query.page, &query.filter);
    let sorting = Sorting::by(KEY, query.order());
    paging::search_page(request.direction, sorting, request.cursor, |slice, after| {
        search(db, Part::new(filter, slice, after))
    })
    .await
}

/// Returns the first events that match `filter` in this order, at most `limit`.
pub async fn first(
    db: &Db,
    filter: &Filter,
    order: Order,
    limit: usize,
) -> Result<Vec<SecurityEvent>, Error> {
    let slice = PageSlice::of(Sorting::by(KEY, order), false);
    Part::new(filter, slice.limited_to(limit), None).fetch(db).await
}

/// Returns up to `limit` events that match `filter`, newest first: those older than the position `before`, or
/// the newest of all if there is no position.
pub async fn newest(
    db: &Db,
    filter: &Filter,
    before: Option<Cursor>,
    limit: usize,
) -> Result<Vec<SecurityEvent>, Error> {
    let slice = PageSlice::of(Sorting::by(KEY, Order::Descending), before.is_some());
    Part::new(filter, slice.limited_to(limit), before).fetch(db).await
}

/// Returns up to `limit` of the newest events that match `filter`, newest first, from among those that a page
/// searches, and the time from which events were searched if older ones may match too.
pub(super) async fn newest_searched(
    db: &Db,
    filter: &Filter,
    limit: usize,
) -> Result<(Vec<SecurityEvent>, Option<Timestamp>), Error> {
    let slice = PageSlice::of(Sorting::by(KEY, Order::Descending), false);
    let (events, rest) = search(db, Part::new(filter, slice.limited_to(limit), None)).await?;
    Ok((events, rest.map(|rest| rest.created_at)))
}

/// Reads a part within its bound. Returns the position of the bound too, if the part has one.
async fn search(db: &Db, part: Part) -> Result<(Vec<SecurityEvent>, Option<Cursor>), Error> {
    let (part, rest) = part.bounded(db).await?;
    Ok((part.fetch(db).await?, rest))
}
