//! The refresh token grant (RFC 6749 §6), driven by oxide-auth: each use rotates, a replay kills the family
//! (RFC 9700 §4.14.2).

use super::registrar::Authenticated;
use super::{Grants, TokenResponse, oxide_grant, oxide_time};
use crate::error::TokenError;
use crate::keys::SigningKey;
use crate::params::Params;
use crate::refresh_tokens::Genuine;
use async_trait::async_trait;
use oxide_auth::code_grant::refresh::Request;
use oxide_auth::primitives::grant::Grant;
use oxide_auth::primitives::issuer::{IssuedToken, RefreshedToken, TokenType};
use oxide_auth_async::code_grant::refresh::{Endpoint, refresh};
use oxide_auth_async::primitives::{Issuer, Registrar};
use shared::events::{Context, Event, Name};
use shared::grants::clients::Client;
use shared::grants::families::{self, Family};
use shared::scope::Scope;
use std::borrow::Cow;
use std::sync::Arc;

const BAD_TOKEN: TokenError = TokenError::InvalidGrant(
    "the refresh token is unknown, expired, revoked or used, or is not for this client",
);

impl Grants {
    /// Rotates a refresh token. `client` is authenticated.
    pub(crate) async fn rotate(
        &self,
        client: &Client,
        params: &Params,
        context: &Context,
    ) -> Result<TokenResponse, TokenError> {
        let token = params
            .get("refresh_token")
            .ok_or_else(|| TokenError::InvalidRequest("refresh_token is required".to_owned()))?;
        let scope = params.get("scope");
        let asked: Option<Scope> = scope
            .map(str::parse)
            .transpose()
            .map_err(|_| TokenError::InvalidScope)?;
        if asked.as_ref().is_some_and(Scope::is_empty) {
            return Err(TokenError::InvalidScope);
        }
        let mut rotation = Rotation {
            grants: self,
            client: Authenticated(client),
            // Before the token is used up: a token that cannot be signed must cost its holder nothing.
            signer: self.keys.signer(context.now)?,
            asked,
            context,
            claimed: None,
            outcome: None,
        };
        let _ = refresh(&mut rotation, &RotationRequest { token, scope }).await;
        rotation.outcome.unwrap_or(Err(BAD_TOKEN))
    }

    /// A used refresh token came again, from the client it was given to: one of the two who hold it is a
    /// thief, so nobody keeps anything. Committed before the answer.
    async fn revoke_reused(&self, family: &Family, context: &Context) -> Result<(), TokenError> {
        let event = Event::failure(Name::RefreshReuse)
            .user(family.user_id)
            .client(&family.client_id);
        Ok(self.end_family(&family.id, event, context).await?)
    }
}

/// One rotation: our Issuer, and what came of it.
struct Rotation<'a> {
    grants: &'a Grants,
    client: Authenticated<'a>,
    signer: Arc<SigningKey>,
    asked: Option<Scope>,
    context: &'a Context,
    claimed: Option<Family>,
    outcome: Option<Result<TokenResponse, TokenError>>,
}

impl Rotation<'_> {
    async fn claim(&self, token: &str) -> Result<Family, TokenError> {
        let Genuine {
            family_id,
            generation,
        } = self.grants.refresh_tokens.read(token).ok_or(BAD_TOKEN)?;
        let (db, client_id, now) = (&self.grants.db, self.client.0.id.as_str(), self.context.now);
        // A family's scope never changes, so it can be looked at before the token is used up.
        if let Some(asked) = &self.asked {
            let family = families::find(db, &family_id).await?.ok_or(BAD_TOKEN)?;
            if !family.scope.covers(asked) {
                return Err(TokenError::InvalidScope);
            }
        }
        let idle = self.grants.lifetimes.refresh.idle;
        if let Some(family) = families::rotate(db, &family_id, generation, client_id, idle, now).await? {
            return Ok(family);
        }
        if let Some(family) = families::find(db, &family_id).await?
            && family.client_id == client_id
            && family.generation > generation
            && family.revoked_at.is_none()
        {
            self.grants.revoke_reused(&family, self.context).await?;
        }
        Err(BAD_TOKEN)
    }

    fn tokens(&self, family: &Family) -> Result<TokenResponse, TokenError> {
        let grants = self.grants;
        let scope = self.asked.clone().unwrap_or_else(|| family.scope.clone());
        let access_token = grants.access_token(
            &self.signer,
            &family.id,
            family.user_id,
            &family.client_id,
            &scope,
            self.context.now,
        )?;
        Ok(TokenResponse {
            access_token,
            token_type: "Bearer",
            expires_in: grants.lifetimes.access_token.as_secs(),
            refresh_token: grants
                .refresh_tokens
                .derive(&family.id, family.generation)
                .expose()
                .to_owned(),
            scope,
        })
    }
}

#[async_trait]
impl Issuer for Rotation<'_> {
    /// Not asked in this flow.
    async fn issue(&mut self, _: Grant) -> Result<IssuedToken, ()> {
        Err(())
    }

    async fn refresh(&mut self, _: &str, _: Grant) -> Result<RefreshedToken, ()> {
        let family = self.claimed.take().ok_or(())?;
        let outcome = self.tokens(&family);
        let refreshed = outcome.as_ref().map_err(|_| ()).map(|response| RefreshedToken {
            token: response.access_token.clone(),
            refresh: Some(response.refresh_token.clone()),
            until: oxide_time(self.context.now.after(self.grants.lifetimes.access_token)),
            token_type: TokenType::Bearer,
        });
        self.outcome = Some(outcome);
        refreshed
    }

    /// Not asked in this flow.
    async fn recover_token(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
    }

    /// Claims the token: all that could refuse it is in the claim, so what follows cannot.
    async fn recover_refresh(&mut self, token: &str) -> Result<Option<Grant>, ()> {
        let redirect_uri = self
            .client
            .0
            .redirect_uris
            .first()
            .and_then(|uri| uri.parse().ok())
            .ok_or(())?;
        let family = match self.claim(token).await {
            Ok(family) => family,
            Err(error) => {
                self.outcome = Some(Err(error));
                return Ok(None);
            }
        };
        let until = self.context.now.after(self.grants.lifetimes.refresh.idle);
        let grant = oxide_grant(
            family.user_id,
            &family.client_id,
            redirect_uri,
            &family.scope,
            until,
        )?;
        self.claimed = Some(family);
        Ok(Some(grant))
    }
}

impl Endpoint for Rotation<'_> {
    fn registrar(&self) -> &(dyn Registrar + Sync) {
        &self.client
    }

    fn issuer(&mut self) -> &mut (dyn Issuer + Send) {
        self
    }
}

/// The request as the state machine reads it.
struct RotationRequest<'a> {
    token: &'a str,
    scope: Option<&'a str>,
}

impl Request for RotationRequest<'_> {
    fn valid(&self) -> bool {
        true
    }

    fn refresh_token(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.token))
    }

    fn scope(&self) -> Option<Cow<'_, str>> {
        self.scope.map(Cow::Borrowed)
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed("refresh_token"))
    }

    fn authorization(&self) -> Option<(Cow<'_, str>, Cow<'_, [u8]>)> {
        None
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}
