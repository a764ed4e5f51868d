//! The authorization request (RFC 6749 §4.1.1), driven by oxide-auth: checked when it arrives, and again
//! from the start when the user has consented, so that nothing that changed meanwhile slips through.

use super::Grants;
use crate::clients::may_redirect_to;
use crate::codes::{self, NewCode};
use crate::params::{Params, REPEATED};
use crate::pkce::CodeChallenge;
use async_trait::async_trait;
use oxide_auth::code_grant::authorization::{Error as OxideError, Request};
use oxide_auth::code_grant::error::AuthorizationErrorType;
use oxide_auth::primitives::grant::{Extensions, Grant};
use oxide_auth::primitives::registrar::{BoundClient, ClientUrl, PreGrant, RegistrarError};
use oxide_auth::primitives::scope::Scope as OxideScope;
use oxide_auth_async::code_grant::authorization::{Endpoint, Extension, Pending, authorization_code};
use oxide_auth_async::primitives::{Authorizer, Registrar};
use shared::db;
use shared::events::{Context, Event, Name};
use shared::grants::clients::{self, Client};
use shared::grants::consents;
use shared::scope::Scope;
use shared::secret::Secret;
use std::borrow::Cow;

/// The longest request kept, in bytes of all its parameters.
const MAX_LENGTH: usize = 8 * 1024;

/// Why a request goes no further.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The client or the redirect URI is not to be trusted: said on a page, never by a redirect.
    Page(String),
    /// Said to the client, at its registered redirect URI (§4.1.2.1).
    Redirect(String),
    /// Nobody's fault but ours.
    Database(db::Error),
}

/// A request in which everything is right; the user is to be asked.
pub(crate) struct Checked {
    pub(crate) client: Client,
    pub(crate) scope: Scope,
    params: Params,
    code_challenge: CodeChallenge,
    pending: Pending,
}

/// Who consents, in which session.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) user_id: i64,
    pub(crate) session_id: i64,
}

impl Checked {
    /// Where the user will be sent back to: a registered URI.
    pub(crate) fn redirect_uri(&self) -> &str {
        self.params.get("redirect_uri").unwrap_or_default()
    }
}

impl Grants {
    /// Checks a request.
    pub(crate) async fn check_request(&self, params: Params) -> Result<Checked, Refusal> {
        let page = |says: &str| Refusal::Page(says.to_owned());
        if params.len() > MAX_LENGTH {
            return Err(page("The request is too long: it may have 8192 bytes."));
        }
        if let Some(flaw) = params.flaw().filter(|flaw| *flaw != REPEATED) {
            return Err(Refusal::Page(format!("The request cannot be read: {flaw}.")));
        }
        let client_id = params
            .get("client_id")
            .ok_or_else(|| page("The request names no client_id."))?;
        let client = clients::find(&self.db, client_id)
            .await
            .map_err(Refusal::Database)?;
        let client = client.ok_or_else(|| page("No application with this client_id is known here."))?;

        let mut drive = Drive {
            params: &params,
            client: &client,
            code_challenge: None,
            complaint: "",
            giving: None,
        };
        let outcome = authorization_code(&mut drive, &params).await;
        let (code_challenge, complaint) = (drive.code_challenge, drive.complaint);
        let pending = outcome.map_err(|error| match error {
            // The state machine calls a missing response_type unsupported.
            OxideError::Redirect(_) if params.get("response_type").is_none() => Refusal::Redirect(
                self.error_redirect(&params, "invalid_request", "response_type is required"),
            ),
            OxideError::Redirect(mut error) => Refusal::Redirect(self.error_redirect(
                &params,
                error_code(error.description().kind()),
                complaint,
            )),
            _ => page("The redirect_uri is missing, or is not one that the application has registered."),
        })?;
        let scope = pending.pre_grant().scope.to_string().parse().unwrap_or_default();
        let code_challenge = code_challenge.ok_or_else(|| page("The request could not be checked."))?;
        Ok(Checked {
            client,
            scope,
            params,
            code_challenge,
            pending,
        })
    }

    /// Whether the user need not be asked again: they consented to as much before, and the client can
    /// prove who it is or is ours (RFC 6749 §10.2, RFC 8252 §8.6).
    pub(crate) async fn is_remembered(&self, request: &Checked, user_id: i64) -> Result<bool, db::Error> {
        let client = &request.client;
        if !client.first_party && !client.kind.is_confidential() {
            return Ok(false);
        }
        Ok(consents::granted(&self.db, user_id, &client.id)
            .await?
            .covers(&request.scope))
    }

    /// The user said yes: remembers that, and gives where to redirect with a code for the client.
    pub(crate) async fn allow(
        &self,
        request: Checked,
        owner: Owner,
        context: &Context,
    ) -> Result<String, db::Error> {
        let Checked {
            client,
            params,
            code_challenge,
            pending,
            ..
        } = request;
        let giving = Giving {
            grants: self,
            owner,
            context,
            outcome: None,
        };
        let mut drive = Drive {
            params: &params,
            client: &client,
            code_challenge: Some(code_challenge),
            complaint: "",
            giving: Some(giving),
        };
        // The state machine's own redirect would change the registered URI's spelling; ours does not.
        let _ = pending
            .authorize(&mut drive, Cow::Owned(owner.user_id.to_string()))
            .await;
        let outcome = drive.giving.and_then(|giving| giving.outcome);
        let code = outcome.unwrap_or(Err(db::Error::Failed(sqlx::Error::RowNotFound)))?;
        Ok(self.redirect(&params, &[("code", code.expose())]))
    }

    /// The user said no.
    pub(crate) async fn deny(
        &self,
        request: &Checked,
        owner: Owner,
        context: &Context,
    ) -> Result<String, db::Error> {
        let event = Event::failure(Name::Consent)
            .user(owner.user_id)
            .client(&request.client.id);
        event.record_alone(&self.db, context).await?;
        Ok(self.error_redirect(&request.params, "access_denied", "the user denied the request"))
    }

    fn error_redirect(&self, params: &Params, error: &str, says: &str) -> String {
        match says {
            "" => self.redirect(params, &[("error", error)]),
            says => self.redirect(params, &[("error", error), ("error_description", says)]),
        }
    }

    /// The request's redirect URI with an answer, `state` (RFC 6749 §4.1.2) and `iss` (RFC 9207 §2).
    fn redirect(&self, params: &Params, answer: &[(&str, &str)]) -> String {
        let uri = params.get("redirect_uri").unwrap_or_default();
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(answer);
        query.extend_pairs(params.get("state").map(|state| ("state", state)));
        query.append_pair("iss", &self.issuer);
        format!(
            "{uri}{}{}",
            if uri.contains('?') { '&' } else { '?' },
            query.finish()
        )
    }
}

impl Request for Params {
    fn valid(&self) -> bool {
        !self.repeats("client_id") && !self.repeats("redirect_uri")
    }

    fn client_id(&self) -> Option<Cow<'_, str>> {
        self.get("client_id").map(Cow::Borrowed)
    }

    fn scope(&self) -> Option<Cow<'_, str>> {
        self.get("scope").map(Cow::Borrowed)
    }

    fn redirect_uri(&self) -> Option<Cow<'_, str>> {
        self.get("redirect_uri").map(Cow::Borrowed)
    }

    fn state(&self) -> Option<Cow<'_, str>> {
        self.get("state").map(Cow::Borrowed)
    }

    fn response_type(&self) -> Option<Cow<'_, str>> {
        self.get("response_type").map(Cow::Borrowed)
    }

    fn extension(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).map(Cow::Borrowed)
    }
}

/// Our part in one run of the state machine.
struct Drive<'a> {
    params: &'a Params,
    client: &'a Client,
    code_challenge: Option<CodeChallenge>,
    complaint: &'static str,
    giving: Option<Giving<'a>>,
}

/// What giving a code needs, and what came of it.
struct Giving<'a> {
    grants: &'a Grants,
    owner: Owner,
    context: &'a Context,
    outcome: Option<Result<Secret, db::Error>>,
}

impl Giving<'_> {
    async fn code(
        &self,
        client: &Client,
        redirect_uri: &str,
        challenge: &CodeChallenge,
        scope: &Scope,
    ) -> Result<Secret, db::Error> {
        let (grants, owner, now) = (self.grants, self.owner, self.context.now);
        let mut tx = grants.db.begin().await?;
        consents::remember(&mut tx, owner.user_id, &client.id, scope, now).await?;
        let code = codes::create(
            &mut tx,
            &NewCode {
                client_id: &client.id,
                user_id: owner.user_id,
                session_id: owner.session_id,
                redirect_uri,
                code_challenge: challenge,
                scope: scope.to_string(),
                expires_at: now.after(grants.lifetimes.code),
            },
        )
        .await?;
        let event = Event::success(Name::Consent)
            .user(owner.user_id)
            .client(&client.id)
            .detail(scope.to_string());
        event.record(&mut tx, self.context).await?;
        tx.commit().await?;
        Ok(code)
    }
}

impl Endpoint for Drive<'_> {
    fn registrar(&self) -> &(dyn Registrar + Sync) {
        self
    }

    fn authorizer(&mut self) -> &mut (dyn Authorizer + Send) {
        self
    }

    fn extension(&mut self) -> &mut (dyn Extension + Send) {
        self
    }
}

#[async_trait]
impl Registrar for Drive<'_> {
    /// The redirect URI is required, and must be a registered one.
    async fn bound_redirect<'a>(&self, bound: ClientUrl<'a>) -> Result<BoundClient<'a>, RegistrarError> {
        let redirect_uri = bound
            .redirect_uri
            .ok_or(RegistrarError::Unspecified)?
            .into_owned();
        if !may_redirect_to(self.client, redirect_uri.as_str()) {
            return Err(RegistrarError::Unspecified);
        }
        Ok(BoundClient {
            client_id: bound.client_id,
            redirect_uri: Cow::Owned(redirect_uri.into()),
        })
    }

    /// What is asked for must be registered; who asks for nothing gets the client's default.
    async fn negotiate<'a>(
        &self,
        bound: BoundClient<'a>,
        asked: Option<OxideScope>,
    ) -> Result<PreGrant, RegistrarError> {
        let asked = asked.map(|scope| scope.to_string().parse::<Scope>()).transpose();
        let scope = asked
            .map_err(|_| RegistrarError::Unspecified)?
            .unwrap_or_else(|| self.client.default_scope.clone());
        if scope.is_empty() || !self.client.scope.covers(&scope) {
            return Err(RegistrarError::Unspecified);
        }
        Ok(PreGrant {
            client_id: bound.client_id.into_owned(),
            redirect_uri: bound.redirect_uri.into_owned(),
            scope: scope
                .to_string()
                .parse()
                .map_err(|_| RegistrarError::Unspecified)?,
        })
    }

    /// Not asked in this flow.
    async fn check(&self, _: &str, _: Option<&[u8]>) -> Result<(), RegistrarError> {
        Err(RegistrarError::Unspecified)
    }
}

#[async_trait]
impl Extension for Drive<'_> {
    /// What we ask beyond RFC 6749: no parameter twice, the answer in the query, PKCE.
    async fn extend(&mut self, _: &(dyn Request + Sync)) -> Result<Extensions, ()> {
        let params = self.params;
        if params.flaw() == Some(REPEATED) {
            self.complaint = REPEATED;
            return Err(());
        }
        if !matches!(params.get("response_mode"), None | Some("query")) {
            self.complaint = "response_mode must be query";
            return Err(());
        }
        let challenge =
            CodeChallenge::parse(params.get("code_challenge"), params.get("code_challenge_method"));
        self.code_challenge = Some(challenge.map_err(|complaint| self.complaint = complaint)?);
        Ok(Extensions::new())
    }
}

#[async_trait]
impl Authorizer for Drive<'_> {
    /// Stores the consent and the code in one transaction.
    async fn authorize(&mut self, grant: Grant) -> Result<String, ()> {
        let redirect_uri = self.params.get("redirect_uri").ok_or(())?;
        let challenge = self.code_challenge.as_ref().ok_or(())?;
        let scope = grant.scope.to_string().parse().map_err(|_| ())?;
        let giving = self.giving.as_mut().ok_or(())?;
        let outcome = giving.code(self.client, redirect_uri, challenge, &scope).await;
        let code = outcome
            .as_ref()
            .map(|code| code.expose().to_owned())
            .map_err(|_| ());
        giving.outcome = Some(outcome);
        code
    }

    /// Not asked in this flow.
    async fn extract(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
    }
}

/// RFC 6749 §4.1.2.1.
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
