//! The client credentials grant (RFC 6749 §4.4), by which a service gets an access token for itself.

use super::requests::{allowed_scope, parse_scope};
use super::tokens::Subject;
use super::{Grants, TokenRequest, TokenResponse};
use crate::token_error::TokenError;
use foundation::context::RequestContext;
use identity::clients::Client;
use identity::clients::unused::record_first_use;

impl Grants {
    /// Issues an access token for the service itself, without a refresh token (RFC 6749 §4.4.3). Its scope is
    /// the requested one, or the default scope of the service. Fails if the scope is unknown or exceeds that
    /// of the registration. The caller has authenticated the client and checked that it is a service. The
    /// token is bound to the key with the thumbprint `key`, if it is set.
    pub async fn issue_to_service(
        &self,
        client: &Client,
        request: &TokenRequest,
        key: Option<&str>,
        context: &RequestContext,
    ) -> Result<TokenResponse, TokenError> {
        let requested = parse_scope(request.scope.as_deref())?;
        let signer = self.keys.signer(context.now)?;
        let scope = allowed_scope(client, requested).ok_or(TokenError::InvalidScope)?;
        let service = Subject::Service(client);
        let tokens = self.issue_access_token(&signer, service, scope, key, context.now)?;
        // No transaction for a service that was used before.
        if client.unused_until.is_some() {
            let mut tx = self.db.begin().await?;
            record_first_use(&mut tx, client).await?;
            tx.commit().await?;
        }
        Ok(tokens)
    }
}
