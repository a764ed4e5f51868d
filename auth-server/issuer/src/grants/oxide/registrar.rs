//! The Registrar of every flow. It knows one client: the one that the request names.

use crate::clients::may_redirect_to;
use crate::grants::requests::allowed_scope;
use async_trait::async_trait;
use foundation::scope::Scope;
use identity::grants::clients::Client;
use oxide_auth::primitives::registrar::{BoundClient, ClientUrl, PreGrant, RegistrarError};
use oxide_auth::primitives::scope::Scope as OxideScope;
use oxide_auth_async::primitives::Registrar;
use std::borrow::Cow;

/// A Registrar of one client.
pub(super) struct ClientRegistrar<'a>(pub(super) &'a Client);

#[async_trait]
impl Registrar for ClientRegistrar<'_> {
    /// Requires a redirect URI that the client registered.
    async fn bound_redirect<'a>(&self, bound: ClientUrl<'a>) -> Result<BoundClient<'a>, RegistrarError> {
        match bound.redirect_uri {
            Some(uri) if may_redirect_to(self.0, uri.as_str()) => Ok(BoundClient {
                client_id: bound.client_id,
                redirect_uri: Cow::Owned(uri.into_owned().into()),
            }),
            _ => Err(RegistrarError::Unspecified),
        }
    }

    /// Requires a scope that the client registered. A request without one gets the client's default scope.
    async fn negotiate<'a>(
        &self,
        bound: BoundClient<'a>,
        requested: Option<OxideScope>,
    ) -> Result<PreGrant, RegistrarError> {
        let requested = requested
            .map(|scope| scope.to_string().parse::<Scope>())
            .transpose();
        let scope = requested
            .ok()
            .and_then(|requested| allowed_scope(self.0, requested));
        let scope = scope.ok_or(RegistrarError::Unspecified)?;
        Ok(PreGrant {
            client_id: bound.client_id.into_owned(),
            redirect_uri: bound.redirect_uri.into_owned(),
            scope: scope
                .to_string()
                .parse()
                .map_err(|_| RegistrarError::Unspecified)?,
        })
    }

    /// Accepts this client only. It was authenticated before the state machine started.
    async fn check(&self, client_id: &str, _: Option<&[u8]>) -> Result<(), RegistrarError> {
        (client_id == self.0.id)
            .then_some(())
            .ok_or(RegistrarError::Unspecified)
    }
}
