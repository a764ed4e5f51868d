//! The issuer as the crate discovers it, and the clients that are configured by that.

use crate::harness::{Credentials, send};
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClient, CoreClientAuthMethod, CoreGrantType,
    CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode,
    CoreResponseType, CoreSubjectIdentifierType,
};
use openidconnect::{
    AdditionalProviderMetadata, ClientId, ClientSecret, EndSessionUrl, EndpointMaybeSet, EndpointNotSet,
    EndpointSet, IntrospectionUrl, IssuerUrl, LogoutProviderMetadata, ProviderMetadata, RedirectUrl,
    RevocationUrl,
};
use reqwest::Client;
use serde::{Deserialize, Serialize};

/// The endpoints which the crate leaves its callers to read (RFC 8414 §2).
#[derive(Clone, Debug, Deserialize, Serialize)]
struct OAuthEndpoints {
    introspection_endpoint: IntrospectionUrl,
    revocation_endpoint: RevocationUrl,
}

impl AdditionalProviderMetadata for OAuthEndpoints {}

type Metadata = ProviderMetadata<
    LogoutProviderMetadata<OAuthEndpoints>,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

pub(crate) type OpenIdClient =
    CoreClient<EndpointSet, EndpointNotSet, EndpointSet, EndpointSet, EndpointMaybeSet, EndpointMaybeSet>;

/// The discovered issuer.
pub(crate) struct Provider(Metadata);

impl Provider {
    pub(crate) async fn discover(http: &Client, issuer: &str) -> Self {
        let send = |request| send(http.clone(), request);
        let issuer = IssuerUrl::new(issuer.to_owned()).unwrap();
        Self(Metadata::discover_async(issuer, &send).await.unwrap())
    }

    pub(crate) fn end_session_endpoint(&self) -> EndSessionUrl {
        let logout = self.0.additional_metadata();
        logout.end_session_endpoint.clone().unwrap()
    }

    /// Returns the crate's client with all endpoints of the metadata.
    pub(crate) fn client(&self, credentials: &Credentials, redirect_uri: &str) -> OpenIdClient {
        let endpoints = self.0.additional_metadata().additional_metadata.clone();
        // The crate revokes tokens at https URLs only.
        let revocation = endpoints.revocation_endpoint.replacen("http://", "https://", 1);
        let id = ClientId::new(credentials.id.clone());
        let secret = ClientSecret::new(credentials.secret.clone());
        CoreClient::from_provider_metadata(self.0.clone(), id, Some(secret))
            .set_redirect_uri(RedirectUrl::new(redirect_uri.to_owned()).unwrap())
            .set_introspection_url(endpoints.introspection_endpoint)
            .set_revocation_url(RevocationUrl::new(revocation).unwrap())
    }
}
