//! The domain of the issuer: clients, authorization requests, grants (RFC 6749), refresh tokens and signing
//! keys. It contains the SQL of codes and keys, and uses no HTTP framework.

pub mod backchannel_logout;
pub mod clients;
pub mod codes;
pub mod flows;
pub mod grants;
pub mod keys;
pub mod params;
pub mod pkce;
pub mod refresh_tokens;
pub mod token_error;

/// Returns every SQL statement of this crate with its name, for the test that prepares them.
pub fn statements() -> Vec<(&'static str, &'static str)> {
    [
        &codes::statements(),
        clients::assertions::STATEMENTS,
        &keys::statements(),
    ]
    .concat()
}
