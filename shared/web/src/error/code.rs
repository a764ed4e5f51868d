//! The error codes of the API, each with its status code and its description in the OpenAPI document.

use axum::http::StatusCode;

/// Declares [`Code`] by a table. A row has a code, its status, its name in the body, and its description.
macro_rules! codes {
    ($($code:ident: $status:ident, $name:literal, $description:literal;)+) => {
        /// The values of the `code` member of an error body.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $description] $code,)+
        }

        impl Code {
            /// Returns the code with this name.
            pub(crate) fn named(name: &str) -> Option<Self> {
                [$(Self::$code),+].into_iter().find(|code| code.name() == name)
            }

            /// Returns the `code` member of the error body.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// Returns the status code of the response.
            pub(crate) const fn status(self) -> StatusCode {
                match self {
                    $(Self::$code => StatusCode::$status,)+
                }
            }

            /// Returns the description in the OpenAPI document.
            pub(crate) const fn description(self) -> &'static str {
                match self {
                    $(Self::$code => $description,)+
                }
            }
        }
    };
}

codes! {
    Unauthenticated: UNAUTHORIZED, "unauthenticated", "The request is not authenticated.";
    // RFC 6750 §3.1.
    InvalidToken: UNAUTHORIZED, "invalid_token",
        "The access token is invalid or expired, or the request has more than one.";
    // RFC 9449 §7.1.
    InvalidDpopProof: UNAUTHORIZED, "invalid_dpop_proof",
        "The DPoP proof is missing or used, or does not belong to the request.";
    // RFC 9449 §9.
    UseDpopNonce: UNAUTHORIZED, "use_dpop_nonce", "The DPoP proof needs the nonce of the header DPoP-Nonce.";
    // RFC 6750 §3.1.
    InsufficientScope: FORBIDDEN, "insufficient_scope",
        "The access token, or the role of its user, lacks a required scope.";
    Forbidden: FORBIDDEN, "forbidden", "The caller is not allowed to do this.";
    CsrfMismatch: FORBIDDEN, "csrf_mismatch",
        "The anti-forgery token is missing or wrong, or the origin is not allowed.";
    MfaRequired: FORBIDDEN, "mfa_required", "A one-time code is required, and it is missing or wrong.";
    PasswordChangeRequired: FORBIDDEN, "password_change_required",
        "The user must choose a new password before doing anything else.";
    NotFound: NOT_FOUND, "not_found", "The resource does not exist, or the caller may not see it.";
    MethodNotAllowed: METHOD_NOT_ALLOWED, "method_not_allowed", "The path does not support the method.";
    RequestTimeout: REQUEST_TIMEOUT, "request_timeout", "The body took too long to arrive.";
    EmailTaken: CONFLICT, "email_taken", "Another account has this e-mail address.";
    ClientIdTaken: CONFLICT, "client_id_taken", "Another client has this id.";
    PaymentStateConflict: CONFLICT, "payment_state_conflict",
        "The payment is not in a state that allows this operation.";
    KeyStateConflict: CONFLICT, "key_state_conflict",
        "The state of the signing key does not allow this operation yet, or no more.";
    IdempotencyKeyMissing: BAD_REQUEST, "idempotency_key_missing", "The header Idempotency-Key is missing.";
    IdempotencyKeyInvalid: BAD_REQUEST, "idempotency_key_invalid",
        "The header Idempotency-Key is malformed or repeated.";
    IdempotencyKeyReused: UNPROCESSABLE_ENTITY, "idempotency_key_reused",
        "The idempotency key was used before, with a different body.";
    IdempotencyInProgress: CONFLICT, "idempotency_in_progress",
        "The first request with this idempotency key is still in progress.";
    // RFC 9110 §13.1.1.
    PreconditionFailed: PRECONDITION_FAILED, "precondition_failed",
        "If-Match does not match the current version.";
    // RFC 6585 §3.
    PreconditionRequired: PRECONDITION_REQUIRED, "precondition_required", "If-Match is missing.";
    PayloadTooLarge: PAYLOAD_TOO_LARGE, "payload_too_large", "The body is larger than the limit.";
    UnsupportedMediaType: UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type",
        "The media type or the content coding of the body is not supported.";
    MalformedJson: BAD_REQUEST, "malformed_json", "The body is not valid JSON.";
    ValidationFailed: UNPROCESSABLE_ENTITY, "validation_failed",
        "The body is JSON, but it breaks the rules of the operation.";
    ResetTokenInvalid: UNPROCESSABLE_ENTITY, "reset_token_invalid",
        "The token of the mailed link is unknown, used or expired, or a newer one replaced it.";
    LoginLocked: TOO_MANY_REQUESTS, "login_locked", "Sign-in is locked after too many failed attempts.";
    // RFC 6585 §4.
    RateLimited: TOO_MANY_REQUESTS, "rate_limited", "The caller sent too many requests within a minute.";
    DependencyUnavailable: SERVICE_UNAVAILABLE, "dependency_unavailable",
        "A dependency of the service does not answer.";
    StorageFull: INSUFFICIENT_STORAGE, "storage_full", "The disk of the service is full.";
    // RFC 4918 §11.5, RFC 4331 §6.
    StorageQuotaExceeded: INSUFFICIENT_STORAGE, "storage_quota_exceeded",
        "The owner of the resource would store more than each user may.";
    InternalError: INTERNAL_SERVER_ERROR, "internal_error", "The server failed to handle the request.";
}

impl Code {
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
