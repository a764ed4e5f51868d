//! The checks of an authorization request (RFC 6749 §4.1.1), in the order of oxide-auth's state machine.

use crate::clients::may_redirect_to;
use crate::grants::AuthorizationRequest;
use crate::grants::requests::allowed_scope;
use crate::pkce::CodeChallenge;
use foundation::scope::Scope;
use identity::grants::clients::Client;
use oxide_auth::code_grant::authorization::{Authorization, Error, ErrorUrl, Input, Output, Request};
use oxide_auth::code_grant::error::AuthorizationErrorType;
use oxide_auth::primitives::grant::Extensions;
use oxide_auth::primitives::registrar::BoundClient;
use std::borrow::Cow;

/// The reason why a request was rejected.
pub(in crate::grants) enum RequestError {
    /// The redirect URI is missing or not registered, so there is no safe redirect.
    RedirectUri,
    /// An error response of RFC 6749 §4.1.2.1; the description may be empty.
    Response {
        /// The value of `error`.
        error: &'static str,
        /// The value of `error_description`.
        description: &'static str,
    },
}

/// Validates a request of this client. Returns its scope and PKCE challenge. `flaw` is the flaw of its
/// parameters that the client is told about, if there is one.
pub(in crate::grants) fn validate(
    request: &AuthorizationRequest,
    flaw: Option<&'static str>,
    client: &Client,
) -> Result<(Scope, CodeChallenge), RequestError> {
    let mut checks = Authorization::new(request);
    let bound_client = match checks.advance(Input::None) {
        Output::Bind {
            client_id,
            redirect_uri: Some(redirect_uri),
        } if may_redirect_to(client, redirect_uri.as_str()) => BoundClient {
            client_id: Cow::Owned(client_id),
            redirect_uri: Cow::Owned(redirect_uri.into()),
        },
        _ => return Err(RequestError::RedirectUri),
    };
    match checks.advance(Input::Bound {
        request,
        bound_client,
    }) {
        Output::Extend => {}
        Output::Err(Error::Redirect(error)) => return Err(error_response(error, request)),
        _ => return Err(RequestError::RedirectUri),
    }
    let code_challenge = check_extensions(request, flaw).map_err(RequestError::invalid_request)?;
    let requested = match checks.advance(Input::Extended(Extensions::new())) {
        Output::Negotiate { scope, .. } => scope.map(|scope| scope.to_string().parse::<Scope>()),
        _ => return Err(RequestError::RedirectUri),
    };
    let requested = requested.transpose().ok();
    let scope = requested.and_then(|requested| allowed_scope(client, requested));
    let scope = scope.ok_or(RequestError::Response {
        error: "invalid_scope",
        description: "",
    })?;
    Ok((scope, code_challenge))
}

/// Checks the rules that the state machine does not know: no repeated parameter (RFC 6749 §3.1), a response
/// in the query, and PKCE (RFC 7636). Returns the PKCE challenge.
fn check_extensions(
    request: &AuthorizationRequest,
    flaw: Option<&'static str>,
) -> Result<CodeChallenge, &'static str> {
    if let Some(flaw) = flaw {
        return Err(flaw);
    }
    if !matches!(request.response_mode.as_deref(), None | Some("query")) {
        return Err("response_mode must be query");
    }
    CodeChallenge::parse(&request.code_challenge, &request.code_challenge_method)
}

/// Returns the error response for an error of the state machine, which calls a missing `response_type`
/// unsupported.
fn error_response(mut error: ErrorUrl, request: &AuthorizationRequest) -> RequestError {
    let error = match error.description().kind() {
        _ if request.response_type.is_empty() => {
            return RequestError::invalid_request("response_type is required");
        }
        AuthorizationErrorType::UnsupportedResponseType => "unsupported_response_type",
        AuthorizationErrorType::InvalidScope => "invalid_scope",
        _ => "invalid_request",
    };
    RequestError::Response {
        error,
        description: "",
    }
}

impl RequestError {
    const fn invalid_request(description: &'static str) -> Self {
        Self::Response {
            error: "invalid_request",
            description,
        }
    }
}

impl Request for AuthorizationRequest {
    fn valid(&self) -> bool {
        true
    }

    fn client_id(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.client_id))
    }

    fn scope(&self) -> Option<Cow<'_, str>> {
        self.scope.as_deref().map(Cow::Borrowed)
    }

    fn redirect_uri(&self) -> Option<Cow<'_, str>> {
        Some(self.redirect_uri.as_str())
            .filter(|uri| !uri.is_empty())
            .map(Cow::Borrowed)
    }

    fn state(&self) -> Option<Cow<'_, str>> {
        self.state.as_deref().map(Cow::Borrowed)
    }

    fn response_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.response_type))
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}
