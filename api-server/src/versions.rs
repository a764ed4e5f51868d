//! The versions of the API and the paths under which they are served.
//!
//! The first version is served both under its prefix and without a prefix. Later versions have a prefix only.

use axum::Extension;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use serde_json::json;
use std::convert::Infallible;
use time::format_description::BorrowedFormatItem;
use time::macros::{date, format_description};
use time::{Date, OffsetDateTime, UtcOffset};
use utoipa::openapi::Server;
use utoipa_axum::router::OpenApiRouter;
use web::DeferredHeaders;

/// A version of the API.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// The version number, such as `1`.
    pub name: &'static str,
    /// The prefix of the paths, such as `/v1`.
    pub prefix: &'static str,
    /// The release date.
    pub released: Date,
    /// The time of deprecation (RFC 9745).
    pub deprecated_at: Option<OffsetDateTime>,
    /// The time after which the version may be unavailable (RFC 8594).
    pub sunset_at: Option<OffsetDateTime>,
    /// The URL of the migration guide.
    pub guide: Option<&'static str>,
}

/// All versions. The first one is served without a prefix too.
pub const VERSIONS: [Version; 1] = [Version {
    name: "1",
    prefix: "/v1",
    released: date!(2026 - 11 - 21),
    deprecated_at: None,
    sunset_at: None,
    guide: None,
}];

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
/// IMF-fixdate (RFC 9110 §5.6.7).
const HTTP_DATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// The version prefix of the request's path, with which `Location` and links begin; empty if the request has
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefix(&'static str);

impl Prefix {
    /// Returns the path with this prefix.
    pub(crate) fn path(self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Prefix {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

/// Serves the routes of a version under its prefix and without a prefix. The OpenAPI document lists the paths
/// without it, and both base URLs as servers.
pub(crate) fn serve<S: Clone + Send + Sync + 'static>(
    version: Version,
    routes: OpenApiRouter<S>,
) -> OpenApiRouter<S> {
    let (routes, document) = routes.split_for_parts();
    let prefixed = routes.clone().layer(Extension(Prefix(version.prefix)));
    let mut routes = routes.nest(version.prefix, prefixed);
    if version.headers().next().is_some() {
        routes = routes.route_layer(from_fn_with_state(version, add_version_headers));
    }
    let mut router = OpenApiRouter::with_openapi(document).merge(routes.into());
    router.get_openapi_mut().servers = Some(vec![version.server(""), version.server(version.prefix)]);
    router
}

/// Middleware: adds `Deprecation`, `Sunset` and `Link` to the response, as far as the version has such dates
/// and a guide.
async fn add_version_headers(State(version): State<Version>, request: Request, next: Next) -> Response {
    if let Some(deferred) = request.extensions().get::<DeferredHeaders>() {
        for (name, value) in version.headers() {
            if let Ok(value) = HeaderValue::try_from(value) {
                deferred.add(name, value);
            }
        }
    }
    next.run(request).await
}

impl Version {
    /// Returns the entry for `servers` in the OpenAPI document, with the dates of the version.
    fn server(&self, prefix: &str) -> Server {
        let date = |at: Option<OffsetDateTime>| at.map(|at| at.date().to_string());
        let dates = [
            ("released", Some(self.released.to_string())),
            ("deprecated", date(self.deprecated_at)),
            ("sunset", date(self.sunset_at)),
        ];
        let texts: Vec<_> = dates
            .into_iter()
            .filter_map(|(event, date)| Some(format!("{event} {}", date?)))
            .collect();
        let mut server = Server::new(prefix);
        server.description = Some(format!("Version {}, {}.", self.name, texts.join(", ")));
        let version = json!({
            "name": self.name,
            "released": self.released.to_string(),
            "deprecated": date(self.deprecated_at),
            "sunset": date(self.sunset_at),
        });
        server.extensions = Some([("x-version", version)].into_iter().collect());
        server
    }

    /// Returns the headers `Deprecation`, `Sunset` and `Link`, each if the version has its value.
    fn headers(&self) -> impl Iterator<Item = (HeaderName, String)> {
        let deprecation = self.deprecated_at.map(|at| format!("@{}", at.unix_timestamp()));
        let sunset = self
            .sunset_at
            .and_then(|at| at.to_offset(UtcOffset::UTC).format(HTTP_DATE).ok());
        let guide = self
            .guide
            .map(|url| format!(r#"<{url}>; rel="deprecation"; type="text/html""#));
        [
            (DEPRECATION, deprecation),
            (SUNSET, sunset),
            (header::LINK, guide),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use std::sync::Arc;
    use storage::clock_check::ClockCheck;
    use storage::db::Db;
    use time::macros::datetime;
    use web::Policy;
    use web::client_address::TrustedProxies;
    use web::program::Program;

    /// Returns a router with one route that answers with its own path.
    async fn program(version: Version) -> Program {
        let route = get(|prefix: Prefix| async move { [(header::LOCATION, prefix.path("/thing"))] });
        let policy = Policy {
            base_url: "http://localhost".parse().unwrap(),
            allowed_origins: Default::default(),
            trusted_proxies: TrustedProxies::new(Vec::new(), false),
        };
        #[allow(clippy::disallowed_methods, reason = "a route of this test alone")]
        let routes = Router::new().route("/thing", route);
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        let routes = serve(version, routes.into()).into();
        Program::new(routes, Arc::new(policy), ClockCheck::new(db))
    }

    async fn call(program: &Program, method: &str, path: &str) -> Response {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::HOST, "localhost");
        let request = request.body(Body::empty()).unwrap();
        program.clone().handle(request).await
    }

    #[tokio::test]
    async fn a_deprecated_version_announces_its_dates_in_every_response() {
        let program = program(Version {
            deprecated_at: Some(datetime!(2023-06-30 23:59:59 UTC)),
            sunset_at: Some(datetime!(2024-01-01 01:00:00 +1)),
            guide: Some("https://example.org/v2"),
            ..VERSIONS[0]
        })
        .await;
        for (method, path) in [("GET", "/thing"), ("GET", "/v1/thing"), ("POST", "/v1/thing")] {
            let response = call(&program, method, path).await;
            let headers = response.headers();
            assert_eq!(headers["deprecation"], "@1688169599", "{method} {path}");
            assert_eq!(headers["sunset"], "Mon, 01 Jan 2024 00:00:00 GMT");
            let link = r#"<https://example.org/v2>; rel="deprecation"; type="text/html""#;
            assert_eq!(headers["link"], link);
        }
        let nothing = call(&program, "GET", "/v1/nothing").await;
        assert!(!nothing.headers().contains_key("deprecation"));
    }

    #[test]
    fn the_openapi_document_has_the_dates() {
        let server = Version {
            sunset_at: Some(datetime!(2024-01-01 01:00:00 UTC)),
            ..VERSIONS[0]
        }
        .server("/v1");
        let description = server.description.unwrap();
        assert_eq!(description, "Version 1, released 2026-11-21, sunset 2024-01-01.");
        assert_eq!(server.extensions.unwrap()["x-version"]["sunset"], "2024-01-01");
    }

    #[tokio::test]
    async fn a_version_without_dates_adds_no_headers_and_keeps_the_prefix() {
        let program = program(VERSIONS[0]).await;
        for path in ["/thing", "/v1/thing"] {
            let response = call(&program, "GET", path).await;
            assert_eq!(response.headers()["location"], path);
            for name in ["deprecation", "sunset", "link"] {
                assert!(!response.headers().contains_key(name), "{path}: {name}");
            }
        }
    }
}
