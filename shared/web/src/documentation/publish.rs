//! `/openapi.json`, the reference under `/docs`, and Swagger UI, whose files are part of the binary.

use super::document;
use super::pages::{self, CACHING, HTML};
use super::reference::Reference;
use crate::{Cors, Error, cors, openapi, rate_limits};
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use foundation::secret;
use foundation::urls::{Urls, origin_of};
use std::sync::Arc;
use storage::rate_limits::RateLimiter;
use tokio::sync::OnceCell;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// The document of a program. It is built at the first request, because building it takes a third of the
/// processor time of a start, and few replicas are asked for it.
struct LazyDocument {
    /// The paths and schemas of the routes, without the parts that all operations share.
    collected: OpenApi,
    urls: Urls,
    published: OnceCell<Published>,
    /// The same for people. It is read from the serialized document at the first request of a page.
    reference: OnceCell<Reference>,
}

/// The serialized document.
struct Published {
    json: Bytes,
    etag: String,
}

/// Converts the routes of a program into a router, and adds `/openapi.json`, `/docs` and `/llms.txt`, which serve
/// the document of all routes. `urls` are those in the document, and `limiter` limits the requests to the added
/// routes per client address.
pub fn publish(routes: OpenApiRouter, urls: &Urls, limiter: RateLimiter) -> Router {
    let added = OpenApiRouter::new()
        .routes(routes!(read_document))
        .route_layer(from_fn_with_state(Cors::AnyOrigin, cors::add_headers))
        .merge(docs_routes().into());
    let (added, mut added_document) = rate_limits::limit_by_address(added, limiter).split_for_parts();
    openapi::set_server(&mut added_document, &origin_of(&urls.base));
    let all_documents = OpenApiRouter::<()>::with_openapi(added_document);
    let (routes, collected) = all_documents.merge(routes).split_for_parts();
    let document = LazyDocument {
        collected,
        urls: urls.clone(),
        published: OnceCell::new(),
        reference: OnceCell::new(),
    };
    let added = added.with_state(Arc::new(document));
    // The given routes are merged last, because axum keeps the fallback of the merged router.
    added.merge(routes)
}

impl LazyDocument {
    /// Returns the serialized document. The first call builds it on a thread for blocking work, and
    /// concurrent calls wait for that. Fails if the document cannot be built; the next call tries again.
    async fn published(self: &Arc<Self>) -> Result<&Published, Error> {
        let build = || async {
            let document = Arc::clone(self);
            let built = tokio::task::spawn_blocking(move || document.build()).await;
            let built = built.map_err(|panic| Error::internal(&panic))?;
            built.map_err(|error| Error::internal(&error))
        };
        self.published.get_or_try_init(build).await
    }

    /// Returns the reference, which the first call reads as [`published`](Self::published) builds the document.
    async fn reference(self: &Arc<Self>) -> Result<&Reference, Error> {
        let json = &self.published().await?.json;
        let read = || async {
            let (json, base) = (json.clone(), origin_of(&self.urls.base));
            let read = tokio::task::spawn_blocking(move || Reference::read(&json, base)).await;
            let read = read.map_err(|panic| Error::internal(&panic))?;
            read.map_err(|error| Error::internal(&error))
        };
        self.reference.get_or_try_init(read).await
    }

    fn build(&self) -> Result<Published, serde_json::Error> {
        let json = serde_json::to_string(&document::complete(self.collected.clone(), &self.urls))?;
        let etag = format!("\"{}\"", secret::encode(&secret::hash(&json)));
        Ok(Published {
            json: json.into(),
            etag,
        })
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "these pages are for browsers and not part of the document"
)]
fn docs_routes() -> Router<Arc<LazyDocument>> {
    Router::new()
        .route("/docs", get(general_page))
        .route("/docs/{file}", get(page_or_asset))
        .route("/llms.txt", get(overview))
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
async fn read_document(State(document): State<Arc<LazyDocument>>) -> Result<Response, Error> {
    let Published { json, etag } = document.published().await?;
    let caching = [(header::CACHE_CONTROL, CACHING), (header::ETAG, etag.as_str())];
    let json_type = [(header::CONTENT_TYPE, "application/json")];
    Ok((caching, json_type, json.clone()).into_response())
}

/// `GET /docs`.
async fn general_page(
    State(document): State<Arc<LazyDocument>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    pages::general_page(document.reference().await?, query.as_deref())
}

/// `GET /llms.txt`.
async fn overview(State(document): State<Arc<LazyDocument>>) -> Result<Response, Error> {
    pages::overview(document.reference().await?)
}

/// `GET /docs/{file}`: a section as a page or in Markdown, Swagger UI, or a file of these pages.
async fn page_or_asset(
    State(document): State<Arc<LazyDocument>>,
    file: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let Ok(Path(file)) = file else {
        return Err(Error::not_found());
    };
    match asset(&file, &document.urls.issuer) {
        Some(response) => Ok(response),
        None => pages::section(document.reference().await?, &file, query.as_deref()),
    }
}

fn asset(file: &str, issuer: &str) -> Option<Response> {
    let (content_type, text) = match file {
        "reference.css" => (CSS, include_str!("../../assets/reference.css")),
        "try" => (HTML, include_str!("../../assets/try.html")),
        "try.css" => (CSS, include_str!("../../assets/try.css")),
        "try.js" => (JAVASCRIPT, include_str!("../../assets/try.js")),
        "latchkey-auth.js" => (
            JAVASCRIPT,
            include_str!("../../../../deploy/latchkey-auth/latchkey-auth.js"),
        ),
        "latchkey-auth-errors.html" => (
            HTML,
            include_str!("../../../../deploy/latchkey-auth/latchkey-auth-errors.html"),
        ),
        "swagger-ui.css" | "swagger-ui-bundle.js" => {
            let config = Arc::new(utoipa_swagger_ui::Config::from("/openapi.json"));
            let found = utoipa_swagger_ui::serve(file, config).ok()??;
            let policy = security_policy(issuer);
            return Some(pages::response(&found.content_type, &policy, found.bytes));
        }
        _ => return None,
    };
    let mut response = pages::response(content_type, &security_policy(issuer), text);
    if file == "try" {
        // The address of this page may have the code of a sign-in.
        let caching = HeaderValue::from_static("no-store");
        response.headers_mut().insert(header::CACHE_CONTROL, caching);
    }
    Some(response)
}

/// Allows Swagger UI scripts and styles of this origin only, and requests to it and to the issuer, which
/// gives the access tokens. Its style sheet contains images as `data:` URLs.
fn security_policy(issuer: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self' {issuer}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
