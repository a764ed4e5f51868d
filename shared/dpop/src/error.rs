//! The errors of proofs.

/// The reason why a proof was not accepted. The messages address the developer of the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `invalid_dpop_proof`: the proof failed a check, or was used before (RFC 9449 §4.3).
    #[error("The DPoP proof is not accepted: {0}.")]
    Invalid(&'static str),
    /// The proof is valid, but for another key than the one that the access token is bound to (RFC 9449
    /// §7.1).
    #[error("The DPoP proof was signed with another key than the one that the access token is bound to.")]
    OtherKey,
    /// `use_dpop_nonce`: the proof needs this nonce (RFC 9449 §8, §9).
    #[error("Repeat the request with a DPoP proof that has the nonce of the header DPoP-Nonce.")]
    UseNonce(String),
    /// Proofs are switched off, so no bound token is accepted.
    #[error("DPoP is switched off at this server. Sign in again for a token that is not bound to a key.")]
    Off,
    /// This process remembers so many used proofs that it cannot remember another one, so it accepts none.
    #[error("Too many DPoP proofs were used at this server in a minute. Try again in a moment.")]
    Full,
}

/// Fails with [`Error::Invalid`] and this reason unless the condition holds.
pub(crate) fn ensure(condition: bool, reason: &'static str) -> Result<(), Error> {
    condition.then_some(()).ok_or(Error::Invalid(reason))
}
