//! The descriptions of response headers. Operations refer to them by name.

use utoipa::openapi::header::Header;
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Type};

/// The header with the trace id, which every response has.
pub(crate) const CORRELATION_ID: &str = "X-Correlation-Id";

/// Returns the description of a header; `None` if this module does not describe it.
fn description(name: &str) -> Option<&'static str> {
    Some(match name {
        CORRELATION_ID => "The trace id of the request, from a valid `traceparent` header or newly created.",
        "Cache-Control" => "Whether, where and how long the response may be cached (RFC 9111).",
        "Content-Disposition" => "Makes browsers save the response as a file of the given name (RFC 6266).",
        "ETag" => {
            "The strong entity tag of this version, for `If-Match` and `If-None-Match` (RFC 9110 §8.8.3)."
        }
        "Idempotent-Replayed" => {
            "`true` if this is the stored response to an earlier request with the same idempotency key."
        }
        "Link" => "The links of the body as a header (RFC 8288). Absent if the body has no links.",
        "Location" => "The URL of the resource, or the target of the redirect.",
        "RateLimit" => {
            "The remaining quota of each rate limit that counts this request (draft-ietf-httpapi-ratelimit-headers)."
        }
        "DPoP-Nonce" => "The nonce for the next DPoP proofs (RFC 9449 §8).",
        "RateLimit-Policy" => {
            "The rate limits that count this request: quota in requests and window in seconds."
        }
        "Retry-After" => "The number of seconds after which a retry may succeed.",
        "Set-Cookie" => {
            "Sets or removes the session cookie, the anti-forgery cookie or the cookie with a client's refresh token."
        }
        "Vary" => "The request headers that the response depends on.",
        "WWW-Authenticate" => "The authentication challenge (RFC 6750 §3, RFC 9728 §5.1).",
        _ => return None,
    })
}

/// Returns a reference to the component of a header.
pub(crate) fn reference(name: &str) -> RefOr<Header> {
    RefOr::Ref(Ref::new(format!("#/components/headers/{name}")))
}

/// Returns the component of a header; `None` if this module does not describe it.
pub(crate) fn component(name: &str) -> Option<RefOr<Header>> {
    let mut header = Header::new(ObjectBuilder::new().schema_type(Type::String));
    header.description = Some(description(name)?.to_owned());
    // Every other header is absent from some of the responses that document it.
    let is_required = matches!(
        name,
        CORRELATION_ID | "Cache-Control" | "Content-Disposition" | "ETag" | "Location" | "Vary"
    );
    // `Header` has no field for `required`, but utoipa serializes extensions as plain members.
    header.extensions = is_required.then(|| [("required", true)].into_iter().collect());
    Some(RefOr::T(header))
}
