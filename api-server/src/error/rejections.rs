//! Errors that handlers and extractors create themselves, as opposed to those that come from a domain
//! function.

use web::{Code, Error};

/// 401: the route requires authentication. The middleware in `http::challenge` adds `WWW-Authenticate`.
pub(crate) fn unauthenticated() -> Error {
    let message = "Sign in at /login for a session cookie, or send an access token.";
    Error::new(Code::Unauthenticated, message)
}

/// 403: the route requires a session, and the request has an access token.
pub(crate) fn session_required() -> Error {
    let message = "This call needs a session: sign in at /login. An access token is not enough.";
    Error::new(Code::Forbidden, message)
}

/// 403: the user must first replace the initial password.
pub(crate) fn password_change_required() -> Error {
    let message = "Choose a password of your own first: PUT /me/password.";
    Error::new(Code::PasswordChangeRequired, message)
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
    let message = "The resource changed since the version in If-Match. Fetch it and retry.";
    Error::new(Code::PreconditionFailed, message)
}

/// 428: `If-Match` is missing (RFC 6585 §3).
pub(crate) fn precondition_required() -> Error {
    let message = "Send If-Match with the ETag of the version to change.";
    Error::new(Code::PreconditionRequired, message)
}
