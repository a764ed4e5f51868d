//! The error codes of the API, each with its status code.

use axum::http::StatusCode;

/// The values of the `code` member of an error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// The request is not authenticated.
    Unauthenticated,
    /// The access token is malformed, expired, revoked or otherwise invalid (RFC 6750 §3.1).
    InvalidToken,
    /// The DPoP proof is missing, malformed or used, or does not belong to the request (RFC 9449 §7.1).
    InvalidDpopProof,
    /// The DPoP proof needs a nonce of this server (RFC 9449 §9).
    UseDpopNonce,
    /// The access token lacks a scope (RFC 6750 §3.1).
    InsufficientScope,
    /// The caller is authenticated but not allowed to do this.
    Forbidden,
    /// The anti-forgery token is missing or wrong.
    CsrfMismatch,
    /// A one-time code is required, and it is missing or wrong.
    MfaRequired,
    /// The user must choose a new password before doing anything else.
    PasswordChangeRequired,
    /// The resource does not exist, or the caller may not know that it exists.
    NotFound,
    /// The path exists, but does not support the method.
    MethodNotAllowed,
    /// The request body did not arrive in time.
    RequestTimeout,
    /// Another account has this e-mail address.
    EmailTaken,
    /// Another client has this id.
    ClientIdTaken,
    /// The payment is not in the state that this transition starts from.
    PaymentStateConflict,
    /// The signing key is not in a state that this transition starts from, or not for long enough.
    KeyStateConflict,
    /// The header `Idempotency-Key` is missing.
    IdempotencyKeyMissing,
    /// The header `Idempotency-Key` is malformed or repeated.
    IdempotencyKeyInvalid,
    /// The idempotency key was used before, with a different body.
    IdempotencyKeyReused,
    /// The first request with this idempotency key is still in progress.
    IdempotencyInProgress,
    /// `If-Match` does not match (RFC 9110 §13.1.1).
    PreconditionFailed,
    /// `If-Match` is missing (RFC 6585 §3).
    PreconditionRequired,
    /// The body is larger than the limit.
    PayloadTooLarge,
    /// The body has a media type or a content coding that is not supported.
    UnsupportedMediaType,
    /// The body is not JSON.
    MalformedJson,
    /// The body is JSON, but it breaks the rules of the operation.
    ValidationFailed,
    /// The token of a mailed link is unknown, used or expired.
    ResetTokenInvalid,
    /// Sign-in is locked after too many failed attempts.
    LoginLocked,
    /// Too many requests (RFC 6585 §4).
    RateLimited,
    /// A dependency of the service does not answer.
    DependencyUnavailable,
    /// The disk of the service is full.
    StorageFull,
    /// The owner of the resource would store more than the quota (RFC 4918 §11.5, RFC 4331 §6).
    StorageQuotaExceeded,
    /// An unexpected error inside the service.
    InternalError,
}

impl Code {
    /// All codes, in the order of the documentation.
    pub(crate) const ALL: [Self; 33] = [
        Self::Unauthenticated,
        Self::InvalidToken,
        Self::InvalidDpopProof,
        Self::UseDpopNonce,
        Self::InsufficientScope,
        Self::Forbidden,
        Self::CsrfMismatch,
        Self::MfaRequired,
        Self::PasswordChangeRequired,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::EmailTaken,
        Self::ClientIdTaken,
        Self::PaymentStateConflict,
        Self::KeyStateConflict,
        Self::IdempotencyKeyMissing,
        Self::IdempotencyKeyInvalid,
        Self::IdempotencyKeyReused,
        Self::IdempotencyInProgress,
        Self::PreconditionFailed,
        Self::PreconditionRequired,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::MalformedJson,
        Self::ValidationFailed,
        Self::ResetTokenInvalid,
        Self::LoginLocked,
        Self::RateLimited,
        Self::DependencyUnavailable,
        Self::StorageFull,
        Self::StorageQuotaExceeded,
        Self::InternalError,
    ];

    /// Returns the `code` member of the error body.
    pub(crate) const fn name(self) -> &'static str {
        self.status_and_name().1
    }

    /// Returns the status code of the response.
    pub(crate) const fn status(self) -> StatusCode {
        self.status_and_name().0
    }

    const fn status_and_name(self) -> (StatusCode, &'static str) {
        match self {
            Self::Unauthenticated => (StatusCode::UNAUTHORIZED, "unauthenticated"),
            Self::InvalidToken => (StatusCode::UNAUTHORIZED, "invalid_token"),
            Self::InvalidDpopProof => (StatusCode::UNAUTHORIZED, "invalid_dpop_proof"),
            Self::UseDpopNonce => (StatusCode::UNAUTHORIZED, "use_dpop_nonce"),
            Self::InsufficientScope => (StatusCode::FORBIDDEN, "insufficient_scope"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            Self::CsrfMismatch => (StatusCode::FORBIDDEN, "csrf_mismatch"),
            Self::MfaRequired => (StatusCode::FORBIDDEN, "mfa_required"),
            Self::PasswordChangeRequired => (StatusCode::FORBIDDEN, "password_change_required"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::RequestTimeout => (StatusCode::REQUEST_TIMEOUT, "request_timeout"),
            Self::EmailTaken => (StatusCode::CONFLICT, "email_taken"),
            Self::ClientIdTaken => (StatusCode::CONFLICT, "client_id_taken"),
            Self::PaymentStateConflict => (StatusCode::CONFLICT, "payment_state_conflict"),
            Self::KeyStateConflict => (StatusCode::CONFLICT, "key_state_conflict"),
            Self::IdempotencyKeyMissing => (StatusCode::BAD_REQUEST, "idempotency_key_missing"),
            Self::IdempotencyKeyInvalid => (StatusCode::BAD_REQUEST, "idempotency_key_invalid"),
            Self::IdempotencyKeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
            Self::IdempotencyInProgress => (StatusCode::CONFLICT, "idempotency_in_progress"),
            Self::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, "precondition_failed"),
            Self::PreconditionRequired => (StatusCode::PRECONDITION_REQUIRED, "precondition_required"),
            Self::PayloadTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large"),
            Self::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::MalformedJson => (StatusCode::BAD_REQUEST, "malformed_json"),
            Self::ValidationFailed => (StatusCode::UNPROCESSABLE_ENTITY, "validation_failed"),
            Self::ResetTokenInvalid => (StatusCode::UNPROCESSABLE_ENTITY, "reset_token_invalid"),
            Self::LoginLocked => (StatusCode::TOO_MANY_REQUESTS, "login_locked"),
            Self::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
            Self::DependencyUnavailable => (StatusCode::SERVICE_UNAVAILABLE, "dependency_unavailable"),
            Self::StorageFull => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
            Self::StorageQuotaExceeded => (StatusCode::INSUFFICIENT_STORAGE, "storage_quota_exceeded"),
            Self::InternalError => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }

    /// Returns whether the body is problem details (RFC 9457) regardless of `Accept`, as it is for the errors
    /// of idempotency keys (draft-ietf-httpapi-idempotency-key-header §2.7).
    pub(crate) const fn is_problem(self) -> bool {
        matches!(
            self,
            Self::IdempotencyKeyMissing
                | Self::IdempotencyKeyInvalid
                | Self::IdempotencyKeyReused
                | Self::IdempotencyInProgress
        )
    }
}
