//! The token request with a device code (RFC 8628 §3.4), which the client repeats until the user has decided.

use super::proofs::bound_family_key;
use super::requests::required;
use super::tokens::TokenGrant;
use super::{Grants, TokenRequest, TokenResponse};
use crate::device_requests::{self, ClaimedRequest, State};
use crate::token_error::TokenError;
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use identity::clients::Client;
use identity::end_reason::EndReason;
use identity::refresh_families::{self, Family, Selection};
use identity::{consents, users};
use revocation::RevokingTx;

/// The value of `grant_type` (RFC 8628 §3.4).
pub const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

const INVALID_CODE: TokenError =
    TokenError::InvalidGrant("the device_code is unknown or used, or is not for this client");
const ENDED: TokenError = TokenError::InvalidGrant(
    "the user has withdrawn the consent, or all tokens of the user have ended since the decision",
);

impl Grants {
    /// Exchanges the device code of a request for tokens, if the user has allowed it. They are bound to the
    /// key with the thumbprint `key`, if it is set. The caller has authenticated the client and accepted the
    /// proof of the key. Fails with [`TokenError::AuthorizationPending`] or [`TokenError::SlowDown`] if the
    /// client should ask again. Revokes the family of a replayed code.
    pub async fn exchange_device_code(
        &self,
        client: &Client,
        request: &TokenRequest,
        key: Option<&str>,
        context: &RequestContext,
    ) -> Result<TokenResponse, TokenError> {
        self.device_authorization_of(client)?;
        let device_code = required("device_code", request.device_code.as_ref())?;
        let (id, state) = self.find_device_code(client, device_code, context).await?;
        match state {
            State::Pending => {
                return match device_requests::record_poll(&self.db, &id, context.now).await? {
                    true => Err(TokenError::AuthorizationPending),
                    false => Err(TokenError::SlowDown),
                };
            }
            State::Denied => return Err(TokenError::AccessDenied),
            State::Expired => return Err(TokenError::ExpiredToken),
            State::Allowed | State::Used(_) => {}
        }
        // Before the claim: if no key can sign, the client keeps its code.
        let signer = self.keys.signer(context.now)?;
        let family_key = bound_family_key(client, key);
        let Some(family) = self.claim_device_code(&id, family_key, context).await? else {
            self.revoke_replayed_device_code(client, device_code, context)
                .await?;
            return Err(INVALID_CODE);
        };
        let grant = TokenGrant {
            family: &family,
            scope: family.scope,
            nonce: None,
            key,
        };
        Ok(self.issue_tokens(&signer, &grant, context.now)?)
    }

    async fn find_device_code(
        &self,
        client: &Client,
        device_code: &str,
        context: &RequestContext,
    ) -> Result<(String, State), TokenError> {
        let found = device_requests::find(&self.db, device_code, &client.id, context.now).await?;
        found.ok_or(INVALID_CODE)
    }

    /// Marks the request as used and creates its family, whose refresh tokens are bound to the key with the
    /// thumbprint `key`. Returns `None` if the request was used before. Fails, and leaves the request as it
    /// is, if the user's epoch has ended or the consent was revoked. The locks keep both until the family
    /// exists, so that a request that ends them finds the family. Revokes the families of the user with the
    /// client beyond the maximum that have been unused for the longest time.
    async fn claim_device_code(
        &self,
        id: &str,
        key: Option<&str>,
        context: &RequestContext,
    ) -> Result<Option<Family>, TokenError> {
        let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
        let Some(claimed) = device_requests::claim(&mut tx, id, context.now).await? else {
            return Ok(None);
        };
        let user = users::lock_in_epoch(&mut tx, claimed.user_id, claimed.epochs.user).await?;
        let role = user.ok_or(ENDED)?.role;
        let (user_id, client_id) = (claimed.user_id, &claimed.client_id);
        if !consents::lock(&mut tx, user_id, client_id, &claimed.consent_id).await? {
            return Err(ENDED);
        }
        let family = begun_family(claimed, role, key);
        refresh_families::create(&mut tx, &family, self.lifetimes.refresh, context.now).await?;
        let unused = Selection::LongestUnused {
            user_id: family.user_id,
            client_id: &family.client_id,
            keep: i64::from(self.lifetimes.max_families),
        };
        let reason = EndReason::NewerSignIns;
        refresh_families::revoke_repeatedly(&mut tx, unused, reason, &self.events, context).await?;
        tx.commit().await?;
        Ok(Some(family))
    }

    /// Revokes the family that a used device code began, if the client presents the code again, as for
    /// authorization codes (RFC 6749 §4.1.2). The revocation is committed before the response.
    async fn revoke_replayed_device_code(
        &self,
        client: &Client,
        device_code: &str,
        context: &RequestContext,
    ) -> Result<(), TokenError> {
        let (id, state) = self.find_device_code(client, device_code, context).await?;
        let State::Used(user_id) = state else {
            return Ok(());
        };
        let event = Event::failure(EventName::CodeReuse)
            .user(user_id)
            .client(&client.id)
            .detail("device code");
        Ok(self.revoke_family(&id, event, context).await?)
    }
}

/// Returns the family that a request begins. It has the id of the request.
fn begun_family(claimed: ClaimedRequest, role: users::Role, key: Option<&str>) -> Family {
    Family {
        id: claimed.id,
        client_id: claimed.client_id,
        user_id: claimed.user_id,
        role,
        // The device keeps its tokens if the user signs out of the browser.
        session_id: None,
        epochs: claimed.epochs,
        sign_in: claimed.sign_in,
        scope: claimed.scope,
        generation: 1,
        dpop_jkt: key.map(str::to_owned),
        redirect_uri: None,
    }
}
