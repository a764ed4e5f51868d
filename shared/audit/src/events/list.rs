//! Queries for the recorded security events.

use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use serde::Serialize;
use storage::db::{Db, Error};
use storage::{fetch_all, sql};
use utoipa::ToSchema;

/// Returns the text of the statement for a page of the events with this condition.
macro_rules! page {
    ($condition:literal) => {
        concat!(
            "SELECT id, at, name, outcome, user_id, client_id, administrator_id, address, trace_id, detail, count
             FROM security_events WHERE ",
            $condition,
            "(at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3"
        )
    };
}

sql! {
    LIST = page!("");
    LIST_BY_NAME = page!("name = $4 AND ");
    LIST_BY_USER = page!("user_id = $4 AND ");
    LIST_BY_USER_AND_NAME = page!("user_id = $4 AND name = $5 AND ");
    // The other conditions come first, so that PostgreSQL learns the types of their values from the comparisons.
    LIST_BY_ADMINISTRATOR =
        page!("administrator_id = $4 AND (user_id = $5 OR $5 IS NULL) AND (name = $6 OR $6 IS NULL) AND ");
}

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
    /// The administrator whose request at `/admin/…` caused the event; for a deleted account a negative number.
    #[schema(required)]
    pub administrator_id: Option<i64>,
    /// The IP address of the caller; null for a command or a background task. For a deleted account a label of the network, such
    /// as `network 7`.
    #[schema(required)]
    pub address: Option<String>,
    /// The correlation id of the response.
    pub trace_id: String,
    /// Further details.
    #[schema(required)]
    pub detail: Option<String>,
    /// The number of events: failed sign-ins and rejected CSRF tokens of one network and minute after the first one are
    /// one entry, with the time and the correlation id of the last.
    pub count: i64,
}

/// The condition on listed events. A field that is `None` imposes no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only events of this name.
    pub name: Option<String>,
    /// Only events of this user.
    pub user_id: Option<i64>,
    /// Only events that this administrator caused.
    pub administrator_id: Option<i64>,
}

impl SecurityEvent {
    /// Returns the event's position in the list.
    pub fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.at,
            id: self.id,
        }
    }

    /// Returns the event as the user that it concerns may see it: without the address of an administrator.
    #[must_use]
    pub fn for_its_user(self) -> Self {
        Self {
            address: self.address.filter(|_| self.administrator_id.is_none()),
            ..self
        }
    }
}

/// Returns up to `limit` events that match `filter`, newest first: those older than the position `before`, or the
/// newest of all if there is no position.
pub async fn newest(
    db: &Db,
    filter: &Filter,
    before: Option<Cursor>,
    limit: i64,
) -> Result<Vec<SecurityEvent>, Error> {
    let end = Cursor {
        created_at: Timestamp::from_micros(i64::MAX),
        id: i64::MAX,
    };
    let Cursor { created_at: at, id } = before.unwrap_or(end);
    let (on, user, name) = (db.reader(), filter.user_id, filter.name.as_deref());
    if let Some(administrator) = filter.administrator_id {
        return fetch_all!(
            on,
            SecurityEvent,
            LIST_BY_ADMINISTRATOR,
            at,
            id,
            limit,
            administrator,
            user,
            name
        );
    }
    match (user, name) {
        (None, None) => fetch_all!(on, SecurityEvent, LIST, at, id, limit),
        (None, Some(name)) => fetch_all!(on, SecurityEvent, LIST_BY_NAME, at, id, limit, name),
        (Some(user), None) => fetch_all!(on, SecurityEvent, LIST_BY_USER, at, id, limit, user),
        (Some(user), Some(name)) => {
            fetch_all!(
                on,
                SecurityEvent,
                LIST_BY_USER_AND_NAME,
                at,
                id,
                limit,
                user,
                name
            )
        }
    }
}
