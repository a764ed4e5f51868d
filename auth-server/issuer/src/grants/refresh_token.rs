//! The refresh token grant (RFC 6749 §6). Each use rotates the token; a replay revokes its family
//! (RFC 9700 §4.14.2), unless the client may repeat a refresh.

use super::proofs::bound_family_key;
use super::requests::{parse_scope, required};
use super::tokens::TokenGrant;
use super::{Grants, TokenRequest, TokenResponse};
use crate::token_error::TokenError;
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use identity::clients::Client;
use identity::end_reason::{End, EndReason};
use identity::refresh_families::{self, Family, FoundFamily, PresentedToken, Selection};
use revocation::RevokingTx;
use std::time::Duration;

/// The error for a refresh token whose family does not exist.
const INVALID_TOKEN: TokenError = TokenError::InvalidRefreshToken {
    end: None,
    is_useless: false,
};
/// The age up to which a new family may be that of a concurrent request of the same browser, whose response
/// sets the cookie. It is longer than any request lasts.
const COOKIE_RACE: Duration = Duration::from_secs(60);

impl Grants {
    /// Rotates the refresh token of a request (RFC 6749 §6). Returns its successor and an access token, whose
    /// scope is the requested one or that of the family. The new tokens are bound to the key with the
    /// thumbprint `key`, if it is set. The caller has authenticated the client and accepted the proof of the
    /// key. Fails if the token is invalid or the scope exceeds that of the family.
    pub async fn refresh(
        &self,
        client: &Client,
        request: &TokenRequest,
        key: Option<&str>,
        context: &RequestContext,
    ) -> Result<TokenResponse, TokenError> {
        let refresh_token = required("refresh_token", request.refresh_token.as_ref())?;
        let scope = parse_scope(request.scope.as_deref())?;
        // Before the claim: if no key can sign, the client keeps its token.
        let signer = self.keys.signer(context.now)?;
        let id = self.refresh_tokens.verify(refresh_token);
        let id = id.ok_or(TokenError::InvalidRefreshToken {
            end: None,
            is_useless: client.refresh_cookie,
        })?;
        let presented = PresentedToken {
            family_id: &id.family_id,
            generation: id.generation,
            client_id: &client.id,
            dpop_jkt: bound_family_key(client, key),
        };
        let family = self.claim_generation(client, presented, scope, context).await?;
        let grant = TokenGrant {
            family: &family,
            scope: scope.unwrap_or(family.scope),
            // OpenID Connect Core §12.2: an ID token of a refresh has no nonce.
            nonce: None,
            key,
        };
        Ok(self.issue_tokens(&signer, &grant, context.now)?)
    }

    /// Records that a browser whose cookie has this refresh token of the client gets a new family, perhaps of
    /// another user. For a minute, a refusal of the old token then does not remove the cookie, which has the
    /// new one.
    pub async fn record_replaced(&self, client: &Client, refresh_token: &str, context: &RequestContext) {
        let Some(id) = self.refresh_tokens.verify(refresh_token) else {
            return;
        };
        let recorded =
            refresh_families::record_replaced(&self.db, &id.family_id, &client.id, context.now).await;
        if let Err(error) = recorded {
            // The code is used up, so the client needs its tokens.
            tracing::warn!(%error, "the replaced refresh token of a browser was not recorded: its refusal may remove the new cookie");
        }
    }

    /// Marks a refresh token as used. Returns its family, advanced to the next generation. Returns the same
    /// for a used token if the client may repeat the refresh. Fails if the token is invalid or `scope`
    /// exceeds that of the family. Revokes the family of a reused token.
    async fn claim_generation(
        &self,
        client: &Client,
        presented: PresentedToken<'_>,
        scope: Option<Scope>,
        context: &RequestContext,
    ) -> Result<Family, TokenError> {
        let family_id = presented.family_id;
        // A family's scope never changes, so it can be checked before the token is used up.
        if let Some(scope) = scope {
            let family = refresh_families::find(&self.db, family_id).await?;
            if !family.ok_or(INVALID_TOKEN)?.family.scope.covers(scope) {
                return Err(TokenError::InvalidScope);
            }
        }
        let (idle, now) = (self.lifetimes.refresh.idle, context.now);
        let rotated = refresh_families::rotate(&self.db, presented, idle, now).await?;
        if let Some(family) = rotated {
            return self.require_redirect_uri(client, family, context).await;
        }
        if let Some(family) = self.find_repeatable(client, presented, now).await? {
            return Ok(family);
        }
        let found = refresh_families::find(&self.db, family_id).await?;
        let found = found.filter(|found| found.family.client_id == client.id);
        let end = match found {
            Some(FoundFamily { family, end: None }) if family.generation > presented.generation => {
                Some(self.revoke_reused(&family, context).await?)
            }
            // The reason is for the holder of the key alone.
            Some(FoundFamily { family, end }) if family.dpop_jkt.as_deref() == presented.dpop_jkt => end,
            _ => None,
        };
        let since = now.before(COOKIE_RACE);
        // A concurrent request may have rotated the token or begun another family. The cookie then has a
        // token of that request.
        let is_useless = client.refresh_cookie
            && !refresh_families::browser_may_have_newer(&self.db, family_id, &client.id, since, now).await?;
        Err(TokenError::InvalidRefreshToken { end, is_useless })
    }

    /// Returns a family, unless it began with a redirect URI that the document of its client no longer has.
    /// It is then revoked: a code may have been exchanged just when the document changed.
    async fn require_redirect_uri(
        &self,
        client: &Client,
        family: Family,
        context: &RequestContext,
    ) -> Result<Family, TokenError> {
        if family
            .redirect_uri
            .as_ref()
            .is_none_or(|uri| client.redirect_uris.contains(uri))
        {
            return Ok(family);
        }
        let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
        let (selection, reason) = (Selection::Family(&family.id), EndReason::RedirectUriRemoved);
        refresh_families::revoke(&mut tx, selection, reason, context).await?;
        tx.commit().await?;
        Err(TokenError::InvalidRefreshToken {
            end: Some(End::new(reason, context.now)),
            is_useless: false,
        })
    }

    /// Returns the family of a used refresh token, at the generation of its successor, if the client may
    /// repeat the refresh: the successor is unused and younger than the client's retry window.
    async fn find_repeatable(
        &self,
        client: &Client,
        used: PresentedToken<'_>,
        now: Timestamp,
    ) -> Result<Option<Family>, TokenError> {
        if client.refresh_retry_window.is_zero() {
            return Ok(None);
        }
        let successor = refresh_families::find_current(&self.db, used.family_id, used.generation + 1, now);
        let repeatable = successor.await?.filter(|successor| {
            successor.family.client_id == client.id
                && successor.family.dpop_jkt.as_deref() == used.dpop_jkt
                && now < successor.issued_at.after(client.refresh_retry_window)
        });
        Ok(repeatable.map(|successor| successor.family))
    }

    /// Revokes the family of a refresh token that its client used twice: the token was stolen, and it is
    /// unknown which of the two uses was the thief's. The revocation is committed before the response.
    /// Returns the end of the family.
    async fn revoke_reused(&self, family: &Family, context: &RequestContext) -> Result<End, TokenError> {
        let event = Event::failure(EventName::RefreshReuse)
            .user(family.user_id)
            .client(&family.client_id);
        self.revoke_family(&family.id, event, context).await?;
        Ok(End::new(EndReason::UsedTwice, context.now))
    }
}
