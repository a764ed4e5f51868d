//! Errors that handlers and extractors create themselves, as opposed to those that come from a domain
//! function.

use web::{Code, Error};

/// 401: the route requires authentication. The middleware in `http::challenge` adds `WWW-Authenticate`.
pub(crate) fn unauthenticated() -> Error {
    Error::new(
        Code::Unauthenticated,
        "Sign in at /login for a session cookie, or send an access token.",
    )
}

/// 403: the route requires a session, and the request has an access token.
pub(crate) fn session_required() -> Error {
    Error::new(
        Code::Forbidden,
        "This call needs a session: sign in at /login. An access token is not enough.",
    )
}

/// 403: the user must first replace the initial password.
pub(crate) fn password_change_required() -> Error {
    Error::new(
        Code::PasswordChangeRequired,
        "Choose a password of your own first: PUT /me/password.",
    )
}

/// 400: the write requires an idempotency key.
pub(crate) fn idempotency_key_missing() -> Error {
    Error::new(
        Code::IdempotencyKeyMissing,
        "Send the header Idempotency-Key with a value that is unique to this call, such as a UUID.",
    )
}

/// 400: the header `Idempotency-Key` is invalid. `problem` completes a sentence that begins with its name,
/// such as "is empty".
pub(crate) fn idempotency_key_invalid(problem: &str) -> Error {
    Error::new(
        Code::IdempotencyKeyInvalid,
        format!(
            "The header Idempotency-Key {problem}. Send one header of 1 to 255 visible ASCII characters."
        ),
    )
}

/// 412: the resource is not at the version in `If-Match` (RFC 9110 §13.1.1).
pub(crate) fn precondition_failed() -> Error {
    Error::new(
        Code::PreconditionFailed,
        "The resource changed since the version in If-Match. Fetch it and retry.",
    )
}

/// 428: `If-Match` is missing (RFC 6585 §3).
pub(crate) fn precondition_required() -> Error {
    Error::new(
        Code::PreconditionRequired,
        "Send If-Match with the ETag of the version to change.",
    )
}
