//! The rotation of a refresh token (RFC 6749 §6) as oxide-auth's state machine runs it.

use super::deferred::Deferred;
use super::grant::{oxide_grant, refreshed_token};
use super::registrar::ClientRegistrar;
use crate::grants::TokenResponse;
use crate::token_error::TokenError;
use async_trait::async_trait;
use foundation::clock::Timestamp;
use identity::grants::clients::Client;
use identity::grants::refresh_families::Family;
use oxide_auth::code_grant::refresh::Request;
use oxide_auth::primitives::grant::Grant;
use oxide_auth::primitives::issuer::{IssuedToken, RefreshedToken};
use oxide_auth_async::code_grant::refresh::{Endpoint, refresh};
use oxide_auth_async::primitives::{Issuer, Registrar};
use std::borrow::Cow;

/// A refresh request as the state machine reads it: complete, from an authenticated client.
#[derive(Clone, Copy)]
pub(in crate::grants) struct RefreshRequest<'a> {
    pub(in crate::grants) refresh_token: &'a str,
    pub(in crate::grants) scope: Option<&'a str>,
}

/// Rotates a refresh token that an authenticated client presents. The state machine runs `claim`, takes the claimed
/// grant as valid until `expires_at`, and runs `issue`. Returns the result of `issue`, or the error of `claim`, or
/// `None` if the state machine refused the rotation.
pub(in crate::grants) async fn rotate<I>(
    client: &Client,
    request: RefreshRequest<'_>,
    expires_at: Timestamp,
    claim: impl Future<Output = Result<Family, TokenError>> + Send,
    issue: I,
) -> Option<Result<TokenResponse, TokenError>>
where
    I: FnOnce(&Family) -> Result<TokenResponse, TokenError> + Send + Sync,
{
    let mut rotation = Rotation {
        registrar: ClientRegistrar(client),
        expires_at,
        claim: Deferred::new(claim),
        issue: Some(issue),
        claimed: None,
        result: None,
    };
    // The result is the state machine's own token response or an error without a cause; ours is in `rotation`.
    let _ = refresh(&mut rotation, &request).await;
    rotation.result
}

/// The Endpoint and Issuer of one run of the state machine.
struct Rotation<'a, I> {
    registrar: ClientRegistrar<'a>,
    expires_at: Timestamp,
    claim: Deferred<'a, Result<Family, TokenError>>,
    issue: Option<I>,
    claimed: Option<Family>,
    result: Option<Result<TokenResponse, TokenError>>,
}

#[async_trait]
impl<I> Issuer for Rotation<'_, I>
where
    I: FnOnce(&Family) -> Result<TokenResponse, TokenError> + Send + Sync,
{
    /// Not called in this flow.
    async fn issue(&mut self, _: Grant) -> Result<IssuedToken, ()> {
        Err(())
    }

    /// Issues the tokens of the claimed family.
    async fn refresh(&mut self, _: &str, grant: Grant) -> Result<RefreshedToken, ()> {
        let family = self.claimed.take().ok_or(())?;
        let issue = self.issue.take().ok_or(())?;
        let result = issue(&family);
        let refreshed = refreshed_token(&result, grant.until);
        self.result = Some(result);
        refreshed
    }

    /// Not called in this flow.
    async fn recover_token(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
    }

    /// Claims the token. The claim checks everything that the state machine checks afterwards, so a claimed
    /// token is never refused.
    async fn recover_refresh(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        let redirect_uris = &self.registrar.0.redirect_uris;
        let redirect_uri = redirect_uris.first().and_then(|uri| uri.parse().ok());
        let redirect_uri = redirect_uri.ok_or(())?;
        let family = match self.claim.run().await? {
            Ok(family) => family,
            Err(error) => {
                self.result = Some(Err(error));
                return Ok(None);
            }
        };
        let grant = oxide_grant(
            family.user_id,
            &family.client_id,
            redirect_uri,
            family.scope,
            self.expires_at,
        )?;
        self.claimed = Some(family);
        Ok(Some(grant))
    }
}

impl<I> Endpoint for Rotation<'_, I>
where
    I: FnOnce(&Family) -> Result<TokenResponse, TokenError> + Send + Sync,
{
    fn registrar(&self) -> &(dyn Registrar + Sync) {
        &self.registrar
    }

    fn issuer(&mut self) -> &mut (dyn Issuer + Send) {
        self
    }
}

impl Request for RefreshRequest<'_> {
    fn valid(&self) -> bool {
        true
    }

    fn refresh_token(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.refresh_token))
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
