//! The Registrar of every flow. It knows one client: the one that the request names.

use crate::clients::may_redirect_to;
use async_trait::async_trait;
use foundation::scope::Scope;
use identity::grants::clients::{Client, ClientType};
use oxide_auth::primitives::registrar::{BoundClient, ClientUrl, PreGrant, RegisteredUrl, RegistrarError};
use oxide_auth::primitives::scope::Scope as OxideScope;
use oxide_auth_async::primitives::Registrar;
use std::borrow::Cow;
use url::Url;

/// The redirect URI of a service, because the state machine of the client credentials grant requires one.
const NO_REDIRECT_URI: &str = "about:blank";

/// A Registrar of one client.
pub(super) struct ClientRegistrar<'a>(pub(super) &'a Client);

#[async_trait]
impl Registrar for ClientRegistrar<'_> {
    /// Requires a redirect URI that the client registered. A service has none.
    async fn bound_redirect<'a>(&self, bound: ClientUrl<'a>) -> Result<BoundClient<'a>, RegistrarError> {
        let redirect_uri: RegisteredUrl = match bound.redirect_uri {
            Some(uri) if may_redirect_to(self.0, uri.as_str()) => uri.into_owned().into(),
            None if self.0.kind == ClientType::Service => {
                let none = Url::parse(NO_REDIRECT_URI);
                none.map_err(|_| RegistrarError::PrimitiveError)?.into()
            }
            _ => return Err(RegistrarError::Unspecified),
        };
        Ok(BoundClient {
            client_id: bound.client_id,
            redirect_uri: Cow::Owned(redirect_uri),
        })
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
            .map_err(|_| RegistrarError::Unspecified)?
            .unwrap_or(self.0.default_scope);
        if scope.is_empty() || !self.0.scope.covers(scope) {
            return Err(RegistrarError::Unspecified);
        }
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
