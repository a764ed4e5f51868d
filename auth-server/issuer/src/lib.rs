//! The domain of the issuer: clients, authorization requests, grants (RFC 6749), refresh tokens and signing
//! keys. It contains the SQL of codes and keys, and uses no HTTP framework.

pub mod backchannel_logout;
pub mod clients;
pub mod codes;
pub mod device_requests;
pub mod figures;
pub mod flows;
pub mod grants;
pub mod keys;
pub mod long_requests;
pub mod params;
pub mod pkce;
pub mod posted_requests;
pub mod pushed_requests;
pub mod refresh_tokens;
pub mod registrations;
pub mod token_error;

/// Returns every SQL statement of this crate with its name, for the test that prepares them.
pub fn statements() -> Vec<(String, String)> {
    let constant = storage::named_statements([
        codes::STATEMENTS,
        codes::EXCHANGE_STATEMENTS,
        clients::assertions::STATEMENTS,
        device_requests::STATEMENTS,
        flows::STATEMENTS,
        clients::documents::snapshots::STATEMENTS,
        keys::installation_secret::STATEMENTS,
        keys::life::STATEMENTS,
        keys::TABLE_STATEMENTS,
        long_requests::STATEMENTS,
        pushed_requests::STATEMENTS,
        registrations::initial_tokens::STATEMENTS,
    ]);
    constant
        .chain(keys::list::statements())
        .chain(registrations::initial_tokens::list::statements())
        .collect()
}
