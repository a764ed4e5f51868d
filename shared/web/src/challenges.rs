//! The challenge of a 401 response names the scope that its route needs (RFC 6750 §3), so that a client does not have to ask for
//! more. The OpenAPI document has the scope of each route.

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use std::collections::HashMap;
use std::sync::Arc;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::Operation;

/// The scopes of the routes that need one, by method and path. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RouteScopes(Arc<HashMap<(Method, String), String>>);

/// The route of a request; `None` for a path without a route.
pub(crate) struct Route(Option<(Method, MatchedPath)>);

impl RouteScopes {
    /// Reads the scopes from the document of the routes. A server of the document is a prefix under which they are served.
    pub fn of(document: &OpenApi) -> Self {
        let prefixes: Vec<&str> = match &document.servers {
            Some(servers) => servers.iter().map(|server| server.url.as_str()).collect(),
            None => vec![""],
        };
        let mut scopes = HashMap::new();
        for (path, item) in &document.paths.paths {
            let operations = [
                (Method::GET, &item.get),
                (Method::POST, &item.post),
                (Method::PUT, &item.put),
                (Method::PATCH, &item.patch),
                (Method::DELETE, &item.delete),
            ];
            for (method, operation) in operations {
                let Some(scope) = operation.as_ref().and_then(needed_scope) else {
                    continue;
                };
                for prefix in &prefixes {
                    scopes.insert((method.clone(), format!("{prefix}{path}")), scope.clone());
                }
            }
        }
        Self(Arc::new(scopes))
    }

    /// Adds the scope of the route to the challenge of a 401 response.
    pub(crate) fn name_in(&self, response: &mut Response, route: Route) {
        let Route(Some((method, path))) = route else {
            return;
        };
        if response.status() != StatusCode::UNAUTHORIZED {
            return;
        }
        let method = if method == Method::HEAD {
            Method::GET
        } else {
            method
        };
        if let Some(scope) = self.0.get(&(method, path.as_str().to_owned())) {
            add_parameter(response, &format!(r#"scope="{scope}""#));
        }
    }
}

impl Route {
    pub(crate) fn of(request: &Request) -> Self {
        let path = request.extensions().get::<MatchedPath>();
        Self(path.map(|path| (request.method().clone(), path.clone())))
    }
}

/// Adds a parameter to the challenges of a response; to a new one of the scheme Bearer if there is none.
pub fn add_parameter(response: &mut Response, parameter: &str) {
    let headers = response.headers_mut();
    let mut challenges: Vec<String> = headers
        .get_all(header::WWW_AUTHENTICATE)
        .iter()
        .filter_map(|challenge| challenge.to_str().ok().map(str::to_owned))
        .collect();
    if challenges.is_empty() {
        challenges.push("Bearer".to_owned());
    }
    headers.remove(header::WWW_AUTHENTICATE);
    for challenge in challenges {
        let separator = if challenge.contains(' ') { ", " } else { " " };
        if let Ok(challenge) = HeaderValue::try_from(format!("{challenge}{separator}{parameter}")) {
            headers.append(header::WWW_AUTHENTICATE, challenge);
        }
    }
}

/// Returns the scope with which an access token is enough for the operation, the first one if there are several; `None` if it needs
/// no scope or accepts no access token.
fn needed_scope(operation: &Operation) -> Option<String> {
    // The requirements can be read only in their serialized form.
    let requirements = serde_json::to_value(&operation.security).ok()?;
    let mut requirements = requirements.as_array()?.iter();
    let scopes = requirements.find_map(|requirement| requirement["oauth2"].as_array())?;
    let scopes: Vec<&str> = scopes.iter().filter_map(|scope| scope.as_str()).collect();
    (!scopes.is_empty()).then(|| scopes.join(" "))
}
