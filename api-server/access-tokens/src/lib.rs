//! Verification of JWT access tokens (RFC 9068) with the keys that the issuer publishes. Nothing here depends on the
//! HTTP framework.

mod claims;
mod error;
mod jwks;
mod member;
mod verifier;

pub use error::Error;
pub use jwks::Jwks;
pub use verifier::{Subject, Token, Verifier};
