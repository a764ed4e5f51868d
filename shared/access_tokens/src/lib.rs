//! Verification of JWT access tokens (RFC 9068) with the keys that the issuer publishes: the API fetches
//! them, and the issuer has them in memory. Nothing here depends on the HTTP framework.

mod claims;
mod error;
mod issuer_metadata;
mod jwks;
mod member;
mod verifier;
pub mod verifiers;

pub use error::Error;
pub use issuer_metadata::SharedSettings;
pub use jwks::{Jwks, KeySet};
pub use verifier::{PublicKeys, Subject, Token, Verifier};

/// Returns every SQL statement of this crate with its name, for the test that prepares each on both engines.
pub fn statements() -> Vec<(String, String)> {
    storage::named_statements([verifiers::STATEMENTS]).collect()
}
