//! The protected resource metadata (RFC 9728 §2).

use dpop::Proofs;
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
    pub(crate) resource: String,
    /// The issuer whose tokens are accepted.
    #[schema(value_type = Vec<String>)]
    authorization_servers: [String; 1],
    /// The scopes that a client asks for if nothing else tells it what it needs. The 401 response of each
    /// route names the scope of that route.
    scopes_supported: Vec<&'static str>,
    /// The methods of sending a token (RFC 6750 §2): in the `Authorization` header only.
    #[schema(value_type = Vec<String>)]
    bearer_methods_supported: [&'static str; 1],
    /// The algorithms of DPoP proofs (RFC 9449 §5.1). Absent if no token is bound to a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>, required = false)]
    dpop_signing_alg_values_supported: Option<&'static [&'static str]>,
    /// Whether every access token must be bound to a key. Some clients have bearer tokens.
    dpop_bound_access_tokens_required: bool,
}

impl Metadata {
    /// Returns the metadata of the API at the policy's base URL, with this issuer and these proofs.
    pub(crate) fn new(policy: &Policy, issuer: &str, proofs: &Proofs) -> Self {
        Self {
            resource: policy.url(""),
            authorization_servers: [issuer.to_owned()],
            scopes_supported: scope::DEFAULT.split(' ').collect(),
            bearer_methods_supported: ["header"],
            dpop_signing_alg_values_supported: proofs.algorithms(),
            dpop_bound_access_tokens_required: false,
        }
    }
}
