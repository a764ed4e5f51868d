//! `/.well-known/oauth-authorization-server` (RFC 8414), `/.well-known/openid-configuration` (OpenID Connect
//! Discovery 1.0) and `/.well-known/jwks.json` (RFC 7517).

use crate::pages::LANGUAGES;
use crate::paths;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use foundation::{schema, scope};
use identity::authentication_methods::AuthenticationMethods;
use issuer::clients::ALGORITHMS;
use issuer::grants::interaction::PROMPTS;
use issuer::grants::{DEVICE_CODE, Grants, PushedRequestMode};
use issuer::registrations::{ClientRegistration, Registrations};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::Type;
use utoipa::openapi::schema::{ArrayBuilder, Object, ObjectBuilder};
use web::Context;

/// The ways in which clients authenticate, public ones first.
const CLIENT_AUTHENTICATION: [&str; 4] = [
    "none",
    "client_secret_basic",
    "client_secret_post",
    "private_key_jwt",
];

/// The grant types. The last one can be turned off.
const GRANT_TYPES: [&str; 4] = [
    "authorization_code",
    "refresh_token",
    "client_credentials",
    DEVICE_CODE,
];

/// The claims of ID tokens and of the UserInfo endpoint.
const CLAIMS: [&str; 14] = [
    "iss",
    "sub",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "acr",
    "amr",
    "at_hash",
    "sid",
    "updated_at",
    "email",
    "email_verified",
];

/// The metadata of the authorization server (RFC 8414 §2, OpenID Connect Discovery 1.0 §3, OpenID Connect
/// RP-Initiated Logout 1.0 §2.1, OpenID Connect Back-Channel Logout 1.0 §2.1, RFC 9126 §5, RFC 9449 §5.1, RFC
/// 8628 §4, RFC 9728 §4). A member is `false` where its absence would mean `true`.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssuerMetadata<'a> {
    issuer: &'a str,
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: String,
    introspection_endpoint: String,
    jwks_uri: String,
    scopes_supported: Vec<&'static str>,
    response_types_supported: &'a [&'static str],
    response_modes_supported: &'a [&'static str],
    grant_types_supported: &'a [&'static str],
    token_endpoint_auth_methods_supported: &'a [&'static str],
    token_endpoint_auth_signing_alg_values_supported: &'a [&'static str],
    revocation_endpoint_auth_methods_supported: &'a [&'static str],
    revocation_endpoint_auth_signing_alg_values_supported: &'a [&'static str],
    introspection_endpoint_auth_methods_supported: &'a [&'static str],
    introspection_endpoint_auth_signing_alg_values_supported: &'a [&'static str],
    introspection_signing_alg_values_supported: &'a [&'static str],
    code_challenge_methods_supported: &'a [&'static str],
    prompt_values_supported: &'a [&'static str],
    ui_locales_supported: &'a [&'static str],
    authorization_response_iss_parameter_supported: bool,
    userinfo_endpoint: String,
    end_session_endpoint: String,
    subject_types_supported: &'a [&'static str],
    id_token_signing_alg_values_supported: &'a [&'static str],
    userinfo_signing_alg_values_supported: &'a [&'static str],
    acr_values_supported: &'a [&'static str],
    claims_supported: &'a [&'static str],
    claim_types_supported: &'a [&'static str],
    claims_parameter_supported: bool,
    request_parameter_supported: bool,
    request_uri_parameter_supported: bool,
    backchannel_logout_supported: bool,
    backchannel_logout_session_supported: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pushed_authorization_request_endpoint: Option<String>,
    require_pushed_authorization_requests: bool,
    /// The names of the API in `resource` (RFC 9728 §4). The first is the `aud` of access tokens.
    protected_resources: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    dpop_signing_alg_values_supported: Option<&'a [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    device_authorization_endpoint: Option<String>,
    /// Absent if clients cannot register themselves (RFC 7591).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    registration_endpoint: Option<String>,
    /// Present and `true` if clients may describe themselves (draft-ietf-oauth-client-id-metadata-document).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    client_id_metadata_document_supported: bool,
}

/// The schema of a JWK set (RFC 7517 §5). The JSON itself comes from the keyring, which serializes it once
/// per change.
pub(crate) struct JwkSet;

schema! {
    JwkSet = ObjectBuilder::new()
        .property("keys", ArrayBuilder::new().items(jwk()))
        .required("keys");
}

/// A public RSA key (RFC 7518 §6.3.1).
fn jwk() -> Object {
    ["kty", "use", "alg", "kid", "n", "e"]
        .into_iter()
        .fold(ObjectBuilder::new(), |jwk, member| {
            jwk.property(member, ObjectBuilder::new().schema_type(Type::String))
                .required(member)
        })
        .build()
}

/// Read the issuer's metadata
///
/// The authorization server metadata (RFC 8414), from which client libraries configure themselves.
#[utoipa::path(
    get, path = "/.well-known/oauth-authorization-server", operation_id = "readIssuerMetadata", tag = "Discovery",
    responses((status = 200, description = "The metadata.", body = IssuerMetadata, headers(("Cache-Control"))))
)]
pub(crate) async fn metadata(
    State(grants): State<Arc<Grants>>,
    State(registrations): State<Arc<Registrations>>,
) -> impl IntoResponse {
    metadata_of(&grants, registrations.policy)
}

/// Read the issuer's configuration
///
/// The same metadata at the place where OpenID Connect clients look for it (OpenID Connect Discovery 1.0 §4).
#[utoipa::path(
    get, path = "/.well-known/openid-configuration", operation_id = "readOpenIdConfiguration", tag = "Discovery",
    responses((status = 200, description = "The metadata.", body = IssuerMetadata, headers(("Cache-Control"))))
)]
pub(crate) async fn openid_configuration(
    State(grants): State<Arc<Grants>>,
    State(registrations): State<Arc<Registrations>>,
) -> impl IntoResponse {
    metadata_of(&grants, registrations.policy)
}

fn metadata_of(grants: &Grants, registration: ClientRegistration) -> Response {
    let issuer = &grants.issuer;
    let has_devices = grants.device_authorization.is_some();
    let metadata = Json(IssuerMetadata {
        issuer,
        authorization_endpoint: format!("{issuer}/authorize"),
        token_endpoint: format!("{issuer}/token"),
        revocation_endpoint: format!("{issuer}/revoke"),
        introspection_endpoint: format!("{issuer}/introspect"),
        jwks_uri: format!("{issuer}{}", paths::JWKS),
        scopes_supported: scope::ALL.into_iter().chain([scope::OFFLINE_ACCESS]).collect(),
        response_types_supported: &["code"],
        response_modes_supported: &["query"],
        grant_types_supported: match has_devices {
            true => &GRANT_TYPES,
            false => &GRANT_TYPES[..3],
        },
        token_endpoint_auth_methods_supported: &CLIENT_AUTHENTICATION,
        token_endpoint_auth_signing_alg_values_supported: &ALGORITHMS,
        revocation_endpoint_auth_methods_supported: &CLIENT_AUTHENTICATION,
        revocation_endpoint_auth_signing_alg_values_supported: &ALGORITHMS,
        // Not for public clients.
        introspection_endpoint_auth_methods_supported: &CLIENT_AUTHENTICATION[1..],
        introspection_endpoint_auth_signing_alg_values_supported: &ALGORITHMS,
        introspection_signing_alg_values_supported: &["RS256"],
        code_challenge_methods_supported: &["S256"],
        prompt_values_supported: &PROMPTS,
        ui_locales_supported: &LANGUAGES,
        authorization_response_iss_parameter_supported: true,
        userinfo_endpoint: format!("{issuer}{}", paths::USER_INFO),
        end_session_endpoint: format!("{issuer}{}", paths::SIGN_OUT),
        subject_types_supported: &["public"],
        id_token_signing_alg_values_supported: &["RS256"],
        userinfo_signing_alg_values_supported: &["RS256"],
        acr_values_supported: &AuthenticationMethods::ACR,
        claims_supported: &CLAIMS,
        claim_types_supported: &["normal"],
        claims_parameter_supported: false,
        request_parameter_supported: false,
        // This is about URIs that clients make, not about those of pushed requests.
        request_uri_parameter_supported: false,
        backchannel_logout_supported: true,
        backchannel_logout_session_supported: true,
        pushed_authorization_request_endpoint: grants
            .pushed_requests
            .is_on()
            .then(|| format!("{issuer}/par")),
        require_pushed_authorization_requests: grants.pushed_requests == PushedRequestMode::Required,
        protected_resources: grants.resources(),
        dpop_signing_alg_values_supported: grants.proofs.algorithms(),
        device_authorization_endpoint: has_devices.then(|| format!("{issuer}/device_authorization")),
        registration_endpoint: (registration != ClientRegistration::Off)
            .then(|| format!("{issuer}{}", paths::REGISTER)),
        client_id_metadata_document_supported: grants.documents.is_on(),
    });
    ([(header::CACHE_CONTROL, "public, max-age=3600")], metadata).into_response()
}

/// Read the public keys
///
/// The keys that verify access tokens (RFC 7517).
#[utoipa::path(
    get, path = paths::JWKS, operation_id = "readKeys", tag = "Discovery",
    params(("If-None-Match" = Option<String>, Header, description = "The entity tags of cached copies.")),
    responses(
        (status = 200, description = "The keys.", body = JwkSet, headers(("ETag"), ("Cache-Control"))),
        (status = 304, description = "The cached copy is current.", headers(("ETag"), ("Cache-Control"))),
    )
)]
pub(crate) async fn jwks(
    State(grants): State<Arc<Grants>>,
    Context(context): Context,
    request: Request,
) -> impl IntoResponse {
    let set = grants.keys.key_set();
    let revalidates = request.headers().contains_key(header::IF_NONE_MATCH);
    grants.key_set_fetches.add(&set, revalidates, &context);
    let max_age = match grants.keys.is_fresh() {
        true => grants.lifetimes.jwks_max_age.as_secs(),
        false => 0,
    };
    let common = [
        (header::CACHE_CONTROL, format!("public, max-age={max_age}")),
        (header::ETAG, set.etag().to_owned()),
    ];
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (common, content_type, set.jwks().to_owned())
}
