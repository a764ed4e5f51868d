//! The credentials of the routes, as the OpenAPI document has them. The challenge of a 401 response names the
//! scope that its route needs (RFC 6750 §3), so that a client does not have to ask for more.

use crate::openapi::operations::operations;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use serde_json::Map;
use std::collections::HashMap;
use std::sync::Arc;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::Operation;

/// The credentials of the routes, by method and path. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RouteCredentials(Arc<HashMap<(Method, String), Accepted>>);

/// The credentials that a route accepts.
#[derive(Clone, Debug, Default)]
struct Accepted {
    /// The scope with which an access token is enough, the first one if there are several.
    scope: Option<String>,
    kind: Option<CredentialKind>,
}

/// The kind of the credentials that a program sends to a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialKind {
    /// An access token, or the session of a user, without which the route does nothing.
    Token,
    /// A secret or a signed assertion of a client.
    Client,
}

/// The route of a request; `None` for a path without a route.
pub(crate) struct Route(Option<(Method, MatchedPath)>);

impl RouteCredentials {
    /// Reads the credentials from the document of the routes. A server of the document is a prefix under
    /// which they are served.
    pub fn of(document: &OpenApi) -> Self {
        let prefixes: Vec<&str> = match &document.servers {
            Some(servers) => servers.iter().map(|server| server.url.as_str()).collect(),
            None => vec![""],
        };
        let mut credentials = HashMap::new();
        for (path, method, operation) in operations(&document.paths) {
            let accepted = Accepted::of(operation);
            for prefix in &prefixes {
                credentials.insert((method.clone(), format!("{prefix}{path}")), accepted.clone());
            }
        }
        Self(Arc::new(credentials))
    }

    /// Returns the kind of the credentials that a program sends to the route; `None` if the route needs none.
    pub(crate) fn kind(&self, route: &Route) -> Option<CredentialKind> {
        self.accepted(route)?.kind
    }

    fn accepted(&self, route: &Route) -> Option<&Accepted> {
        let (method, path) = route.0.as_ref()?;
        let method = match *method {
            Method::HEAD => Method::GET,
            _ => method.clone(),
        };
        self.0.get(&(method, path.as_str().to_owned()))
    }

    /// Adds the scope of the route to the challenge of a 401 response.
    pub(crate) fn name_scope_in(&self, response: &mut Response, route: &Route) {
        if response.status() != StatusCode::UNAUTHORIZED {
            return;
        }
        if let Some(scope) = self.accepted(route).and_then(|accepted| accepted.scope.as_ref()) {
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

impl Accepted {
    fn of(operation: &Operation) -> Self {
        // The requirements can be read only in their serialized form.
        let requirements = serde_json::to_value(&operation.security).unwrap_or_default();
        let requirements = requirements.as_array().map(Vec::as_slice).unwrap_or_default();
        let scopes = requirements
            .iter()
            .find_map(|requirement| requirement["oauth2"].as_array());
        let scopes = scopes.map(|scopes| {
            scopes
                .iter()
                .filter_map(|scope| scope.as_str())
                .collect::<Vec<_>>()
        });
        let accepts = |scheme: &str| {
            requirements
                .iter()
                .any(|requirement| requirement.get(scheme).is_some())
        };
        let is_public = requirements
            .iter()
            .any(|requirement| requirement.as_object().is_some_and(Map::is_empty));
        let kind = match (accepts("client"), accepts("oauth2")) {
            (true, _) => Some(CredentialKind::Client),
            (false, true) if !is_public => Some(CredentialKind::Token),
            _ => None,
        };
        Self {
            scope: scopes
                .filter(|scopes| !scopes.is_empty())
                .map(|scopes| scopes.join(" ")),
            kind,
        }
    }
}
