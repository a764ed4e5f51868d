//! Proofs of possession of a key: DPoP (RFC 9449).
//!
//! [`verify`] checks what a proof says about its request. [`Proofs`] also accepts each proof only once, among
//! all replicas, and gives nonces. Nothing here depends on the HTTP framework.

mod error;
mod key;
mod nonces;
mod proof;
mod proofs;
mod settings;
mod target;
#[cfg(test)]
mod test_keys;
mod used_proofs;

pub use error::Error;
pub use key::{ALGORITHMS, is_thumbprint};
pub use proof::{Proof, ProvenRequest, verify};
pub use proofs::{Accepted, Proofs};
pub use settings::{DpopMode, DpopSettings};
