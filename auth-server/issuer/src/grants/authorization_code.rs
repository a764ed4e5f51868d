//! The authorization code grant (RFC 6749 §4.1.3).

use super::oxide::{self, ClaimedFamily};
use super::requests::required;
use super::tokens::TokenGrant;
use super::{Grants, TokenRequest, TokenResponse};
use crate::codes::{self, PresentedCode};
use crate::pkce::CodeVerifier;
use crate::token_error::TokenError;
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use identity::grants::clients::Client;
use identity::grants::{consents, refresh_families};
use identity::sessions;

const INVALID_CODE: TokenError = TokenError::InvalidGrant(
    "the code is unknown, expired or used, or is not for this client, redirect_uri and code_verifier",
);

impl Grants {
    /// Exchanges the code of a request for tokens. The caller has authenticated the client.
    pub async fn exchange_code(
        &self,
        client: &Client,
        request: &TokenRequest,
        context: &RequestContext,
    ) -> Result<TokenResponse, TokenError> {
        let code = required("code", request.code.as_ref())?;
        let redirect_uri = required("redirect_uri", request.redirect_uri.as_ref())?;
        let verifier = CodeVerifier::parse(request.code_verifier.as_deref())
            .map_err(|error| TokenError::InvalidRequest(error.to_owned()))?;
        let presented = PresentedCode {
            code,
            client_id: &client.id,
            redirect_uri,
            code_challenge: &verifier.challenge(),
        };
        let expires_at = context.now.after(self.lifetimes.code);
        let claim = self.claim_code(presented, context);
        let issue = |claimed| self.begin_family(claimed, context);
        oxide::exchange_code(client, presented, expires_at, claim, issue)
            .await
            .unwrap_or(Err(INVALID_CODE))
    }

    /// Claims the code, in a transaction that stays open until the tokens are issued. Revokes the family of a replayed
    /// code. Fails if the code is invalid, the session has ended or the consent was withdrawn.
    async fn claim_code(
        &self,
        presented: PresentedCode<'_>,
        context: &RequestContext,
    ) -> Result<ClaimedFamily, TokenError> {
        let mut tx = self.db.begin().await?;
        let Some(claimed) = codes::claim(&mut tx, presented, context.now).await? else {
            drop(tx);
            self.revoke_replayed(presented, context).await?;
            return Err(INVALID_CODE);
        };
        let family = claimed.family;
        if !sessions::lock(&mut tx, family.session_id, context.now).await? {
            return Err(TokenError::InvalidGrant("the user's session has ended"));
        }
        let (user_id, client_id) = (family.user_id, &family.client_id);
        if !consents::lock(&mut tx, user_id, client_id, &claimed.consent_id).await? {
            return Err(TokenError::InvalidGrant("the user has withdrawn the consent"));
        }
        Ok(ClaimedFamily { tx, family })
    }

    /// Stores the family, signs its first access token and commits.
    async fn begin_family(
        &self,
        claimed: ClaimedFamily,
        context: &RequestContext,
    ) -> Result<TokenResponse, TokenError> {
        let ClaimedFamily { mut tx, family } = claimed;
        refresh_families::create(&mut tx, &family, self.lifetimes.refresh, context.now).await?;
        let signer = self.keys.signer(context.now)?;
        let grant = TokenGrant {
            family_id: &family.id,
            generation: 1,
            user_id: family.user_id,
            client_id: &family.client_id,
            scope: &family.scope,
        };
        let response = self.issue_tokens(&signer, &grant, context.now)?;
        tx.commit().await?;
        Ok(response)
    }

    /// Revokes the family that a used code began, if the code is presented again with the right client,
    /// redirect URI and verifier (RFC 6749 §4.1.2). The revocation is committed before the response.
    async fn revoke_replayed(
        &self,
        presented: PresentedCode<'_>,
        context: &RequestContext,
    ) -> Result<(), TokenError> {
        let Some(family) = codes::find_replayed(&self.db, presented).await? else {
            return Ok(());
        };
        let event = Event::failure(EventName::CodeReuse)
            .user(family.user_id)
            .client(&family.client_id);
        Ok(self.revoke_family(&family.id, event, context).await?)
    }
}
