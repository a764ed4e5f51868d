//! OAuth 2.0: the authorization and token endpoints, tokens, signing keys, registered clients.

mod administration;
mod authorization_endpoint;
pub(crate) mod bearer_tokens;
mod chromium_flow;
mod client_library;
mod clients;
mod consent;
mod interaction;
mod introspection;
mod jwks;
mod malformed_token_requests;
mod openid_connect;
mod oxide_auth;
mod pkce;
mod redirect_uris;
mod refresh_cookies;
mod refresh_retries;
mod refresh_tokens;
mod resource_indicators;
pub(crate) mod revocation;
mod revocation_cascade;
mod signing_keys;
mod single_use;
mod token_endpoint;
mod token_model;
mod token_revocation;
