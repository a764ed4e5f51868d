//! Response compression and `If-None-Match`.
//!
//! A strong entity tag must differ between content codings (RFC 9110 §8.8.3), so the tag of a compressed
//! response gets a suffix, which the parsers of conditional headers remove. `If-None-Match` is evaluated
//! outside the compression layer, so that a 304 carries the same tag as the 200 that it replaces.

use crate::connection::Client;
use crate::content_negotiation::Preferences;
use crate::deferred_headers::add_to_list;
use crate::etag::{self, IfNoneMatch};
use crate::{error, outgoing};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::response::Response;
use futures_util::FutureExt as _;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use tower::{ServiceExt as _, service_fn};
use tower_http::compression::Compression;
use tower_http::compression::predicate::{Predicate as _, SizeAbove};

/// The minimum size of a response to compress, in bytes. Compression hardly shortens a smaller one.
const MIN_SIZE: u64 = 1024;

/// Returns whether a response is text without secrets. The compressed size of a secret next to
/// attacker-chosen text reveals the secret (BREACH), so responses with `no-store` or with a cookie are not
/// compressed.
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

/// Calls the routes. Compresses the response if the client accepts that, adds the suffix to the entity tag of
/// a compressed response, and turns a 200 to `GET` or `HEAD` into a 304 if `If-None-Match` lists the tag.
pub(crate) async fn negotiate(routes: Router, mut request: Request) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let if_none_match = is_read.then(|| IfNoneMatch::read(request.headers()));
    // Responses to writes are not compressed, because they may contain a secret. The compression service may
    // answer 406 after the handler ran, so it gets either `gzip` or no header.
    let wants_gzip = is_read && wants_gzip(request.headers());
    request.headers_mut().remove(header::ACCEPT_ENCODING);
    let is_compressible = SizeAbove::new(MIN_SIZE).and(may_be_compressed);
    let mut response = if wants_gzip {
        let gzip = HeaderValue::from_static("gzip");
        request.headers_mut().insert(header::ACCEPT_ENCODING, gzip);
        let routes = service_fn(|request| call(routes.clone(), request));
        let Ok(response) = Compression::new(routes)
            .compress_when(is_compressible)
            .oneshot(request)
            .await;
        response.map(Body::new)
    } else {
        let Ok(mut response) = call(routes, request).await;
        // The compression service, which adds this header for all clients, is not called.
        if is_compressible.should_compress(&response) {
            let accept_encoding = HeaderValue::from_static("accept-encoding");
            add_to_list(response.headers_mut(), &header::VARY, &accept_encoding);
        }
        response
    };
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

/// Calls the routes, and counts a large response by its size before compression. A panic becomes a 500.
async fn call(routes: Router, request: Request) -> Result<Response, Infallible> {
    let client = Client::of_request(request.extensions());
    let response = match AssertUnwindSafe(routes.oneshot(request)).catch_unwind().await {
        Ok(Ok(response)) => response,
        Err(cause) => error::from_panic(cause),
    };
    Ok(match client {
        Some(client) => outgoing::count(&client, response).await,
        None => response,
    })
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
