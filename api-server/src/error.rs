//! What each refusal is on the wire: domain errors mapped to status and code, in this one place.

use crate::{bearer, comments, idempotency, payments, posts, users};
use axum::http::{StatusCode, header};
use shared::http::error::FieldError;
use shared::http::{Code, Error};
use shared::identity;
use std::time::Duration;

/// 401: the route needs somebody. The challenge is added around the routes.
pub(crate) fn unauthenticated() -> Error {
    Error::new(
        Code::Unauthenticated,
        "Sign in at /login for a session cookie, or send an access token.",
    )
}

/// 401: several session cookies; which one is meant, nobody can know.
pub(crate) fn two_sessions() -> Error {
    Error::new(
        Code::Unauthenticated,
        "The request has more than one sid cookie: send one.",
    )
}

/// 400: several `Authorization` headers (RFC 6750 §2, §3.1).
pub(crate) fn two_authorizations() -> Error {
    Error::new(
        Code::InvalidToken,
        "The request has more than one Authorization header: send one.",
    )
    .status(StatusCode::BAD_REQUEST)
    .header(header::WWW_AUTHENTICATE, r#"Bearer error="invalid_request""#)
}

/// 403: the token lacks `scope` (RFC 6750 §3.1).
pub(crate) fn insufficient_scope(scope: &str) -> Error {
    Error::new(
        Code::InsufficientScope,
        format!("This call needs the scope {scope}, which the access token or its user does not have."),
    )
    .header(
        header::WWW_AUTHENTICATE,
        &format!(r#"Bearer error="insufficient_scope", scope="{scope}""#),
    )
}

/// 403: a service's own token, where the thing belongs to users.
pub(crate) fn no_user() -> Error {
    Error::new(
        Code::Forbidden,
        "This belongs to a user, and the access token is a service's own.",
    )
}

/// 403: an access token on a route that a session alone may use.
pub(crate) fn session_only() -> Error {
    Error::new(
        Code::Forbidden,
        "This call needs a session: sign in at /login. An access token is not enough.",
    )
}

/// 403: the session's password is a one-time one.
pub(crate) fn password_change_required() -> Error {
    Error::new(
        Code::PasswordChangeRequired,
        "Choose a password of your own first: PUT /me/password.",
    )
}

/// 400: the write is done only under a key.
pub(crate) fn idempotency_key_missing() -> Error {
    Error::new(
        Code::IdempotencyKeyMissing,
        "Send the header Idempotency-Key: a value of your own, such as a UUID, that names this call and no other.",
    )
}

/// 400: the header `Idempotency-Key` holds no key; `what` goes on with "is …" or "holds …".
pub(crate) fn idempotency_key_invalid(what: &str) -> Error {
    Error::new(
        Code::IdempotencyKeyInvalid,
        format!("The header Idempotency-Key {what}: send one of 1 to 255 visible ASCII characters."),
    )
}

/// 412: `If-Match` names another version (RFC 9110 §13.1.1).
pub(crate) fn precondition_failed() -> Error {
    Error::new(
        Code::PreconditionFailed,
        "This has another version than If-Match names: read it again.",
    )
}

/// 428: `If-Match` is missing (RFC 6585 §3).
pub(crate) fn precondition_required() -> Error {
    Error::new(
        Code::PreconditionRequired,
        "Send If-Match with the ETag of the version that you change.",
    )
}

impl From<bearer::Error> for Error {
    fn from(error: bearer::Error) -> Self {
        match error {
            bearer::Error::Refused(_) => Self::new(Code::InvalidToken, error.to_string())
                .header(header::WWW_AUTHENTICATE, r#"Bearer error="invalid_token""#),
            bearer::Error::NoKeys(_) | bearer::Error::Revocations(_) => Self::unavailable(&error),
        }
    }
}

impl From<posts::Error> for Error {
    fn from(error: posts::Error) -> Self {
        match error {
            posts::Error::Missing => Self::not_found(),
            posts::Error::NotTheirs => Self::new(
                Code::Forbidden,
                "A post is changed by its author, an editor or an administrator.",
            ),
            posts::Error::Stale => precondition_failed(),
            posts::Error::Database(error) => error.into(),
        }
    }
}

impl From<comments::Error> for Error {
    fn from(error: comments::Error) -> Self {
        match error {
            comments::Error::Missing => Self::not_found(),
            comments::Error::NotTheirs => Self::new(
                Code::Forbidden,
                "A comment is deleted by its author, an editor or an administrator.",
            ),
            comments::Error::Database(error) => error.into(),
        }
    }
}

impl From<payments::Error> for Error {
    fn from(error: payments::Error) -> Self {
        match error {
            payments::Error::Missing => Self::not_found(),
            payments::Error::Conflict(_) => Self::new(
                Code::PaymentStateConflict,
                format!("This is not done with the payment any more, or not yet: {error}."),
            ),
            payments::Error::TooMuch { .. } => Self::validation(vec![FieldError {
                pointer: "/amount".to_owned(),
                code: "invalid",
                message: format!("is {error}"),
            }]),
            payments::Error::Database(error) => error.into(),
        }
    }
}

impl From<idempotency::Error> for Error {
    fn from(error: idempotency::Error) -> Self {
        match error {
            idempotency::Error::Reused => Self::new(
                Code::IdempotencyKeyReused,
                "This idempotency key was used with another body: a call that says something else needs a key of \
                 its own.",
            ),
            idempotency::Error::InProgress => Self::new(
                Code::IdempotencyInProgress,
                "The first call with this idempotency key is still being answered: send this one again in a moment.",
            )
            .retry_after(Duration::from_secs(1)),
            idempotency::Error::Unwritable(error) => Self::internal(&error),
            idempotency::Error::Database(error) => error.into(),
        }
    }
}

impl From<users::Error> for Error {
    fn from(error: users::Error) -> Self {
        match error {
            users::Error::Users(identity::users::Error::EmailTaken) => {
                Self::new(Code::EmailTaken, "An account with this e-mail exists.")
            }
            users::Error::Users(identity::users::Error::Database(error)) => error.into(),
            users::Error::Passwords(error) => error.into(),
        }
    }
}
