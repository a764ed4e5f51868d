//! The setting of proofs.

use clap::{Args, ValueEnum};

/// The use of proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DpopMode {
    /// No token is bound to a key, and no bound token is accepted.
    Off,
    /// Proofs bind tokens. Those at a process that cannot reach a Redis, which would make them single-use
    /// among all replicas, need a nonce.
    On,
    /// Proofs bind tokens, and all of them need a nonce.
    Nonces,
}

/// The setting of DPoP proofs.
#[derive(Args, Clone, Debug)]
pub struct DpopSettings {
    /// Whether DPoP proofs bind tokens to keys (RFC 9449): `nonces` means that each proof needs a nonce of
    /// the server, and not only those at a process without Redis, or whose Redis does not answer.
    #[arg(
        long,
        env = "LATCHKEY_DPOP",
        global = true,
        default_value = "on",
        value_name = "MODE"
    )]
    pub dpop: DpopMode,
}
