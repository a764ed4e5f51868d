//! Security events for error responses.

use crate::context::Context;
use crate::error::{Code, Error};
use audit::events::{Event, EventName, EventRecorder};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use foundation::context::RequestContext;

/// Middleware: records the security event of an error response.
pub async fn record_security_events(
    State(events): State<EventRecorder>,
    Context(context): Context,
    request: Request,
    next: Next,
) -> Response {
    record(&events, &context, next.run(request).await).await
}

/// Records the security event of an error response, and returns the response.
pub(crate) async fn record(events: &EventRecorder, context: &RequestContext, response: Response) -> Response {
    let error = response.extensions().get::<Error>();
    if let Some((error, event)) = error.and_then(|error| Some((error, event_of(error)?))) {
        events.record(event, &error.message, context).await;
    }
    response
}

/// Returns the security event that an error causes, if any.
fn event_of(error: &Error) -> Option<Event> {
    let name = match error.code() {
        Code::CsrfMismatch => EventName::CsrfFail,
        Code::Forbidden | Code::InsufficientScope => EventName::AuthorizationFail,
        Code::IdempotencyKeyReused => EventName::IdempotencyConflict,
        _ => return None,
    };
    let event = Event::failure(name)
        .user(error.user_id)
        .detail(error.message.clone());
    Some(match &error.client_id {
        Some(client_id) => event.client(client_id),
        None => event,
    })
}
