//! The exchange of a code (RFC 6749 §4.1.3) as oxide-auth's state machine runs it.

use super::deferred::Deferred;
use super::grant::{issued_token, oxide_grant};
use super::registrar::ClientRegistrar;
use crate::codes::{ExchangedCode, PresentedCode};
use crate::grants::TokenResponse;
use crate::token_error::TokenError;
use async_trait::async_trait;
use foundation::clock::Timestamp;
use identity::grants::clients::Client;
use oxide_auth::code_grant::accesstoken::{Authorization, Request};
use oxide_auth::primitives::grant::{Extensions, Grant};
use oxide_auth::primitives::issuer::{IssuedToken, RefreshedToken};
use oxide_auth_async::code_grant::access_token::{Endpoint, Extension, access_token};
use oxide_auth_async::primitives::{Authorizer, Issuer, Registrar};
use std::borrow::Cow;

/// Exchanges a code that an authenticated client presents. The state machine runs `claim`, takes the claimed grant as
/// valid until `expires_at`, and runs `issue`. Returns the result of `issue`, or the error of `claim`, or `None` if the
/// state machine refused the exchange.
pub(in crate::grants) async fn exchange_code<I>(
    client: &Client,
    presented: PresentedCode<'_>,
    expires_at: Timestamp,
    claim: impl Future<Output = Result<ExchangedCode, TokenError>> + Send,
    issue: I,
) -> Option<Result<TokenResponse, TokenError>>
where
    I: FnOnce(&ExchangedCode) -> Result<TokenResponse, TokenError> + Send + Sync,
{
    let mut exchange = CodeExchange {
        registrar: ClientRegistrar(client),
        redirect_uri: presented.redirect_uri,
        expires_at,
        claim: Deferred::new(claim),
        issue: Some(issue),
        claimed: None,
        result: None,
    };
    // The result is the state machine's own token response or an error without a cause; ours is in `exchange`.
    let _ = access_token(&mut exchange, &ExchangeRequest(presented)).await;
    exchange.result
}

/// The Endpoint, Authorizer, Issuer and Extension of one run of the state machine.
struct CodeExchange<'a, I> {
    registrar: ClientRegistrar<'a>,
    redirect_uri: &'a str,
    expires_at: Timestamp,
    claim: Deferred<'a, Result<ExchangedCode, TokenError>>,
    issue: Option<I>,
    claimed: Option<ExchangedCode>,
    result: Option<Result<TokenResponse, TokenError>>,
}

#[async_trait]
impl<I: Send + Sync> Authorizer for CodeExchange<'_, I> {
    /// Not called in this flow.
    async fn authorize(&mut self, _: Grant) -> Result<String, ()> {
        Err(())
    }

    /// Claims the code. The state machine passes the code that it read from the request.
    async fn extract(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        let code = match self.claim.run().await? {
            Ok(code) => code,
            Err(error) => {
                self.result = Some(Err(error));
                return Ok(None);
            }
        };
        let grant = oxide_grant(
            code.family.user_id,
            &code.family.client_id,
            self.redirect_uri.parse().map_err(|_| ())?,
            code.family.scope,
            self.expires_at,
        )?;
        self.claimed = Some(code);
        Ok(Some(grant))
    }
}

#[async_trait]
impl<I> Issuer for CodeExchange<'_, I>
where
    I: FnOnce(&ExchangedCode) -> Result<TokenResponse, TokenError> + Send + Sync,
{
    /// Issues the tokens of the claimed code.
    async fn issue(&mut self, grant: Grant) -> Result<IssuedToken, ()> {
        let code = self.claimed.take().ok_or(())?;
        let issue = self.issue.take().ok_or(())?;
        let result = issue(&code);
        let issued = issued_token(&result, grant.until);
        self.result = Some(result);
        issued
    }

    /// Not called in this flow.
    async fn refresh(&mut self, _: &str, _: Grant) -> Result<RefreshedToken, ()> {
        Err(())
    }

    /// Not called in this flow.
    async fn recover_token(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
    }

    /// Not called in this flow.
    async fn recover_refresh(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
    }
}

impl<I> Endpoint for CodeExchange<'_, I>
where
    I: FnOnce(&ExchangedCode) -> Result<TokenResponse, TokenError> + Send + Sync,
{
    fn registrar(&self) -> &(dyn Registrar + Sync) {
        &self.registrar
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

#[async_trait]
impl<I: Send + Sync> Extension for CodeExchange<'_, I> {
    /// Accepts every request: the claim has checked the PKCE challenge.
    async fn extend(&mut self, _: &(dyn Request + Sync), extensions: Extensions) -> Result<Extensions, ()> {
        Ok(extensions)
    }
}

/// The request as the state machine reads it: complete, from an authenticated client.
struct ExchangeRequest<'a>(PresentedCode<'a>);

impl Request for ExchangeRequest<'_> {
    fn valid(&self) -> bool {
        true
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.0.code))
    }

    fn authorization(&self) -> Authorization<'_> {
        Authorization::None
    }

    fn client_id(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.0.client_id))
    }

    fn redirect_uri(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.0.redirect_uri))
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed("authorization_code"))
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}
