//! Revocation of tokens by the clients that hold them (RFC 7009).

use super::Grants;
use crate::token_error::TokenError;
use access_tokens::Error as VerificationError;
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use identity::clients::Client;
use identity::end_reason::EndReason;
use identity::refresh_families::{self, Selection};
use revocation::RevokingTx;
use storage::db;

const OF_ANOTHER_CLIENT: TokenError =
    TokenError::InvalidGrant("the token was issued to another client, which alone may revoke it");

impl Grants {
    /// Revokes a token of this client: with a refresh token, used or not, its whole family, and with an
    /// access token that token alone, or its family if the client revokes many (RFC 7009 §2.1 allows either).
    /// On return the revocation is durable. No effect if the token is not valid (RFC 7009 §2.2). Fails if it
    /// was issued to another client. The caller has authenticated the client.
    pub async fn revoke(
        &self,
        client: &Client,
        token: &str,
        context: &RequestContext,
    ) -> Result<(), TokenError> {
        match self.refresh_tokens.verify(token) {
            Some(id) => self.revoke_refresh_token(client, &id.family_id, context).await,
            None => self.revoke_access_token(client, token, context).await,
        }
    }

    async fn revoke_refresh_token(
        &self,
        client: &Client,
        family_id: &str,
        context: &RequestContext,
    ) -> Result<(), TokenError> {
        match refresh_families::find(&self.db, family_id).await? {
            Some(found) if found.family.client_id != client.id => return Err(OF_ANOTHER_CLIENT),
            Some(found) if found.end.is_none() => {}
            _ => return Ok(()),
        }
        let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
        self.revoke_for_app(&mut tx, family_id, context).await?;
        Ok(tx.commit().await?)
    }

    /// Revokes a family because its client asked for it.
    async fn revoke_for_app(
        &self,
        tx: &mut RevokingTx,
        family_id: &str,
        context: &RequestContext,
    ) -> Result<(), db::Error> {
        let (selection, reason) = (Selection::Family(family_id), EndReason::RevokedByApp);
        refresh_families::revoke_repeatedly(tx, selection, reason, &self.events, context).await
    }

    async fn revoke_access_token(
        &self,
        client: &Client,
        token: &str,
        context: &RequestContext,
    ) -> Result<(), TokenError> {
        let token = match self.verifier.verify(token, context.now).await {
            Ok(token) if *token.client_id != *client.id => return Err(OF_ANOTHER_CLIENT),
            Ok(token) => token,
            Err(VerificationError::Invalid(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
        if let Some(family_id) = token.grant_id()
            && revocation::has_revoked_many_tokens(&mut tx, &client.id, context.now).await?
        {
            self.revoke_for_app(&mut tx, family_id, context).await?;
        }
        if !tx.has_revoked() {
            let (jti, expires_at) = (&token.jti, token.expires_at);
            revocation::revoke_token(&mut tx, jti, &client.id, expires_at, context.now).await?;
            let event = Event::success(EventName::TokenRevoked)
                .user(token.user_id())
                .client(&client.id)
                .detail(format!("access token {jti}"));
            self.events.record_in(&mut tx, event, context).await?;
        }
        Ok(tx.commit().await?)
    }
}
