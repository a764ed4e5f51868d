//! The protected resource metadata (RFC 9728 §2).

use foundation::scope;
use serde::Serialize;
use utoipa::ToSchema;
use web::Policy;

/// The path of the metadata below the base URL (RFC 9728 §3).
pub(crate) const PATH: &str = "/.well-known/oauth-protected-resource";

/// The metadata that a client needs to call this API with an access token.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResourceMetadata)]
pub(crate) struct Metadata {
    /// The resource identifier.
    #[schema(format = "uri")]
    resource: String,
    /// The issuer whose tokens are accepted.
    #[schema(value_type = Vec<String>)]
    authorization_servers: [String; 1],
    /// All scopes that this API knows.
    #[schema(value_type = Vec<String>)]
    scopes_supported: &'static [&'static str],
    /// The methods of sending a token (RFC 6750 §2): in the `Authorization` header only.
    #[schema(value_type = Vec<String>)]
    bearer_methods_supported: [&'static str; 1],
}

impl Metadata {
    /// Returns the metadata of the API at the policy's base URL, with this issuer.
    pub(crate) fn new(policy: &Policy, issuer: &str) -> Self {
        Self {
            resource: policy.url(""),
            authorization_servers: [issuer.to_owned()],
            scopes_supported: scope::OF_API,
            bearer_methods_supported: ["header"],
        }
    }
}
