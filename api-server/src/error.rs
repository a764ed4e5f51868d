//! What each refusal is on the wire: domain errors mapped to status and code, in this one place.

use crate::{bearer, comments, posts, users};
use axum::http::{StatusCode, header};
use shared::http::error::FieldError;
use shared::http::{Code, Error};
use shared::identity;

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

/// 422: the password that a change needs is not the account's.
pub(crate) fn wrong_current_password() -> Error {
    Error::validation(vec![FieldError {
        pointer: "/current_password".to_owned(),
        code: "invalid",
        message: "is not the password of this account".to_owned(),
    }])
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
