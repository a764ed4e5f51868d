//! Our Registrar, Extension and Authorizer in one run of the authorization state machine.

use super::Owner;
use crate::clients::may_redirect_to;
use crate::codes::{self, NewCode};
use crate::grants::Grants;
use crate::params::{Params, REPEATED};
use crate::pkce::CodeChallenge;
use async_trait::async_trait;
use oxide_auth::code_grant::authorization::Request;
use oxide_auth::primitives::grant::{Extensions, Grant};
use oxide_auth::primitives::registrar::{BoundClient, ClientUrl, PreGrant, RegistrarError};
use oxide_auth::primitives::scope::Scope as OxideScope;
use oxide_auth_async::code_grant::authorization::{Endpoint, Extension};
use oxide_auth_async::primitives::{Authorizer, Registrar};
use shared::db;
use shared::events::{Context, Event, Name};
use shared::grants::clients::Client;
use shared::grants::consents;
use shared::scope::Scope;
use shared::secret::Secret;
use std::borrow::Cow;

/// Our part in one run of the state machine.
pub(super) struct Drive<'a> {
    pub(super) params: &'a Params,
    pub(super) client: &'a Client,
    pub(super) code_challenge: Option<CodeChallenge>,
    pub(super) complaint: &'static str,
    pub(super) giving: Option<Giving<'a>>,
}

/// What giving a code needs, and what came of it.
pub(super) struct Giving<'a> {
    pub(super) grants: &'a Grants,
    pub(super) owner: Owner,
    pub(super) context: &'a Context,
    pub(super) outcome: Option<Result<Secret, db::Error>>,
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
        let consent_id = consents::remember(&mut tx, owner.user_id, &client.id, scope, now).await?;
        let code = codes::create(
            &mut tx,
            &NewCode {
                client_id: &client.id,
                user_id: owner.user_id,
                session_id: owner.session_id,
                consent_id: &consent_id,
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
