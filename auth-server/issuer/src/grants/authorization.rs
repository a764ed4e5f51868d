//! The authorization request (RFC 6749 §4.1.1). It is validated when it arrives, and again when the user has
//! decided, so that a change of the client in between takes effect.

mod identification;
mod response;

use super::authorization_error::AuthorizationError;
use super::interaction::{Demands, Interaction, MissingInteraction};
use super::oxide::BoundRequest;
use super::{AuthorizationRequest, Grants, ONE_RESOURCE};
use crate::codes::{self, NewCode};
use crate::flows::Flow;
use crate::params::{Params, REPEATED, check_return_length};
use crate::pkce::CodeChallenge;
use crate::pushed_requests::RequestUri;
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use identity::clients::{Client, ClientType};
use identity::consents;
use identity::sessions::Session;
use std::sync::Arc;
use storage::db;

const INVALID_HINT: &str = "the id_token_hint is no ID token that this issuer gave to the client, or too old";

/// A valid request, ready for the user's decision.
pub struct CheckedRequest {
    /// The client that sent it.
    pub client: Arc<Client>,
    /// The requested scope, or the client's default scope.
    pub scope: Scope,
    /// Its demands on the user.
    pub demands: Demands,
    pub(super) request: AuthorizationRequest,
    code_challenge: CodeChallenge,
}

/// The consent that a request lacks.
#[derive(Clone, Copy, Debug)]
pub struct MissingConsent {
    /// The scope that the user granted to the client before, which may be empty.
    pub granted: Scope,
}

impl CheckedRequest {
    /// Returns the redirect URI, which the client has registered.
    pub fn redirect_uri(&self) -> &str {
        &self.request.redirect_uri
    }

    /// Returns the version of the description that a client with a document gives of itself; `None` for every
    /// other client. A consent is for the version that the page showed.
    pub fn client_version(&self) -> Option<String> {
        let client = &self.client;
        let changed_at = client.identity_changed_at.unwrap_or(client.created_at);
        client.has_document().then(|| changed_at.micros().to_string())
    }
}

impl Grants {
    /// Validates the request of this client. Fails with [`AuthorizationError::Page`] or
    /// [`AuthorizationError::Redirect`] if the request is invalid.
    async fn check_request_of(
        &self,
        client: Arc<Client>,
        request: AuthorizationRequest,
        params: &Params,
        now: Timestamp,
    ) -> Result<CheckedRequest, AuthorizationError> {
        let page = AuthorizationError::page;
        if client.disabled_at.is_some() {
            return Err(AuthorizationError::client_disabled());
        }
        if client.kind == ClientType::Service {
            return Err(page(
                "This application is a service, which does not sign users in.",
            ));
        }
        // Any other repeated parameter is reported to the client.
        let repeats = params.repeats("client_id") || params.repeats("redirect_uri");
        let bound = BoundRequest::new(&request, &client).filter(|_| !repeats);
        let bound = bound
            .ok_or_else(|| page("The redirect_uri is missing, or the application has not registered it."))?;
        // No error can be reported to the client either, because it must have the state.
        check_return_length(&self.redirect(&request, &[])).map_err(page)?;
        let reject = |error, description| self.reject(&request, error, description);
        // Before the other errors, which the parameters inside a request object may have avoided.
        if let Some(error) = request.unsupported_parameter() {
            return Err(reject(error, "send the parameters of the request in its query"));
        }
        let checked = bound.check(params.flaw().filter(|flaw| *flaw == REPEATED));
        let (scope, code_challenge) = checked.map_err(|(error, description)| reject(error, description))?;
        if !self.issues_tokens_for(&request.resource) {
            return Err(reject("invalid_target", ONE_RESOURCE));
        }
        if !request.dpop_jkt.as_deref().is_none_or(dpop::is_thumbprint) {
            let reason = "dpop_jkt must be a SHA-256 thumbprint in base64url";
            return Err(reject("invalid_request", reason));
        }
        let interaction = Interaction::read(request.prompt.as_deref(), request.max_age.as_deref());
        let interaction = interaction.map_err(|flaw| reject("invalid_request", flaw))?;
        let expected_user = match &request.id_token_hint {
            Some(hint) => {
                let read = self.read_id_token(hint, now).await?;
                let own = read.filter(|(client_id, _)| *client_id == request.client_id);
                let (_, hint) = own.ok_or_else(|| reject("invalid_request", INVALID_HINT))?;
                Some(hint.user_id)
            }
            None => None,
        };
        Ok(CheckedRequest {
            client,
            scope,
            demands: Demands {
                interaction,
                expected_user,
            },
            request,
            code_challenge,
        })
    }

    /// Returns the consent that a request lacks, or `None` if the consent page can be skipped: the client is
    /// first-party, or it is confidential and the user consented to this scope before (RFC 6749 §10.2, RFC
    /// 8252 §8.6), and the request does not ask for the page.
    pub async fn missing_consent(
        &self,
        request: &CheckedRequest,
        user_id: i64,
    ) -> Result<Option<MissingConsent>, db::Error> {
        let (client, asks_consent) = (&request.client, request.demands.interaction.asks_consent);
        if client.first_party && !asks_consent {
            return Ok(None);
        }
        let granted = consents::granted_scope(&self.db, user_id, client).await?;
        let is_remembered = client.kind.is_confidential() && granted.covers(request.scope);
        Ok((asks_consent || !is_remembered).then_some(MissingConsent { granted }))
    }

    /// Records the consent of the user of the session, and the end of the flow if the request has one, in the
    /// transaction that stores the code. Returns the redirect to the client, with the code. `request_uri` is
    /// the reference of a pushed request, for which one code is issued. Fails with
    /// [`AuthorizationError::Page`] if the client was disabled meanwhile, or if the pushed request has its
    /// code, with [`AuthorizationError::FlowFinished`], and with [`AuthorizationError::SessionEnded`]: an
    /// account that is being deleted must not get a consent.
    pub async fn allow(
        &self,
        checked: &CheckedRequest,
        flow: Option<&Flow>,
        request_uri: Option<&RequestUri>,
        session: &Session,
        context: &RequestContext,
    ) -> Result<String, AuthorizationError> {
        let (client, request, scope) = (&checked.client, &checked.request, &checked.scope);
        let mut tx = self.db.begin().await?;
        if !session.authority().lock_session(&mut tx, context.now).await? {
            return Err(AuthorizationError::SessionEnded);
        }
        if let Some(flow) = flow
            && !flow.finish(&mut tx).await?
        {
            return Err(AuthorizationError::FlowFinished);
        }
        let added = consents::add_scope(&mut tx, session.user.id, client, scope, context.now).await?;
        let added = added.ok_or_else(AuthorizationError::client_changed)?;
        let code = NewCode {
            client_id: &client.id,
            user_id: session.user.id,
            session_id: session.id,
            consent_id: &added.consent_id,
            redirect_uri: &request.redirect_uri,
            code_challenge: &checked.code_challenge,
            scope: scope.to_string(),
            nonce: request.nonce.as_deref(),
            expires_at: context.now.after(self.lifetimes.code),
            request_uri,
            dpop_jkt: request.dpop_jkt.as_deref(),
        };
        let code = match codes::create(&mut tx, &code).await {
            Err(db::Error::Conflict) => return Err(AuthorizationError::invalid_request_uri()),
            created => created?.ok_or_else(AuthorizationError::client_disabled)?,
        };
        let name = match added.extends_access {
            true => EventName::Consent,
            false => EventName::AccessRenewed,
        };
        let event = Event::success(name)
            .user(session.user.id)
            .client(&client.id)
            .detail(scope.to_string());
        self.events.record_in(&mut tx, event, context).await?;
        tx.commit().await?;
        Ok(self.redirect(request, &[("code", code.expose())]))
    }

    /// Records the user's refusal, which finishes the flow. Returns the redirect to the client, with the
    /// error `access_denied`. Fails with [`AuthorizationError::FlowFinished`].
    pub async fn deny(
        &self,
        checked: &CheckedRequest,
        flow: &Flow,
        session: &Session,
        context: &RequestContext,
    ) -> Result<String, AuthorizationError> {
        let event = Event::failure(EventName::Consent)
            .user(session.user.id)
            .client(&checked.client.id);
        let mut tx = self.db.begin().await?;
        if !flow.finish(&mut tx).await? {
            return Err(AuthorizationError::FlowFinished);
        }
        self.events.record_in(&mut tx, event, context).await?;
        tx.commit().await?;
        Ok(self.error_redirect(&checked.request, "access_denied", "the user denied the request"))
    }

    /// Returns the redirect to the client for a request that admits no page although one is needed.
    pub fn refuse(&self, checked: &CheckedRequest, missing: MissingInteraction) -> String {
        let (error, description) = missing.error();
        self.error_redirect(&checked.request, error, description)
    }
}
