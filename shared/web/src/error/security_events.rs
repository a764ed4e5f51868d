//! Security events for error responses.

use crate::Context;
use crate::error::{Code, Error};
use audit::events::{Event, EventName};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use storage::db;

impl Error {
    /// Returns the security event that this error causes, if any.
    fn security_event(&self) -> Option<Event> {
        let name = match self.code {
            Code::CsrfMismatch => EventName::CsrfFail,
            Code::Forbidden | Code::InsufficientScope => EventName::AuthorizationFail,
            Code::IdempotencyKeyReused => EventName::IdempotencyConflict,
            _ => return None,
        };
        let event = Event::failure(name)
            .user(self.user_id)
            .detail(self.message.clone());
        Some(match &self.client_id {
            Some(client_id) => event.client(client_id),
            None => event,
        })
    }
}

/// Middleware for all routes of a server: records the security event of an error response. Answers with the database
/// error instead if the event cannot be recorded.
pub async fn record_security_events(
    State(db): State<db::Db>,
    Context(context): Context,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    let event = response
        .extensions()
        .get::<Error>()
        .and_then(Error::security_event);
    if let Some(event) = event
        && let Err(error) = event.record_alone(&db, &context).await
    {
        return Error::from(error).into_response();
    }
    response
}
