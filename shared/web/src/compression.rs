//! Content coding, and entity tags that stay usable through it.
//!
//! A strong tag must differ between codings (RFC 9110 §8.8.3), so that of a compressed answer ends in
//! [`etag::GZIP`], which is taken off again where a caller sends the tag back. 304 is decided here, outside
//! the compression, and so carries the tag that the 200 would have.

use crate::content_negotiation::Preferences;
use crate::etag;
use crate::etag::IfNoneMatch;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate as _, SizeAbove};

/// What is smaller gains nothing.
const MIN_SIZE: u64 = 1024;

/// Wraps routes in compression and in `If-None-Match`.
pub(crate) fn layers(routes: Router) -> Router {
    let compression = CompressionLayer::new().compress_when(SizeAbove::new(MIN_SIZE).and(may_be_compressed));
    routes.layer(compression).layer(from_fn(negotiate))
}

/// Text that holds no secret. What its handler says may not be stored, or comes with a cookie, may hold one,
/// and beside something that the caller chose its compressed size gives it away (BREACH).
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

/// Middleware: decides the coding for the compression inside, marks the tag of what it compressed, and
/// answers 304 to whoever has it.
async fn negotiate(mut request: Request, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let known = is_read.then(|| IfNoneMatch::read(request.headers()));
    // What a write answers may show a secret this once: it is left as it is. And the layer inside answers
    // 406 where it cannot please, after the handler has run; so it is told all or nothing.
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
        && let Ok(marked) = HeaderValue::try_from(etag::compressed(etag))
    {
        response.headers_mut().insert(header::ETAG, marked);
    }
    let is_known = known.is_some_and(|known| known.matches(etag));
    if is_known && response.status() == StatusCode::OK {
        return not_modified(response);
    }
    response
}

/// Gzip for whoever accepts it and wants the bare text no more than that.
fn wants_gzip(headers: &HeaderMap) -> bool {
    let accepted = Preferences::read(headers, &header::ACCEPT_ENCODING);
    let gzip = accepted.weight(&["gzip", "x-gzip", "*"]);
    gzip > 0 && gzip >= accepted.weight(&["identity"])
}

/// The 304 in place of a 200 (RFC 9110 §15.4.5).
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
