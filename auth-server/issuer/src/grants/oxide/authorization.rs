//! The authorization request (RFC 6749 §4.1.1) as oxide-auth's state machine runs it.

use super::deferred::Deferred;
use super::registrar::ClientRegistrar;
use crate::grants::AuthorizationRequest;
use crate::grants::authorization_error::AuthorizationError;
use crate::pkce::CodeChallenge;
use async_trait::async_trait;
use foundation::scope::Scope;
use foundation::secret::Secret;
use identity::grants::clients::Client;
use oxide_auth::code_grant::authorization::{Error as OxideError, Request};
use oxide_auth::code_grant::error::AuthorizationErrorType;
use oxide_auth::primitives::grant::{Extensions, Grant};
use oxide_auth_async::code_grant::authorization::{Endpoint, Extension, Pending, authorization_code};
use oxide_auth_async::primitives::{Authorizer, Registrar};
use std::borrow::Cow;

/// A valid request that waits for the user's decision.
pub(in crate::grants) struct PendingAuthorization(Pending);

/// The reason why the state machine rejected a request.
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
    /// The state machine accepted the request without running our checks.
    StateMachine,
}

/// Validates a request of this client. Returns it with its scope and PKCE challenge. `flaw` is the flaw of its
/// parameters that the client is told about, if there is one.
pub(in crate::grants) async fn validate(
    request: &AuthorizationRequest,
    flaw: Option<&'static str>,
    client: &Client,
) -> Result<(PendingAuthorization, Scope, CodeChallenge), RequestError> {
    let mut flow = AuthorizationFlow::new(request, client, None);
    flow.flaw = flaw;
    let pending = match authorization_code(&mut flow, request).await {
        Ok(pending) => pending,
        Err(OxideError::Redirect(mut error)) => {
            return Err(match request.response_type.as_str() {
                // The state machine calls a missing response_type unsupported.
                "" => RequestError::Response {
                    error: "invalid_request",
                    description: "response_type is required",
                },
                _ => RequestError::Response {
                    error: error_code(error.description().kind()),
                    description: flow.error,
                },
            });
        }
        Err(_) => return Err(RequestError::RedirectUri),
    };
    let scope = pending.pre_grant().scope.to_string().parse();
    let scope = scope.map_err(|_| RequestError::StateMachine)?;
    let code_challenge = flow.code_challenge.ok_or(RequestError::StateMachine)?;
    Ok((PendingAuthorization(pending), scope, code_challenge))
}

/// Authorizes a pending request in the name of a user. The state machine runs `issue_code`, which stores the
/// code; its result is returned, or `None` if the state machine refused to run it.
pub(in crate::grants) async fn authorize(
    pending: PendingAuthorization,
    request: &AuthorizationRequest,
    client: &Client,
    user_id: i64,
    issue_code: impl Future<Output = Result<Secret, AuthorizationError>> + Send,
) -> Option<Result<Secret, AuthorizationError>> {
    let mut flow = AuthorizationFlow::new(request, client, Some(Deferred::new(issue_code)));
    // The result is a redirect in which the registered URI may be spelled differently, so it is not used.
    let _ = pending.0.authorize(&mut flow, user_id.to_string().into()).await;
    flow.issued
}

/// The Endpoint, Extension and Authorizer of one run of the state machine.
struct AuthorizationFlow<'a> {
    request: &'a AuthorizationRequest,
    /// The flaw of the request's parameters, if the client is told about it.
    flaw: Option<&'static str>,
    registrar: ClientRegistrar<'a>,
    code_challenge: Option<CodeChallenge>,
    /// The description of the error that the extension found.
    error: &'static str,
    issue_code: Option<Deferred<'a, Result<Secret, AuthorizationError>>>,
    issued: Option<Result<Secret, AuthorizationError>>,
}

impl<'a> AuthorizationFlow<'a> {
    fn new(
        request: &'a AuthorizationRequest,
        client: &'a Client,
        issue_code: Option<Deferred<'a, Result<Secret, AuthorizationError>>>,
    ) -> Self {
        Self {
            request,
            flaw: None,
            registrar: ClientRegistrar(client),
            code_challenge: None,
            error: "",
            issue_code,
            issued: None,
        }
    }
}

impl Endpoint for AuthorizationFlow<'_> {
    fn registrar(&self) -> &(dyn Registrar + Sync) {
        &self.registrar
    }

    fn authorizer(&mut self) -> &mut (dyn Authorizer + Send) {
        self
    }

    fn extension(&mut self) -> &mut (dyn Extension + Send) {
        self
    }
}

#[async_trait]
impl Extension for AuthorizationFlow<'_> {
    /// Checks the rules that the state machine does not know: no repeated parameter (RFC 6749 §3.1), a response
    /// in the query, and PKCE (RFC 7636).
    async fn extend(&mut self, _: &(dyn Request + Sync)) -> Result<Extensions, ()> {
        let request = self.request;
        if let Some(flaw) = self.flaw {
            self.error = flaw;
            return Err(());
        }
        if !matches!(request.response_mode.as_deref(), None | Some("query")) {
            self.error = "response_mode must be query";
            return Err(());
        }
        let challenge = CodeChallenge::parse(&request.code_challenge, &request.code_challenge_method);
        self.code_challenge = Some(challenge.map_err(|error| self.error = error)?);
        Ok(Extensions::new())
    }
}

#[async_trait]
impl Authorizer for AuthorizationFlow<'_> {
    async fn authorize(&mut self, _: Grant) -> Result<String, ()> {
        let issued = self.issue_code.as_mut().ok_or(())?.run().await?;
        let code = issued.as_ref().map(|code| code.expose().to_owned());
        let code = code.map_err(|_| ());
        self.issued = Some(issued);
        code
    }

    /// Not called in this flow.
    async fn extract(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
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

    /// Not called in this flow: the extension reads the request itself.
    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}

/// Returns the error code of RFC 6749 §4.1.2.1.
fn error_code(kind: AuthorizationErrorType) -> &'static str {
    match kind {
        AuthorizationErrorType::InvalidScope => "invalid_scope",
        AuthorizationErrorType::UnsupportedResponseType => "unsupported_response_type",
        AuthorizationErrorType::UnauthorizedClient => "unauthorized_client",
        AuthorizationErrorType::AccessDenied => "access_denied",
        AuthorizationErrorType::ServerError => "server_error",
        AuthorizationErrorType::TemporarilyUnavailable => "temporarily_unavailable",
        _ => "invalid_request",
    }
}
