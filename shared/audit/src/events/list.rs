//! Reading the events back, for administrators.

use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use serde::Serialize;
use storage::db::{Db, Error};
use storage::{fetch_all, sql};
use utoipa::ToSchema;

sql! {
    LIST = "SELECT id, at, name, outcome, user_id, client_id, address, trace_id, detail FROM security_events
            WHERE (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3";
    LIST_OF_NAME = "SELECT id, at, name, outcome, user_id, client_id, address, trace_id, detail FROM security_events
                    WHERE name = $4 AND (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3";
    LIST_OF_USER = "SELECT id, at, name, outcome, user_id, client_id, address, trace_id, detail FROM security_events
                    WHERE user_id = $4 AND (at, id) < ($1, $2) ORDER BY at DESC, id DESC LIMIT $3";
    LIST_OF_USER_AND_NAME = "SELECT id, at, name, outcome, user_id, client_id, address, trace_id, detail
                             FROM security_events WHERE user_id = $4 AND name = $5 AND (at, id) < ($1, $2)
                             ORDER BY at DESC, id DESC LIMIT $3";
}

/// An event as administrators see it.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct SecurityEvent {
    /// Identifies the event.
    pub id: i64,
    /// When the request arrived that caused it.
    pub at: Timestamp,
    /// What happened, in the words of the OWASP logging vocabulary where that has some.
    pub name: String,
    /// `success`, or `failure` for what was refused.
    pub outcome: String,
    /// The user it concerns.
    #[schema(required)]
    pub user_id: Option<i64>,
    /// The client it concerns.
    #[schema(required)]
    pub client_id: Option<String>,
    /// Where the request came from; null for a command of the shell.
    #[schema(required)]
    pub address: Option<String>,
    /// The correlation id of the answer.
    pub trace_id: String,
    /// More about it.
    #[schema(required)]
    pub detail: Option<String>,
}

/// Which events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this name alone.
    pub name: Option<String>,
    /// Of this user alone.
    pub user_id: Option<i64>,
}

impl SecurityEvent {
    /// Its place in the list.
    pub fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.at,
            id: self.id,
        }
    }
}

/// The newest events before a place, or of all; newest first, `limit` at most.
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
        (None, Some(name)) => fetch_all!(on, SecurityEvent, LIST_OF_NAME, at, id, limit, name),
        (Some(user), None) => fetch_all!(on, SecurityEvent, LIST_OF_USER, at, id, limit, user),
        (Some(user), Some(name)) => {
            fetch_all!(
                on,
                SecurityEvent,
                LIST_OF_USER_AND_NAME,
                at,
                id,
                limit,
                user,
                name
            )
        }
    }
}
