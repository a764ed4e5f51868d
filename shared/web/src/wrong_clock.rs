//! The requests that are served although the clock of the process differs from that of the database: they
//! publish keys and metadata, or end something that may be lost or stolen. They are judged by the clock of
//! the database, as far as it was measured.

use axum::http::Method;

/// The methods and paths, in which `*` stands for any segment. `GET` includes `HEAD`.
const ROUTES: &[(&str, &str)] = &[
    // Keys and metadata.
    ("GET", "/.well-known/*"),
    ("GET", "/openapi.json"),
    // The pages of sign-out, and the anti-forgery token of every other request.
    ("GET", "/assets/*"),
    ("GET", "/csrf"),
    // Sign-out, and the end of sessions and of connected apps.
    ("GET", "/signout"),
    ("POST", "/signout"),
    ("POST", "/signout/confirmation"),
    ("POST", "/logout"),
    ("GET", "/me/sessions"),
    ("DELETE", "/me/sessions"),
    ("DELETE", "/me/sessions/*"),
    ("GET", "/me/grants"),
    ("DELETE", "/me/grants/*"),
    ("GET", "/account"),
    ("POST", "/account/sessions/end"),
    ("POST", "/account/sessions/end-others"),
    ("POST", "/account/apps/disconnect"),
    // Revocation, and introspection, which describes no token as active.
    ("POST", "/revoke"),
    ("POST", "/token/revoke"),
    ("POST", "/introspect"),
    // Administration: finding and ending. The retirement of a key is served if the key is compromised, and a
    // form that changes a user or a client if it ends something.
    ("GET", "/admin"),
    ("GET", "/admin/users"),
    ("GET", "/admin/users/*"),
    ("POST", "/admin/users/*/changes"),
    ("POST", "/admin/users/*/disablements"),
    ("DELETE", "/admin/users/*/sessions"),
    ("GET", "/admin/sessions"),
    ("DELETE", "/admin/sessions/*"),
    ("GET", "/admin/clients"),
    ("GET", "/admin/clients/*"),
    ("POST", "/admin/clients/*/changes"),
    ("POST", "/admin/clients/*/disablements"),
    ("GET", "/admin/consents"),
    ("DELETE", "/admin/consents/*"),
    ("GET", "/admin/keys"),
    ("GET", "/admin/keys/verifiers"),
    ("POST", "/admin/keys/*/retirements"),
    ("POST", "/admin/keys/retire"),
    ("GET", "/admin/registration-tokens"),
    ("DELETE", "/admin/registration-tokens/*"),
    ("GET", "/admin/events"),
    ("GET", "/admin/events/refusals"),
];

/// Returns whether a request is served while the clock differs. `OPTIONS` is, because its response depends on
/// no time.
pub(crate) fn serves(method: &Method, path: &str) -> bool {
    let path = path
        .strip_prefix("/v1")
        .filter(|rest| rest.starts_with('/'))
        .unwrap_or(path);
    let method = match *method {
        Method::OPTIONS => return true,
        Method::HEAD => "GET",
        _ => method.as_str(),
    };
    let matches = |pattern: &str| {
        let (mut expected, mut present) = (pattern.split('/'), path.split('/'));
        loop {
            match (expected.next(), present.next()) {
                (None, None) => return true,
                (Some("*"), Some(_)) => {}
                (Some(one), Some(other)) if one == other => {}
                _ => return false,
            }
        }
    };
    let mut routes = ROUTES.iter();
    routes.any(|(served, pattern)| *served == method && matches(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_end_something_are_served_and_grants_are_not() {
        for (method, path) in [
            (Method::GET, "/.well-known/jwks.json"),
            (Method::HEAD, "/.well-known/openid-configuration"),
            (Method::OPTIONS, "/token"),
            (Method::POST, "/v1/logout"),
            (Method::DELETE, "/me/sessions"),
            (Method::DELETE, "/v1/me/sessions/7"),
            (Method::POST, "/account/sessions/end-others"),
            (Method::POST, "/admin/users/7/disablements"),
            (Method::POST, "/admin/keys/retire"),
        ] {
            assert!(serves(&method, path), "{method} {path}");
        }
        for (method, path) in [
            (Method::POST, "/token"),
            (Method::POST, "/login"),
            (Method::GET, "/authorize"),
            (Method::GET, "/me"),
            (Method::DELETE, "/me"),
            (Method::DELETE, "/me/password"),
            (Method::GET, "/v1"),
            (Method::GET, "/.well-known/jwks.json/more"),
            (Method::POST, "/admin/users/7/enablements"),
            (Method::POST, "/admin/keys/rotations"),
            (Method::POST, "/admin/keys/rotate"),
        ] {
            assert!(!serves(&method, path), "{method} {path}");
        }
    }
}
