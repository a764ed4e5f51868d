//! `/openapi.json`, and `/docs`: Swagger UI out of the binary, which loads nothing from elsewhere.

use crate::openapi::document;
use crate::{Cors, Error, cors, rate_limits};
use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use foundation::secret;
use foundation::urls::Urls;
use std::borrow::Cow;
use std::sync::Arc;
use storage::rate_limits::RateLimiter;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Scripts and styles of this origin alone, and the calls that people try out. The pictures within the
/// style sheet are `data:` URLs.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const CACHING: &str = "public, max-age=300";

/// The document as it is served.
struct Published {
    json: String,
    etag: String,
}

/// Takes the document out of the routes, and adds the routes that show it.
pub fn publish(
    routes: OpenApiRouter,
    urls: &Urls,
    limiter: RateLimiter,
) -> Result<Router, serde_json::Error> {
    let own = OpenApiRouter::new()
        .routes(routes!(read))
        .route_layer(from_fn_with_state(Cors::Anyone, cors::share))
        .merge(docs().into());
    let own = rate_limits::limit_by_address(own, limiter);
    let (own, described) = own.split_for_parts();
    let mut described = OpenApiRouter::<()>::with_openapi(described);
    super::unversioned(
        described.get_openapi_mut(),
        &foundation::urls::origin_of(&urls.base),
    );
    let (routes, described) = described.merge(routes).split_for_parts();
    let json = serde_json::to_string(&document(described, urls))?;
    let etag = format!("\"{}\"", secret::encode(&secret::hash(&json)));
    let own = own.with_state(Arc::new(Published { json, etag }));
    // The given routes last, for their fallback: axum keeps that of the one that is merged.
    Ok(own.merge(routes))
}

#[allow(
    clippy::disallowed_methods,
    reason = "the page that shows the document is for browsers alone"
)]
fn docs() -> Router<Arc<Published>> {
    Router::new()
        .route("/docs", get(page))
        .route("/docs/{file}", get(asset))
}

/// This document
///
/// OpenAPI 3.1, generated from the code that serves it. `/docs` shows it to people.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "readDocument", tag = "Service",
    params(("If-None-Match" = Option<String>, Header, description = "The entity tags that the caller has.")),
    responses(
        (status = 200, description = "The document.", body = serde_json::Value, headers(("ETag"), ("Cache-Control"))),
        (status = 304, description = "The caller has it.", headers(("ETag"), ("Cache-Control"))),
    )
)]
async fn read(State(document): State<Arc<Published>>) -> Response {
    let caching = [
        (header::CACHE_CONTROL, CACHING),
        (header::ETAG, document.etag.as_str()),
    ];
    let json = [(header::CONTENT_TYPE, "application/json")];
    (caching, json, document.json.clone()).into_response()
}

/// `GET /docs`.
async fn page() -> Response {
    let html = include_bytes!("../../assets/docs.html");
    show("text/html; charset=utf-8", Cow::Borrowed(html))
}

/// `GET /docs/…`: what the page loads.
async fn asset(file: Result<Path<String>, PathRejection>) -> Response {
    let Ok(Path(file)) = file else {
        return Error::not_found().into_response();
    };
    if file == "start.js" {
        let script = include_bytes!("../../assets/docs.js");
        return show("text/javascript; charset=utf-8", Cow::Borrowed(script));
    }
    let config = Arc::new(utoipa_swagger_ui::Config::from("/openapi.json"));
    match utoipa_swagger_ui::serve(&file, config) {
        Ok(Some(found)) if ["swagger-ui.css", "swagger-ui-bundle.js"].contains(&file.as_str()) => {
            show(&found.content_type, found.bytes)
        }
        _ => Error::not_found().into_response(),
    }
}

fn show(content_type: &str, bytes: Cow<'static, [u8]>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, CACHING),
    ];
    (
        headers,
        [("cross-origin-opener-policy", "same-origin")],
        bytes.into_owned(),
    )
        .into_response()
}
