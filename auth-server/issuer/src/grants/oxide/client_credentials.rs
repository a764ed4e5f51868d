//! The client credentials grant (RFC 6749 §4.4) as oxide-auth's state machine runs it.

use super::grant::issued_token;
use super::registrar::ClientRegistrar;
use crate::grants::TokenResponse;
use crate::token_error::TokenError;
use async_trait::async_trait;
use foundation::scope::Scope;
use identity::grants::clients::Client;
use oxide_auth::code_grant::client_credentials::Request;
use oxide_auth::primitives::grant::Grant;
use oxide_auth::primitives::issuer::{IssuedToken, RefreshedToken};
use oxide_auth_async::code_grant::client_credentials::{Endpoint, Extension, client_credentials as run};
use oxide_auth_async::primitives::{Authorizer, Issuer, Registrar};
use std::borrow::Cow;

/// Issues a token to an authenticated service. The state machine checks the requested scope, or else takes the default scope
/// of the service, and runs `issue` with it. Returns the result of `issue`, or `None` if the service may not have the scope.
pub(in crate::grants) async fn client_credentials<I>(
    client: &Client,
    scope: Option<&str>,
    issue: I,
) -> Option<Result<TokenResponse, TokenError>>
where
    I: FnOnce(Scope) -> Result<TokenResponse, TokenError> + Send + Sync,
{
    let mut flow = ServiceFlow {
        registrar: ClientRegistrar(client),
        extension: (),
        issue: Some(issue),
        result: None,
    };
    let request = ServiceRequest {
        client_id: &client.id,
        scope,
    };
    // The results are the state machine's own token response or an error without a cause; ours is in `flow`.
    if let Ok(pending) = run(&mut flow, &request).await {
        let _ = pending.issue(&mut flow, client.id.clone(), false).await;
    }
    flow.result
}

/// A token request as the state machine reads it: complete, from an authenticated service.
struct ServiceRequest<'a> {
    client_id: &'a str,
    scope: Option<&'a str>,
}

/// The Endpoint, Authorizer and Issuer of one run of the state machine.
struct ServiceFlow<'a, I> {
    registrar: ClientRegistrar<'a>,
    extension: (),
    issue: Option<I>,
    result: Option<Result<TokenResponse, TokenError>>,
}

#[async_trait]
impl<I> Issuer for ServiceFlow<'_, I>
where
    I: FnOnce(Scope) -> Result<TokenResponse, TokenError> + Send + Sync,
{
    /// Issues the token for the scope that was checked.
    async fn issue(&mut self, grant: Grant) -> Result<IssuedToken, ()> {
        let scope = grant.scope.to_string().parse().map_err(|_| ())?;
        let issue = self.issue.take().ok_or(())?;
        let result = issue(scope);
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

#[async_trait]
impl<I: Send + Sync> Authorizer for ServiceFlow<'_, I> {
    /// Not called in this flow.
    async fn authorize(&mut self, _: Grant) -> Result<String, ()> {
        Err(())
    }

    /// Not called in this flow.
    async fn extract(&mut self, _: &str) -> Result<Option<Grant>, ()> {
        Err(())
    }
}

impl<I> Endpoint for ServiceFlow<'_, I>
where
    I: FnOnce(Scope) -> Result<TokenResponse, TokenError> + Send + Sync,
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
        &mut self.extension
    }
}

impl Request for ServiceRequest<'_> {
    fn valid(&self) -> bool {
        true
    }

    /// The state machine requires credentials. The Registrar accepts any, because the client is authenticated.
    fn authorization(&self) -> Option<(Cow<'_, str>, Cow<'_, [u8]>)> {
        Some((Cow::Borrowed(self.client_id), Cow::Borrowed(&[])))
    }

    fn scope(&self) -> Option<Cow<'_, str>> {
        self.scope.map(Cow::Borrowed)
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed("client_credentials"))
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}
