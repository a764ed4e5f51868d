//! Headers of responses: an operation names them, what they are is said here.

use utoipa::openapi::header::Header;
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Type};

/// The header of every response.
pub(crate) const CORRELATION_ID: &str = "X-Correlation-Id";

/// Whether a response that is documented with the header always has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    Always,
    Sometimes,
}

const ALL: [(&str, Sent, &str); 13] = [
    (
        CORRELATION_ID,
        Sent::Always,
        "The trace id of the request: that of a valid `traceparent`, else a new one.",
    ),
    (
        "Cache-Control",
        Sent::Always,
        "How long, and for whom, the answer may be kept (RFC 9111).",
    ),
    (
        "Content-Disposition",
        Sent::Always,
        "That browsers save the answer as a file, and under which name (RFC 6266).",
    ),
    (
        "ETag",
        Sent::Always,
        "The strong entity tag of this version: for `If-Match` and `If-None-Match` (RFC 9110 §8.8.3).",
    ),
    (
        "Idempotent-Replayed",
        Sent::Sometimes,
        "`true` where this is the stored answer to an earlier call with the same idempotency key.",
    ),
    (
        "Link",
        Sent::Sometimes,
        "The links of the body once more (RFC 8288); absent where there is none.",
    ),
    ("Location", Sent::Always, "Where the thing is, or where to go on."),
    (
        "RateLimit",
        Sent::Sometimes,
        "What is left of the limits that count this request (draft-ietf-httpapi-ratelimit-headers).",
    ),
    (
        "RateLimit-Policy",
        Sent::Sometimes,
        "Those limits: requests and seconds.",
    ),
    (
        "Retry-After",
        Sent::Sometimes,
        "After how many seconds another attempt may succeed.",
    ),
    (
        "Set-Cookie",
        Sent::Always,
        "Sets, or takes away, the cookie of the session or the token.",
    ),
    (
        "Vary",
        Sent::Always,
        "Which headers of the request the answer depends on.",
    ),
    (
        "WWW-Authenticate",
        Sent::Sometimes,
        "How to authenticate (RFC 6750 §3, RFC 9728 §5.1).",
    ),
];

/// The header by its name, for a response.
pub(crate) fn reference(name: &str) -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{name}")))
}

/// What is said of a header here, if anything is.
pub(crate) fn component(name: &str) -> Option<RefOr<Header>> {
    let (_, sent, description) = ALL.into_iter().find(|(known, ..)| *known == name)?;
    let mut header = Header::new(ObjectBuilder::new().schema_type(Type::String));
    header.description = Some(description.to_owned());
    // The type has no such field, but its extensions are written as they are.
    header.extensions = (sent == Sent::Always).then(|| [("required", true)].into_iter().collect());
    Some(RefOr::T(header))
}
