//! The authorization request (RFC 6749 §4.1.1). It is validated when it arrives, and again when the user has
//! decided, so that a change of the client in between takes effect.

use super::interaction::{Interaction, MissingInteraction};
use super::oxide::{self, PendingAuthorization, RequestError};
use super::{AuthorizationRequest, Grants, ONE_RESOURCE};
use crate::codes::{self, NewCode};
use crate::params::{Params, REPEATED, ReadError};
use crate::pkce::CodeChallenge;
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use foundation::secret::Secret;
use identity::grants::clients::{Client, ClientType};
use identity::grants::consents;
use std::sync::Arc;
use storage::db;

/// The reason why an authorization request failed.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizationError {
    /// The client or the redirect URI is unknown or the request is unreadable. The message belongs on a page:
    /// a redirect would be open to abuse (RFC 6749 §4.1.2.1).
    #[error("{0}")]
    Page(String),
    /// An error response. The value is the client's redirect URI with the error in its query.
    #[error("the request was rejected by a redirect to the client")]
    Redirect(String),
    /// The database failed or did not answer.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The parameters could not be read, which only a field of a wrong type causes.
    #[error("cannot read the authorization request: {0}")]
    Read(#[from] ReadError),
    /// oxide-auth's state machine ended a valid request without a result.
    #[error("the authorization state machine ended without a result")]
    StateMachine,
}

/// A valid request, ready for the user's decision.
pub struct CheckedRequest {
    /// The client that sent it.
    pub client: Arc<Client>,
    /// The requested scope, or the client's default scope.
    pub scope: Scope,
    /// The interaction with the user that it demands.
    pub interaction: Interaction,
    /// The user whose ID token the request contains as a hint.
    expected_user: Option<i64>,
    request: AuthorizationRequest,
    code_challenge: CodeChallenge,
    pending: PendingAuthorization,
}

/// The consent that a request lacks.
#[derive(Clone, Copy, Debug)]
pub struct MissingConsent {
    /// The scope that the user granted to the client before, which may be empty.
    pub granted: Scope,
}

/// The user who decides, and the session of the browser (RFC 6749 §1.1).
#[derive(Clone, Copy)]
pub struct ResourceOwner {
    /// The id of the user.
    pub user_id: i64,
    /// The id of the session.
    pub session_id: i64,
}

/// The consent to record and the code to issue for it.
struct CodeIssue<'a> {
    client: &'a Client,
    owner: ResourceOwner,
    scope: &'a Scope,
    redirect_uri: &'a str,
    code_challenge: &'a CodeChallenge,
    nonce: Option<&'a str>,
}

impl CheckedRequest {
    /// Returns whether the request admits this user: it names no user by an `id_token_hint`, or this one.
    pub fn admits(&self, user_id: i64) -> bool {
        self.expected_user.is_none_or(|expected| expected == user_id)
    }

    /// Returns whether the user must sign in although there is a session of this user, who signed in at `signed_in_at`.
    pub fn needs_sign_in(&self, user_id: i64, signed_in_at: Timestamp, now: Timestamp) -> bool {
        !self.admits(user_id) || self.interaction.needs_sign_in(signed_in_at, now)
    }

    /// Returns the redirect URI, which the client has registered.
    pub fn redirect_uri(&self) -> &str {
        &self.request.redirect_uri
    }
}

impl Grants {
    /// Validates an authorization request. Fails with [`AuthorizationError::Page`] or [`AuthorizationError::Redirect`]
    /// if the request is invalid.
    pub async fn check_request(&self, params: &Params) -> Result<CheckedRequest, AuthorizationError> {
        let page = |message: &str| AuthorizationError::Page(message.to_owned());
        params.check_length().map_err(page)?;
        let flaw = params.flaw();
        if let Some(flaw) = flaw.filter(|flaw| *flaw != REPEATED) {
            return Err(page(&format!("The request cannot be read: {flaw}.")));
        }
        let request: AuthorizationRequest = params.read()?;
        if request.client_id.is_empty() {
            return Err(page("The request has no client_id."));
        }
        let client = self.clients.find(&request.client_id).await?;
        let client = client.ok_or_else(|| page("No application is registered with this client_id."))?;
        if client.disabled_at.is_some() {
            return Err(client_disabled());
        }
        if client.kind == ClientType::Service {
            return Err(page(
                "This application is a service, which does not sign users in.",
            ));
        }
        let no_redirect_uri =
            || page("The redirect_uri is missing, or the application has not registered it.");
        // Any other repeated parameter is reported to the client.
        if params.repeats("client_id") || params.repeats("redirect_uri") {
            return Err(no_redirect_uri());
        }
        let reject = |error, description| {
            AuthorizationError::Redirect(self.error_redirect(&request, error, description))
        };
        let validated = oxide::validate(&request, flaw, &client).await;
        if matches!(validated, Err(RequestError::RedirectUri)) {
            return Err(no_redirect_uri());
        }
        // Before the other errors, which the parameters inside a request object may have avoided.
        if let Some(error) = request.unsupported_parameter() {
            return Err(reject(error, "send the parameters of the request in its query"));
        }
        let (pending, scope, code_challenge) = validated.map_err(|error| match error {
            RequestError::RedirectUri => no_redirect_uri(),
            RequestError::Response { error, description } => reject(error, description),
            RequestError::StateMachine => AuthorizationError::StateMachine,
        })?;
        if !self.issues_tokens_for(request.resource.as_deref()) {
            return Err(reject("invalid_target", ONE_RESOURCE));
        }
        let interaction = Interaction::read(request.prompt.as_deref(), request.max_age.as_deref());
        let interaction = interaction.map_err(|flaw| reject("invalid_request", flaw))?;
        let expected_user = self.expected_user(&request).await;
        let expected_user = expected_user.map_err(|flaw| reject("invalid_request", flaw))?;
        Ok(CheckedRequest {
            client,
            scope,
            interaction,
            expected_user,
            request,
            code_challenge,
            pending,
        })
    }

    /// Returns the user whose ID token the request contains as a hint (OpenID Connect Core §3.1.2.1); `None` without a
    /// hint. Fails if the hint is not an ID token that this issuer gave to the client.
    async fn expected_user(&self, request: &AuthorizationRequest) -> Result<Option<i64>, &'static str> {
        let Some(hint) = &request.id_token_hint else {
            return Ok(None);
        };
        let read = self.read_id_token(hint).await;
        let own = read.filter(|(client_id, _)| *client_id == request.client_id);
        let (_, hint) =
            own.ok_or("the id_token_hint is no ID token that this issuer gave to the client, or too old")?;
        Ok(Some(hint.user_id))
    }

    /// Returns the consent that a request lacks, or `None` if the consent page can be skipped: the client is first-party, or
    /// it is confidential and the user consented to this scope before (RFC 6749 §10.2, RFC 8252 §8.6), and the request does
    /// not ask for the page.
    pub async fn missing_consent(
        &self,
        request: &CheckedRequest,
        user_id: i64,
    ) -> Result<Option<MissingConsent>, db::Error> {
        let (client, asks_consent) = (&request.client, request.interaction.asks_consent);
        if client.first_party && !asks_consent {
            return Ok(None);
        }
        let granted = consents::granted_scope(&self.db, user_id, &client.id).await?;
        let is_remembered = client.kind.is_confidential() && granted.covers(request.scope);
        Ok((asks_consent || !is_remembered).then_some(MissingConsent { granted }))
    }

    /// Records the user's consent. Returns the redirect to the client, with a code. Fails with
    /// [`AuthorizationError::Page`] if the client was disabled meanwhile.
    pub async fn allow(
        &self,
        checked: CheckedRequest,
        owner: ResourceOwner,
        context: &RequestContext,
    ) -> Result<String, AuthorizationError> {
        let CheckedRequest {
            client,
            scope,
            request,
            code_challenge,
            pending,
            ..
        } = checked;
        let issue = CodeIssue {
            client: &client,
            owner,
            scope: &scope,
            redirect_uri: &request.redirect_uri,
            code_challenge: &code_challenge,
            nonce: request.nonce.as_deref(),
        };
        let issued = self.issue_code(&issue, context);
        let issued = oxide::authorize(pending, &request, &client, owner.user_id, issued).await;
        let code = issued.ok_or(AuthorizationError::StateMachine)??;
        Ok(self.redirect(&request, &[("code", code.expose())]))
    }

    /// Records the user's refusal. Returns the redirect to the client, with the error `access_denied`.
    pub async fn deny(
        &self,
        checked: &CheckedRequest,
        owner: ResourceOwner,
        context: &RequestContext,
    ) -> Result<String, db::Error> {
        let event = Event::failure(EventName::Consent)
            .user(owner.user_id)
            .client(&checked.client.id);
        event.record_alone(&self.db, context).await?;
        Ok(self.error_redirect(&checked.request, "access_denied", "the user denied the request"))
    }

    /// Returns the redirect to the client for a request that admits no page although one is needed.
    pub fn refuse(&self, checked: &CheckedRequest, missing: MissingInteraction) -> String {
        let (error, description) = missing.error();
        self.error_redirect(&checked.request, error, description)
    }

    /// Stores the consent and the code in one transaction. Fails if the client is disabled.
    async fn issue_code(
        &self,
        issue: &CodeIssue<'_>,
        context: &RequestContext,
    ) -> Result<Secret, AuthorizationError> {
        let (client_id, user_id) = (&issue.client.id, issue.owner.user_id);
        let mut tx = self.db.begin().await?;
        let consent_id = consents::add_scope(&mut tx, user_id, client_id, issue.scope, context.now).await?;
        let code = NewCode {
            client_id,
            user_id,
            session_id: issue.owner.session_id,
            consent_id: &consent_id,
            redirect_uri: issue.redirect_uri,
            code_challenge: issue.code_challenge,
            scope: issue.scope.to_string(),
            nonce: issue.nonce,
            expires_at: context.now.after(self.lifetimes.code),
        };
        let code = codes::create(&mut tx, &code).await?.ok_or_else(client_disabled)?;
        let event = Event::success(EventName::Consent)
            .user(user_id)
            .client(client_id)
            .detail(issue.scope.to_string());
        event.record(&mut tx, context).await?;
        tx.commit().await?;
        Ok(code)
    }

    fn error_redirect(&self, request: &AuthorizationRequest, error: &str, description: &str) -> String {
        match description {
            "" => self.redirect(request, &[("error", error)]),
            description => self.redirect(request, &[("error", error), ("error_description", description)]),
        }
    }

    /// Returns the request's redirect URI with a response in its query, `state` (RFC 6749 §4.1.2) and `iss`
    /// (RFC 9207 §2).
    fn redirect(&self, request: &AuthorizationRequest, response: &[(&str, &str)]) -> String {
        let uri = &request.redirect_uri;
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(response);
        query.extend_pairs(request.state.iter().map(|state| ("state", state)));
        query.append_pair("iss", &self.issuer);
        format!(
            "{uri}{}{}",
            if uri.contains('?') { '&' } else { '?' },
            query.finish()
        )
    }
}

/// Returns the error for a disabled client.
fn client_disabled() -> AuthorizationError {
    AuthorizationError::Page("This application is disabled.".to_owned())
}
