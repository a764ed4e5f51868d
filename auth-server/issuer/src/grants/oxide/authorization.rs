//! The checks of an authorization request (RFC 6749 §4.1.1), in the order of oxide-auth's state machine.

use crate::clients::registered_redirect_uri;
use crate::grants::AuthorizationRequest;
use crate::grants::requests::{allowed_scope, parse_scope};
use crate::pkce::CodeChallenge;
use foundation::scope::Scope;
use identity::clients::Client;
use oxide_auth::code_grant::authorization::{Authorization, Error, Input, Output, Request};
use oxide_auth::code_grant::error::AuthorizationErrorType;
use oxide_auth::primitives::registrar::BoundClient;
use std::borrow::Cow;

/// A request whose redirect URI its client has registered, so that its errors can be sent there.
pub(in crate::grants) struct BoundRequest<'a> {
    request: &'a AuthorizationRequest,
    client: &'a Client,
    checks: Authorization,
    bound_client: BoundClient<'static>,
}

impl<'a> BoundRequest<'a> {
    /// Returns `None` if the redirect URI is missing, or if this client has not registered it.
    pub(in crate::grants) fn new(request: &'a AuthorizationRequest, client: &'a Client) -> Option<Self> {
        let mut checks = Authorization::new(request);
        let Output::Bind {
            client_id,
            redirect_uri: Some(redirect_uri),
        } = checks.advance(Input::None)
        else {
            return None;
        };
        registered_redirect_uri(client, redirect_uri.as_str())?;
        Some(Self {
            request,
            client,
            checks,
            bound_client: BoundClient {
                client_id: Cow::Owned(client_id),
                redirect_uri: Cow::Owned(redirect_uri.into()),
            },
        })
    }

    /// Checks the other parameters. Returns the scope and the PKCE challenge. Fails with the `error` and the
    /// `error_description` of the response (RFC 6749 §4.1.2.1); the latter may be empty. `flaw` is the flaw
    /// of the parameters that the client is told about, if there is one.
    pub(in crate::grants) fn check(
        mut self,
        flaw: Option<&'static str>,
    ) -> Result<(Scope, CodeChallenge), (&'static str, &'static str)> {
        let request = self.request;
        let bound_client = self.bound_client;
        let invalid = |description| ("invalid_request", description);
        match self.checks.advance(Input::Bound {
            request,
            bound_client,
        }) {
            Output::Extend => {}
            // The state machine calls a missing `response_type` unsupported.
            _ if request.response_type.is_empty() => return Err(invalid("response_type is required")),
            Output::Err(Error::Redirect(mut error)) => {
                return Err(match error.description().kind() {
                    AuthorizationErrorType::UnsupportedResponseType => ("unsupported_response_type", ""),
                    AuthorizationErrorType::InvalidScope => ("invalid_scope", ""),
                    _ => invalid(""),
                });
            }
            _ => return Err(invalid("")),
        }
        // The state machine does not know these rules (RFC 6749 §3.1, RFC 7636).
        if let Some(flaw) = flaw {
            return Err(invalid(flaw));
        }
        if !matches!(request.response_mode.as_deref(), None | Some("query")) {
            return Err(invalid("response_mode must be query"));
        }
        let code_challenge = CodeChallenge::parse(&request.code_challenge, &request.code_challenge_method);
        let code_challenge = code_challenge.map_err(invalid)?;
        let requested = parse_scope(request.scope.as_deref()).ok();
        let scope = requested.and_then(|requested| allowed_scope(self.client, requested));
        Ok((scope.ok_or(("invalid_scope", ""))?, code_challenge))
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
