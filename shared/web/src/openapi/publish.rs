//! `/openapi.json`, and `/docs` with Swagger UI, whose files are part of the binary.

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
use foundation::urls::{Urls, origin_of};
use std::borrow::Cow;
use std::sync::Arc;
use storage::rate_limits::RateLimiter;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Allows scripts, styles and requests of this origin only. The style sheet of Swagger UI contains images as
/// `data:` URLs.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const CACHING: &str = "public, max-age=300";

/// The serialized document.
struct Published {
    json: String,
    etag: String,
}

/// Converts the routes of a program into a router, and adds `/openapi.json` and `/docs`, which serve the document of
/// all routes. `urls` are those in the document, and `limiter` limits the requests to the added routes per client
/// address. Fails if the document cannot be serialized.
pub fn publish(
    routes: OpenApiRouter,
    urls: &Urls,
    limiter: RateLimiter,
) -> Result<Router, serde_json::Error> {
    let added = OpenApiRouter::new()
        .routes(routes!(read_document))
        .route_layer(from_fn_with_state(Cors::AnyOrigin, cors::add_headers))
        .merge(docs_routes().into());
    let (added, mut added_document) = rate_limits::limit_by_address(added, limiter).split_for_parts();
    document::set_server(&mut added_document, &origin_of(&urls.base));
    let all_documents = OpenApiRouter::<()>::with_openapi(added_document);
    let (routes, collected) = all_documents.merge(routes).split_for_parts();
    let json = serde_json::to_string(&document::complete(collected, urls))?;
    let etag = format!("\"{}\"", secret::encode(&secret::hash(&json)));
    let added = added.with_state(Arc::new(Published { json, etag }));
    // The given routes are merged last, because axum keeps the fallback of the merged router.
    Ok(added.merge(routes))
}

#[allow(
    clippy::disallowed_methods,
    reason = "these pages are for browsers and not part of the document"
)]
fn docs_routes() -> Router<Arc<Published>> {
    Router::new()
        .route("/docs", get(docs_page))
        .route("/docs/{file}", get(docs_asset))
}

/// Get this document
///
/// Returns the OpenAPI 3.1 document, which is generated from the code. `/docs` shows it in a browser.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "readDocument", tag = "Service",
    params(("If-None-Match" = Option<String>, Header, description = "The entity tags of the copies that the caller has.")),
    responses(
        (status = 200, description = "The document.", body = serde_json::Value, headers(("ETag"), ("Cache-Control"))),
        (status = 304, description = "The caller already has the current version.", headers(("ETag"), ("Cache-Control"))),
    )
)]
async fn read_document(State(document): State<Arc<Published>>) -> Response {
    let caching = [
        (header::CACHE_CONTROL, CACHING),
        (header::ETAG, document.etag.as_str()),
    ];
    let json = [(header::CONTENT_TYPE, "application/json")];
    (caching, json, document.json.clone()).into_response()
}

/// `GET /docs`.
async fn docs_page() -> Response {
    let html = include_bytes!("../../assets/docs.html");
    file_response("text/html; charset=utf-8", Cow::Borrowed(html))
}

/// `GET /docs/{file}`: the scripts and the style sheet of the page.
async fn docs_asset(file: Result<Path<String>, PathRejection>) -> Response {
    let Ok(Path(file)) = file else {
        return Error::not_found().into_response();
    };
    if file == "start.js" {
        let script = include_bytes!("../../assets/docs.js");
        return file_response("text/javascript; charset=utf-8", Cow::Borrowed(script));
    }
    let config = Arc::new(utoipa_swagger_ui::Config::from("/openapi.json"));
    match utoipa_swagger_ui::serve(&file, config) {
        Ok(Some(found)) if ["swagger-ui.css", "swagger-ui-bundle.js"].contains(&file.as_str()) => {
            file_response(&found.content_type, found.bytes)
        }
        _ => Error::not_found().into_response(),
    }
}

fn file_response(content_type: &str, bytes: Cow<'static, [u8]>) -> Response {
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
