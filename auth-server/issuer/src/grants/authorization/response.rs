//! Authorization responses: redirects to the client (RFC 6749 §4.1.2).

use crate::grants::authorization_error::{AuthorizationError, ErrorResponse};
use crate::grants::{AuthorizationRequest, Grants};
use crate::params::with_query;

impl Grants {
    /// Returns the error response to a request whose redirect URI the client has registered.
    pub(in crate::grants) fn reject(
        &self,
        request: &AuthorizationRequest,
        error: &'static str,
        description: &'static str,
    ) -> AuthorizationError {
        AuthorizationError::Redirect(ErrorResponse {
            error,
            description,
            redirect: self.error_redirect(request, error, description),
        })
    }

    /// Returns the redirect to the client with an error (RFC 6749 §4.1.2.1). An empty description is left
    /// out.
    pub(super) fn error_redirect(
        &self,
        request: &AuthorizationRequest,
        error: &str,
        description: &str,
    ) -> String {
        match description {
            "" => self.redirect(request, &[("error", error)]),
            description => self.redirect(request, &[("error", error), ("error_description", description)]),
        }
    }

    /// Returns the request's redirect URI with a response in its query, `state` (RFC 6749 §4.1.2) and `iss`
    /// (RFC 9207 §2).
    pub(super) fn redirect(&self, request: &AuthorizationRequest, response: &[(&str, &str)]) -> String {
        let mut parameters = response.to_vec();
        parameters.extend(request.state.as_deref().map(|state| ("state", state)));
        parameters.push(("iss", self.issuer.as_str()));
        with_query(&request.redirect_uri, &parameters)
    }
}
