//! The refresh token grant (RFC 6749 §6). Each use rotates the token; a replay revokes its family
//! (RFC 9700 §4.14.2), unless the client may repeat a refresh.

use super::oxide::{self, RefreshRequest};
use super::requests::{parse_scope, required};
use super::tokens::TokenGrant;
use super::{Grants, TokenRequest, TokenResponse};
use crate::refresh_tokens::RefreshTokenId;
use crate::token_error::TokenError;
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use identity::grants::clients::Client;
use identity::grants::refresh_families;
use identity::grants::refresh_families::Family;

const INVALID_TOKEN: TokenError = TokenError::InvalidGrant(
    "the refresh token is unknown, expired, revoked or used, or is not for this client",
);

impl Grants {
    /// Rotates the refresh token of a request. The caller has authenticated the client.
    pub async fn rotate(
        &self,
        client: &Client,
        request: &TokenRequest,
        context: &RequestContext,
    ) -> Result<TokenResponse, TokenError> {
        let refresh_token = required("refresh_token", request.refresh_token.as_ref())?;
        let request = RefreshRequest {
            refresh_token,
            scope: request.scope.as_deref(),
        };
        let scope = parse_scope(request.scope)?;
        // Before the claim: if no key can sign, the client keeps its token.
        let signer = self.keys.signer(context.now)?;
        let expires_at = context.now.after(self.lifetimes.refresh.idle);
        let claim = self.claim_generation(client, refresh_token, scope, context);
        let issue = |family: &Family| {
            let grant = TokenGrant {
                family,
                scope: scope.unwrap_or(family.scope),
                // OpenID Connect Core §12.2: an ID token of a refresh has no nonce.
                nonce: None,
            };
            Ok(self.issue_tokens(&signer, &grant, context.now)?)
        };
        oxide::rotate(client, request, expires_at, claim, issue)
            .await
            .unwrap_or(Err(INVALID_TOKEN))
    }

    /// Marks a refresh token as used. Returns its family, advanced to the next generation. Returns the same for a used token
    /// if the client may repeat the refresh. Fails if the token is invalid or `scope` exceeds that of the family. Revokes the
    /// family of a reused token.
    async fn claim_generation(
        &self,
        client: &Client,
        refresh_token: &str,
        scope: Option<Scope>,
        context: &RequestContext,
    ) -> Result<Family, TokenError> {
        let id = self.refresh_tokens.verify(refresh_token).ok_or(INVALID_TOKEN)?;
        let RefreshTokenId {
            ref family_id,
            generation,
        } = id;
        // A family's scope never changes, so it can be checked before the token is used up.
        if let Some(scope) = scope {
            let family = refresh_families::find(&self.db, family_id).await?;
            if !family.ok_or(INVALID_TOKEN)?.scope.covers(scope) {
                return Err(TokenError::InvalidScope);
            }
        }
        let (idle, now) = (self.lifetimes.refresh.idle, context.now);
        let rotated =
            refresh_families::rotate(&self.db, family_id, generation, &client.id, idle, now).await?;
        if let Some(family) = rotated {
            return Ok(family);
        }
        if let Some(family) = self.find_repeatable(client, &id, now).await? {
            return Ok(family);
        }
        if let Some(family) = refresh_families::find(&self.db, family_id).await?
            && family.client_id == client.id
            && family.generation > generation
            && !family.is_revoked
        {
            self.revoke_reused(&family, context).await?;
        }
        Err(INVALID_TOKEN)
    }

    /// Returns the family of a used refresh token, at the generation of its successor, if the client may repeat the refresh:
    /// the successor is unused and younger than the client's retry window.
    async fn find_repeatable(
        &self,
        client: &Client,
        used: &RefreshTokenId,
        now: Timestamp,
    ) -> Result<Option<Family>, TokenError> {
        if client.refresh_retry_window.is_zero() {
            return Ok(None);
        }
        let successor = refresh_families::find_current(&self.db, &used.family_id, used.generation + 1, now);
        let repeatable = successor.await?.filter(|successor| {
            successor.family.client_id == client.id
                && now < successor.issued_at.after(client.refresh_retry_window)
        });
        Ok(repeatable.map(|successor| successor.family))
    }

    /// Revokes the family of a refresh token that its client used twice: the token was stolen, and it is
    /// unknown which of the two uses was the thief's. The revocation is committed before the response.
    async fn revoke_reused(&self, family: &Family, context: &RequestContext) -> Result<(), TokenError> {
        let event = Event::failure(EventName::RefreshReuse)
            .user(family.user_id)
            .client(&family.client_id);
        Ok(self.revoke_family(&family.id, event, context).await?)
    }
}
