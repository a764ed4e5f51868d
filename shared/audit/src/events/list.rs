//! Queries for the recorded security events.

use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use serde::Serialize;
use storage::db::{Db, Error};
use storage::{fetch_all, sql};
use utoipa::ToSchema;

sql! {
    LIST = "SELECT id, at, name, outcome, user_id, client_id, address, trace_id, detail FROM security_events
            WHERE (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3";
    LIST_BY_NAME = "SELECT id, at, name, outcome, user_id, client_id, address, trace_id, detail FROM security_events
                    WHERE name = $4 AND (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3";
    LIST_BY_USER = "SELECT id, at, name, outcome, user_id, client_id, address, trace_id, detail FROM security_events
                    WHERE user_id = $4 AND (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3";
    LIST_BY_USER_AND_NAME = "SELECT id, at, name, outcome, user_id, client_id, address, trace_id, detail
                             FROM security_events WHERE user_id = $4 AND name = $5 AND (at, id) < ($1, $2)
                             ORDER BY at DESC, id DESC LIMIT $3";
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
    /// The user that the event concerns; if it concerns none, the administrator who caused it.
    #[schema(required)]
    pub user_id: Option<i64>,
    /// The client that the event concerns.
    #[schema(required)]
    pub client_id: Option<String>,
    /// The IP address of the caller; null for a command or a background task.
    #[schema(required)]
    pub address: Option<String>,
    /// The correlation id of the response.
    pub trace_id: String,
    /// Further details.
    #[schema(required)]
    pub detail: Option<String>,
}

/// The condition on listed events. A field that is `None` imposes no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only events of this name.
    pub name: Option<String>,
    /// Only events of this user.
    pub user_id: Option<i64>,
}

impl SecurityEvent {
    /// Returns the event's position in the list.
    pub fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.at,
            id: self.id,
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
    let on = db.reader();
    match (filter.user_id, filter.name.as_deref()) {
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
