//! Refusals that are security events.

use super::{Code, Error};
use crate::{db, events};
use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

impl Error {
    /// The security event that this refusal is, if it is one.
    pub fn event(&self) -> Option<events::Event> {
        let name = match self.code {
            Code::CsrfMismatch => events::Name::CsrfFail,
            Code::Forbidden | Code::InsufficientScope => events::Name::AuthorisationFail,
            Code::IdempotencyKeyReused => events::Name::IdempotencyConflict,
            _ => return None,
        };
        let event = events::Event::failure(name)
            .user(self.user_id)
            .detail(self.message.clone());
        Some(match &self.client_id {
            Some(client_id) => event.client(client_id),
            None => event,
        })
    }
}

/// Middleware: writes the security event of a refusal. Put around the routes of a service.
pub async fn record_refusals(
    State(db): State<db::Db>,
    Extension(context): Extension<events::Context>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    let event = response.extensions().get::<Error>().and_then(Error::event);
    if let Some(event) = event
        && let Err(error) = event.record_alone(&db, &context).await
    {
        return Error::from(error).into_response();
    }
    response
}
