//! Verification of JWT access tokens (RFC 9068) with the keys that the issuer publishes: the API fetches them, and the issuer
//! has them in memory. Nothing here depends on the HTTP framework.

mod claims;
mod error;
mod issuer_metadata;
mod jwks;
mod member;
mod verifier;

pub use error::Error;
pub use issuer_metadata::ApiSettings;
pub use jwks::{Jwks, KeySet};
pub use verifier::{PublicKeys, Subject, Token, Verifier};
