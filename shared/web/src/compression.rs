//! Response compression and `If-None-Match`.
//!
//! A strong entity tag must differ between content codings (RFC 9110 §8.8.3), so the tag of a compressed
//! response gets a suffix, which the parsers of conditional headers remove. `If-None-Match` is evaluated
//! outside the compression layer, so that a 304 carries the same tag as the 200 that it replaces.

use crate::content_negotiation::Preferences;
use crate::etag::{self, IfNoneMatch};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate as _, SizeAbove};

/// The minimum size of a response to compress, in bytes. Compression hardly shortens a smaller one.
const MIN_SIZE: u64 = 1024;

/// Adds compression and the evaluation of `If-None-Match` to routes.
pub(crate) fn add_layers(routes: Router) -> Router {
    let compression = CompressionLayer::new().compress_when(SizeAbove::new(MIN_SIZE).and(may_be_compressed));
    routes.layer(compression).layer(from_fn(negotiate))
}

/// Returns whether a response is text without secrets. The compressed size of a secret next to attacker-chosen text
/// reveals the secret (BREACH), so responses with `no-store` or with a cookie are not compressed.
fn may_be_compressed(status: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let value = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let media_type = value(header::CONTENT_TYPE).and_then(|value| value.split(';').next());
    let is_text = media_type.is_some_and(|name| {
        name.starts_with("text/") || name.ends_with("json") || name.ends_with("javascript")
    });
    let is_secret = headers.contains_key(header::SET_COOKIE)
        || value(header::CACHE_CONTROL).is_some_and(|value| value.contains("no-store"));
    status == StatusCode::OK && is_text && !is_secret
}

/// Middleware: selects the content coding for the inner compression layer, adds the suffix to the entity tag of a
/// compressed response, and turns a 200 to `GET` or `HEAD` into a 304 if `If-None-Match` lists the tag.
async fn negotiate(mut request: Request, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let if_none_match = is_read.then(|| IfNoneMatch::read(request.headers()));
    // Responses to writes are not compressed, because they may contain a secret. `CompressionLayer` may
    // answer 406 after the handler ran, so it gets either `gzip` or no header.
    let wants_gzip = is_read && wants_gzip(request.headers());
    request.headers_mut().remove(header::ACCEPT_ENCODING);
    if wants_gzip {
        let gzip = HeaderValue::from_static("gzip");
        request.headers_mut().insert(header::ACCEPT_ENCODING, gzip);
    }
    let mut response = next.run(request).await;
    let etag = response.headers().get(header::ETAG).cloned();
    let Some(etag) = etag.as_ref().and_then(|etag| etag.to_str().ok()) else {
        return response;
    };
    if response.headers().contains_key(header::CONTENT_ENCODING)
        && let Ok(gzip_etag) = HeaderValue::try_from(etag::for_gzip(etag))
    {
        response.headers_mut().insert(header::ETAG, gzip_etag);
    }
    let is_unmodified = if_none_match.is_some_and(|tags| tags.matches(etag));
    if is_unmodified && response.status() == StatusCode::OK {
        return not_modified(response);
    }
    response
}

/// Returns whether the client accepts gzip with at least the weight of `identity`, which is no compression.
fn wants_gzip(headers: &HeaderMap) -> bool {
    let accepted = Preferences::read(headers, &header::ACCEPT_ENCODING);
    let gzip = accepted.weight(&["gzip", "x-gzip", "*"]);
    gzip > 0 && gzip >= accepted.weight(&["identity"])
}

/// Converts a 200 into a 304 (RFC 9110 §15.4.5).
fn not_modified(response: Response) -> Response {
    let (mut parts, _) = response.into_parts();
    parts.status = StatusCode::NOT_MODIFIED;
    for name in [
        header::CONTENT_TYPE,
        header::CONTENT_LENGTH,
        header::CONTENT_ENCODING,
    ] {
        parts.headers.remove(name);
    }
    Response::from_parts(parts, Body::empty())
}
