//! The Registrar of the token endpoint, where the client was authenticated before the state machine runs.

use async_trait::async_trait;
use oxide_auth::primitives::registrar::{BoundClient, ClientUrl, PreGrant, RegistrarError};
use oxide_auth::primitives::scope::Scope;
use oxide_auth_async::primitives::Registrar;
use shared::grants::clients::Client;

/// Knows one client.
pub(super) struct Authenticated<'a>(pub(super) &'a Client);

#[async_trait]
impl Registrar for Authenticated<'_> {
    /// Not asked at the token endpoint.
    async fn bound_redirect<'a>(&self, _: ClientUrl<'a>) -> Result<BoundClient<'a>, RegistrarError> {
        Err(RegistrarError::Unspecified)
    }

    /// Not asked at the token endpoint.
    async fn negotiate<'a>(&self, _: BoundClient<'a>, _: Option<Scope>) -> Result<PreGrant, RegistrarError> {
        Err(RegistrarError::Unspecified)
    }

    /// Whether the grant is this client's.
    async fn check(&self, client_id: &str, _: Option<&[u8]>) -> Result<(), RegistrarError> {
        (client_id == self.0.id)
            .then_some(())
            .ok_or(RegistrarError::Unspecified)
    }
}
