//! The error type of the API: the mapping of domain errors to HTTP status and error code.

mod rejections;

pub(crate) use rejections::{
    idempotency_key_invalid, idempotency_key_missing, password_change_required, precondition_failed,
    precondition_required, session_required, unauthenticated,
};

use axum::response::{IntoResponse, Response};
use identity::{
    accounts, email_verifications, login, mail_throttle, mfa, password_changes, password_resets, sign_up,
};
use resources::storage_use::Refusal;
use resources::{comments, export, idempotency, payments, posts};
use std::time::Duration;
use storage::db;
use web::{Code, Error, bearer, csrf};

/// An error of a handler or an extractor. It wraps [`web::Error`], because the orphan rule does not let this
/// crate implement conversions from the errors of `resources` and `access_tokens` to a type of another crate.
#[derive(Debug)]
pub(crate) struct ApiError(Error);

impl ApiError {
    /// Adds the caller to the security event that is recorded with the error.
    pub(crate) fn with_caller(self, user_id: Option<i64>, client_id: Option<&str>) -> Self {
        Self(self.0.with_caller(user_id, client_id))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

/// Converts errors for which `web` already defines the status and the code.
macro_rules! convert {
    ($($error:ty),+ $(,)?) => { $(
        impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self(error.into())
            }
        }
    )+ };
}

convert!(
    Error,
    accounts::Error,
    csrf::Mismatch,
    db::Error,
    login::Error,
    mail_throttle::MailThrottled,
    mfa::Error,
    password_changes::RemovalError,
    password_resets::Error,
    email_verifications::ChangeError,
    email_verifications::Error,
);

impl From<access_tokens::Error> for ApiError {
    fn from(error: access_tokens::Error) -> Self {
        Self(match error {
            access_tokens::Error::Invalid(_) => bearer::invalid_token(error.to_string()),
            access_tokens::Error::NoKeys(_) | access_tokens::Error::Revocations(_) => {
                Error::unavailable(&error)
            }
        })
    }
}

/// Returns the error for something that was not written for a user.
fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::SignedOut => unauthenticated(),
        Refusal::QuotaExceeded => Error::new(
            Code::StorageQuotaExceeded,
            "There is no room for this: what each user may store is limited. Delete posts or comments, or ask the operator for more room.",
        ),
    }
}

impl From<posts::Error> for ApiError {
    fn from(error: posts::Error) -> Self {
        Self(match error {
            posts::Error::NotFound => Error::not_found(),
            posts::Error::NotPermitted => Error::new(
                Code::Forbidden,
                "Only the author of the post, an editor or an administrator may change it.",
            ),
            posts::Error::Stale => precondition_failed(),
            posts::Error::Refused(refusal) => refused(refusal),
            posts::Error::Database(error) => error.into(),
        })
    }
}

impl From<comments::Error> for ApiError {
    fn from(error: comments::Error) -> Self {
        Self(match error {
            comments::Error::NotFound => Error::not_found(),
            comments::Error::NotPermitted => Error::new(
                Code::Forbidden,
                "Only the author of the comment, an editor or an administrator may delete it.",
            ),
            comments::Error::Refused(refusal) => refused(refusal),
            comments::Error::Database(error) => error.into(),
        })
    }
}

impl From<payments::Error> for ApiError {
    fn from(error: payments::Error) -> Self {
        Self(match error {
            payments::Error::NotFound => Error::not_found(),
            payments::Error::Conflict(_) => Error::new(
                Code::PaymentStateConflict,
                format!("The status of the payment does not allow this call: {error}."),
            ),
            payments::Error::AmountTooLarge { .. } => Error::invalid_member("amount", format!("is {error}")),
            payments::Error::Refused(refusal) => refused(refusal),
            payments::Error::Database(error) => error.into(),
        })
    }
}

impl From<idempotency::Error> for ApiError {
    fn from(error: idempotency::Error) -> Self {
        Self(match error {
            idempotency::Error::KeyReused => Error::new(
                Code::IdempotencyKeyReused,
                "This idempotency key was used with another body. Send a call with a new body under a new key.",
            ),
            idempotency::Error::InProgress => Error::new(
                Code::IdempotencyInProgress,
                "The first call with this idempotency key is still running. Retry in a moment.",
            )
            .retry_after(Duration::from_secs(1)),
            idempotency::Error::Refused(refusal) => refused(refusal),
            idempotency::Error::Receipt(error) => Error::internal(&error),
            idempotency::Error::Database(error) => error.into(),
        })
    }
}

impl From<export::Error> for ApiError {
    fn from(error: export::Error) -> Self {
        Self(match error {
            export::Error::Serialization(error) => Error::internal(&error),
            export::Error::Database(error) => error.into(),
        })
    }
}

impl From<sign_up::Error> for ApiError {
    fn from(error: sign_up::Error) -> Self {
        Self(match error {
            sign_up::Error::Users(error) => error.into(),
            sign_up::Error::Passwords(error) => error.into(),
            sign_up::Error::Off => Error::new(Code::Forbidden, format!("No account was created: {error}.")),
            sign_up::Error::TooMany { retry_after } => {
                let message = format!("No account was created: {error}.");
                Error::new(Code::RateLimited, message).retry_after(retry_after)
            }
        })
    }
}
