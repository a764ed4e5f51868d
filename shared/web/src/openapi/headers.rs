//! The descriptions of response headers. Operations refer to them by name.

use utoipa::openapi::header::Header;
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Type};

/// The header with the trace id, which every response has.
pub(crate) const CORRELATION_ID: &str = "X-Correlation-Id";

/// The presence of a header in the responses that document it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// Every such response has the header.
    Always,
    /// Some such responses lack the header.
    Conditional,
}

/// All documented headers: name, presence and description.
const ALL: [(&str, Presence, &str); 14] = [
    (
        CORRELATION_ID,
        Presence::Always,
        "The trace id of the request, from a valid `traceparent` header or newly created.",
    ),
    (
        "Cache-Control",
        Presence::Always,
        "Whether, where and how long the response may be cached (RFC 9111).",
    ),
    (
        "Content-Disposition",
        Presence::Always,
        "Makes browsers save the response as a file of the given name (RFC 6266).",
    ),
    (
        "ETag",
        Presence::Always,
        "The strong entity tag of this version, for `If-Match` and `If-None-Match` (RFC 9110 §8.8.3).",
    ),
    (
        "Idempotent-Replayed",
        Presence::Conditional,
        "`true` if this is the stored response to an earlier request with the same idempotency key.",
    ),
    (
        "Link",
        Presence::Conditional,
        "The links of the body as a header (RFC 8288). Absent if the body has no links.",
    ),
    (
        "Location",
        Presence::Always,
        "The URL of the resource, or the target of the redirect.",
    ),
    (
        "RateLimit",
        Presence::Conditional,
        "The remaining quota of each rate limit that counts this request (draft-ietf-httpapi-ratelimit-headers).",
    ),
    (
        "DPoP-Nonce",
        Presence::Conditional,
        "The nonce for the next DPoP proofs (RFC 9449 §8).",
    ),
    (
        "RateLimit-Policy",
        Presence::Conditional,
        "The rate limits that count this request: quota in requests and window in seconds.",
    ),
    (
        "Retry-After",
        Presence::Conditional,
        "The number of seconds after which a retry may succeed.",
    ),
    (
        "Set-Cookie",
        Presence::Conditional,
        "Sets or removes the session cookie, the anti-forgery cookie or the cookie with a client's refresh token.",
    ),
    (
        "Vary",
        Presence::Always,
        "The request headers that the response depends on.",
    ),
    (
        "WWW-Authenticate",
        Presence::Conditional,
        "The authentication challenge (RFC 6750 §3, RFC 9728 §5.1).",
    ),
];

/// Returns a reference to the component of a header.
pub(crate) fn reference(name: &str) -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{name}")))
}

/// Returns the component of a header; `None` if this module does not describe it.
pub(crate) fn component(name: &str) -> Option<RefOr<Header>> {
    let (_, presence, description) = ALL.into_iter().find(|(known, ..)| *known == name)?;
    let mut header = Header::new(ObjectBuilder::new().schema_type(Type::String));
    header.description = Some(description.to_owned());
    // `Header` has no field for `required`, but utoipa serializes extensions as plain members.
    header.extensions = (presence == Presence::Always).then(|| [("required", true)].into_iter().collect());
    Some(RefOr::T(header))
}
