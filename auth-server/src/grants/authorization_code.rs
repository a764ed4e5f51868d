//! The authorization code grant (RFC 6749 §4.1.3), driven by oxide-auth.

use super::registrar::Authenticated;
use super::{Grants, TokenResponse, oxide_grant, oxide_time};
use crate::codes::{self, Presented};
use crate::error::TokenError;
use crate::params::Params;
use crate::pkce::{CodeChallenge, CodeVerifier};
use async_trait::async_trait;
use oxide_auth::code_grant::accesstoken::{Authorization, Request};
use oxide_auth::primitives::grant::Grant;
use oxide_auth::primitives::issuer::{IssuedToken, RefreshedToken, TokenType};
use oxide_auth_async::code_grant::access_token::{Endpoint, Extension, access_token};
use oxide_auth_async::primitives::{Authorizer, Issuer, Registrar};
use shared::db::Tx;
use shared::events::{Context, Event, Name};
use shared::grants::clients::Client;
use shared::grants::consents;
use shared::grants::families::{self, NewFamily};
use shared::identity::sessions;
use std::borrow::Cow;

const BAD_CODE: TokenError = TokenError::InvalidGrant(
    "the code is unknown, expired or used, or is not for this client, redirect_uri and code_verifier",
);

impl Grants {
    /// Exchanges a code for tokens. `client` is authenticated.
    pub(crate) async fn exchange_code(
        &self,
        client: &Client,
        params: &Params,
        context: &Context,
    ) -> Result<TokenResponse, TokenError> {
        let required = |name: &str| {
            params
                .get(name)
                .ok_or_else(|| TokenError::InvalidRequest(format!("{name} is required")))
        };
        let (code, redirect_uri) = (required("code")?, required("redirect_uri")?);
        let verifier = CodeVerifier::parse(params.get("code_verifier"))
            .map_err(|complaint| TokenError::InvalidRequest(complaint.to_owned()))?;
        let request = ExchangeRequest {
            client_id: &client.id,
            code,
            redirect_uri,
        };
        let mut exchange = Exchange {
            grants: self,
            client: Authenticated(client),
            redirect_uri,
            code_challenge: verifier.challenge(),
            context,
            claimed: None,
            outcome: None,
        };
        let _ = access_token(&mut exchange, &request).await;
        exchange.outcome.unwrap_or(Err(BAD_CODE))
    }

    /// A code that comes a second time, with everything else right, takes back what the first gave
    /// (RFC 6749 §4.1.2). Committed before the answer.
    async fn revoke_replayed(&self, shown: Presented<'_>, context: &Context) -> Result<(), TokenError> {
        let Some(family) = codes::find_replayed(&self.db, shown).await? else {
            return Ok(());
        };
        let event = Event::failure(Name::CodeReuse)
            .user(family.user_id)
            .client(&family.client_id);
        Ok(self.end_family(&family.id, event, context).await?)
    }
}

/// One exchange: our Authorizer and Issuer, and what came of it.
struct Exchange<'a> {
    grants: &'a Grants,
    client: Authenticated<'a>,
    redirect_uri: &'a str,
    code_challenge: CodeChallenge,
    context: &'a Context,
    claimed: Option<(Tx, NewFamily)>,
    outcome: Option<Result<TokenResponse, TokenError>>,
}

impl Exchange<'_> {
    /// Claims the code in a transaction that stays open until the tokens are made.
    async fn claim(&self, code: &str) -> Result<(Tx, NewFamily), TokenError> {
        let shown = Presented {
            code,
            client_id: &self.client.0.id,
            redirect_uri: self.redirect_uri,
            code_challenge: &self.code_challenge,
        };
        let mut tx = self.grants.db.begin().await?;
        let Some(claimed) = codes::claim(&mut tx, shown, self.context.now).await? else {
            drop(tx);
            self.grants.revoke_replayed(shown, self.context).await?;
            return Err(BAD_CODE);
        };
        let family = claimed.family;
        if !sessions::hold(&mut tx, family.session_id, self.context.now).await? {
            return Err(TokenError::InvalidGrant("the user's session has ended"));
        }
        let (user_id, client_id) = (family.user_id, &family.client_id);
        if !consents::hold(&mut tx, user_id, client_id, &claimed.consent_id).await? {
            return Err(TokenError::InvalidGrant("the user has taken the consent back"));
        }
        Ok((tx, family))
    }

    async fn tokens(&self, mut tx: Tx, family: NewFamily) -> Result<TokenResponse, TokenError> {
        let (grants, now) = (self.grants, self.context.now);
        families::create(&mut tx, &family, grants.lifetimes.refresh, now).await?;
        let signer = grants.keys.signer(now)?;
        let access_token = grants.access_token(
            &signer,
            &family.id,
            family.user_id,
            &family.client_id,
            &family.scope,
            now,
        )?;
        tx.commit().await?;
        Ok(TokenResponse {
            access_token,
            token_type: "Bearer",
            expires_in: grants.lifetimes.access_token.as_secs(),
            refresh_token: grants.refresh_tokens.derive(&family.id, 1).expose().to_owned(),
            scope: family.scope,
        })
    }
}

#[async_trait]
impl Authorizer for Exchange<'_> {
    /// Not asked in this flow.
    async fn authorize(&mut self, _: Grant) -> Result<String, ()> {
        Err(())
    }

    async fn extract(&mut self, code: &str) -> Result<Option<Grant>, ()> {
        let (tx, family) = match self.claim(code).await {
            Ok(claimed) => claimed,
            Err(error) => {
                self.outcome = Some(Err(error));
                return Ok(None);
            }
        };
        let redirect_uri = self.redirect_uri.parse().map_err(|_| ())?;
        let until = self.context.now.after(self.grants.lifetimes.code);
        let grant = oxide_grant(
            family.user_id,
            &family.client_id,
            redirect_uri,
            &family.scope,
            until,
        )?;
        self.claimed = Some((tx, family));
        Ok(Some(grant))
    }
}

#[async_trait]
impl Issuer for Exchange<'_> {
    async fn issue(&mut self, _: Grant) -> Result<IssuedToken, ()> {
        let (tx, family) = self.claimed.take().ok_or(())?;
        let outcome = self.tokens(tx, family).await;
        let issued = outcome.as_ref().map_err(|_| ()).map(|response| IssuedToken {
            token: response.access_token.clone(),
            refresh: Some(response.refresh_token.clone()),
            until: oxide_time(self.context.now.after(self.grants.lifetimes.access_token)),
            token_type: TokenType::Bearer,
        });
        self.outcome = Some(outcome);
        issued
    }

    /// Not asked in this flow.
    async fn refresh(&mut self, _: &str, _: Grant) -> Result<RefreshedToken, ()> {
        Err(())
    }

    /// Not asked in this flow.
    async fn recover_token(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
    }

    /// Not asked in this flow.
    async fn recover_refresh(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
    }
}

impl Endpoint for Exchange<'_> {
    fn registrar(&self) -> &(dyn Registrar + Sync) {
        &self.client
    }

    fn authorizer(&mut self) -> &mut (dyn Authorizer + Send) {
        self
    }

    fn issuer(&mut self) -> &mut (dyn Issuer + Send) {
        self
    }

    fn extension(&mut self) -> &mut (dyn Extension + Send) {
        self
    }
}

/// PKCE is part of the claim: there is nothing left to extend.
#[async_trait]
impl Extension for Exchange<'_> {
    async fn extend(
        &mut self,
        _: &(dyn Request + Sync),
        extensions: oxide_auth::primitives::grant::Extensions,
    ) -> Result<oxide_auth::primitives::grant::Extensions, ()> {
        Ok(extensions)
    }
}

/// The request as the state machine reads it: complete, the client named and authenticated.
struct ExchangeRequest<'a> {
    client_id: &'a str,
    code: &'a str,
    redirect_uri: &'a str,
}

impl Request for ExchangeRequest<'_> {
    fn valid(&self) -> bool {
        true
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.code))
    }

    fn authorization(&self) -> Authorization<'_> {
        Authorization::None
    }

    fn client_id(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.client_id))
    }

    fn redirect_uri(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.redirect_uri))
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed("authorization_code"))
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}
