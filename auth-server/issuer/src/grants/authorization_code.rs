//! The authorization code grant (RFC 6749 §4.1.3).

use super::oxide::CodeExchange;
use super::proofs::bound_family_key;
use super::requests::required;
use super::tokens::TokenGrant;
use super::{Grants, TokenRequest, TokenResponse};
use crate::clients::registered_redirect_uri;
use crate::codes::{self, ExchangeError, ExchangedCode, PresentedCode};
use crate::pkce::CodeVerifier;
use crate::token_error::TokenError;
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use identity::clients::Client;
use identity::end_reason::EndReason;
use identity::refresh_families::{self, Selection};
use revocation::RevokingTx;
use storage::db;

const INVALID_CODE: TokenError = TokenError::InvalidGrant(
    "the code is unknown, expired or used, or is not for this client, redirect_uri, code_verifier and DPoP key",
);

/// The number of exchanges that may not have counted each other's families, because they ran at the same
/// time.
const CONCURRENT_EXCHANGES: i64 = 16;

impl Grants {
    /// Exchanges the code of a request for tokens. They are bound to the key with the thumbprint `key`, if it
    /// is set. The caller has authenticated the client and accepted the proof of the key.
    pub async fn exchange_code(
        &self,
        client: &Client,
        request: &TokenRequest,
        key: Option<&str>,
        context: &RequestContext,
    ) -> Result<TokenResponse, TokenError> {
        let code = required("code", request.code.as_ref())?;
        let redirect_uri = required("redirect_uri", request.redirect_uri.as_ref())?;
        // RFC 7636 §4.6: the error of a verifier that does not match, also if there is none.
        let verifier =
            CodeVerifier::parse(request.code_verifier.as_deref()).map_err(TokenError::InvalidGrant)?;
        let presented = PresentedCode {
            code,
            client_id: &client.id,
            redirect_uri,
            code_challenge: &verifier.challenge(),
            key,
            family_key: bound_family_key(client, key),
            family_redirect_uri: family_redirect_uri(client, redirect_uri)?,
        };
        let expires_at = context.now.after(self.lifetimes.code);
        // Before the claim: if no key can sign, the client keeps its code.
        let signer = self.keys.signer(context.now)?;
        let exchange = CodeExchange::begin(presented).ok_or(INVALID_CODE)?;
        let code = self.claim_code(presented, context).await?;
        if !exchange.permits(&code, expires_at) {
            return Err(INVALID_CODE);
        }
        let grant = TokenGrant {
            family: &code.family,
            scope: code.family.scope,
            nonce: code.nonce.as_deref(),
            key,
        };
        Ok(self.issue_tokens(&signer, &grant, context.now)?)
    }

    /// Claims the code and creates its family. Revokes the family of a replayed code. Fails if the code is
    /// invalid, the session has ended or the consent was revoked.
    async fn claim_code(
        &self,
        presented: PresentedCode<'_>,
        context: &RequestContext,
    ) -> Result<ExchangedCode, TokenError> {
        match codes::exchange(&self.db, presented, self.lifetimes.refresh, context.now).await {
            Ok(code) => {
                // The code is used up. Without its tokens, the client would send it again, and that would
                // look like a replay.
                if let Err(error) = self.end_longest_unused_families(&code, context).await {
                    tracing::warn!(%error, "cannot end refresh token families beyond the maximum: the next sign-in ends them");
                }
                Ok(code)
            }
            Err(ExchangeError::InvalidCode) => {
                self.revoke_replayed(presented, context).await?;
                Err(INVALID_CODE)
            }
            Err(ExchangeError::SessionEnded) => Err(TokenError::InvalidGrant("the user's session has ended")),
            Err(ExchangeError::ConsentRevoked) => {
                Err(TokenError::InvalidGrant("the user has withdrawn the consent"))
            }
            Err(ExchangeError::Database(error)) => Err(error.into()),
        }
    }

    /// Revokes the families of the user with the client that have been unused for the longest time if a new
    /// one may be beyond the maximum.
    async fn end_longest_unused_families(
        &self,
        new: &ExchangedCode,
        context: &RequestContext,
    ) -> Result<(), db::Error> {
        let keep = i64::from(self.lifetimes.max_families);
        if new.other_families + CONCURRENT_EXCHANGES < keep {
            return Ok(());
        }
        let unused = Selection::LongestUnused {
            user_id: new.family.user_id,
            client_id: &new.family.client_id,
            keep,
        };
        let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
        refresh_families::revoke_repeatedly(&mut tx, unused, EndReason::NewerSignIns, &self.events, context)
            .await?;
        tx.commit().await
    }

    /// Revokes the family that a used code began, if the code is presented again with the right client,
    /// redirect URI and verifier (RFC 6749 §4.1.2). The revocation is committed before the response.
    async fn revoke_replayed(
        &self,
        presented: PresentedCode<'_>,
        context: &RequestContext,
    ) -> Result<(), TokenError> {
        let Some(used) = codes::find_replayed(&self.db, presented).await? else {
            return Ok(());
        };
        let event = Event::failure(EventName::CodeReuse)
            .user(used.user_id)
            .client(&used.client_id);
        Ok(self.revoke_family(&used.family_id, event, context).await?)
    }
}

/// Returns the redirect URI to record with the family of a client that describes itself by a document: the
/// family ends with it. Fails if the document no longer has the redirect URI of the code. Returns `None` for
/// every other client.
fn family_redirect_uri<'a>(client: &'a Client, redirect_uri: &str) -> Result<Option<&'a str>, TokenError> {
    if !client.has_document() {
        return Ok(None);
    }
    let registered = registered_redirect_uri(client, redirect_uri);
    registered.map(Some).ok_or(INVALID_CODE)
}
