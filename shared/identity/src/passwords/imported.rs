//! bcrypt hashes that were imported from another service. The right password at a sign-in replaces them by
//! Argon2id hashes.

use argon2::password_hash::{Error, Result};
use bcrypt::HashParts;
use foundation::secret::Secret;

/// The highest accepted cost. Each step doubles the time, and a hash of cost 14 occupies a permit for about a
/// second.
const MAX_COST: u32 = 14;
/// The number of bytes of a password that bcrypt reads.
pub(super) const MAX_BYTES: usize = 72;
/// The prefixes of the accepted bcrypt versions.
const PREFIXES: [&str; 3] = ["$2a$", "$2b$", "$2y$"];

/// Returns whether a stored hash is a bcrypt hash.
pub(super) fn is_bcrypt_hash(stored: &str) -> bool {
    PREFIXES.iter().any(|prefix| stored.starts_with(prefix))
}

/// Returns `hash` if it is a bcrypt hash of cost 4 to 14 that can be imported. The error text continues a
/// sentence that begins with the name of the hash.
pub fn parse_imported_hash(hash: &str) -> std::result::Result<Secret, String> {
    let parts: Option<HashParts> = hash.parse().ok().filter(|_| is_bcrypt_hash(hash));
    match parts.map(|parts| parts.get_cost()) {
        Some(4..=MAX_COST) => Ok(Secret::new(hash)),
        Some(_) => Err(format!("has a bcrypt cost that is not between 4 and {MAX_COST}")),
        None => Err("is not a bcrypt hash ($2a$, $2b$ or $2y$)".to_owned()),
    }
}

/// Returns the cost of a stored bcrypt hash. Fails if the hash is malformed.
pub(super) fn cost(stored: &str) -> Result<u32> {
    let parts: HashParts = stored.parse().map_err(|_| Error::Algorithm)?;
    Ok(parts.get_cost())
}

/// Computes a bcrypt hash of the password and discards it. Fails if the cost is out of range.
pub(super) fn compute(password: &str, cost: u32, salt: [u8; 16]) -> Result<()> {
    let computed = bcrypt::hash_with_salt(password, cost, salt);
    computed.map(drop).map_err(|_| Error::Algorithm)
}

/// Returns whether the password matches the stored bcrypt hash; bcrypt reads the first [`MAX_BYTES`] of a
/// password only. Fails if the hash is malformed or its cost is out of range.
pub(super) fn verify(password: &str, stored: &str) -> Result<bool> {
    let stored = parse_imported_hash(stored).map_err(|_| Error::Algorithm)?;
    bcrypt::verify(password, stored.expose()).map_err(|_| Error::Algorithm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of "correct horse battery staple", computed by crypt(3).
    const HASH: &str = "$2b$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG";

    #[test]
    fn imported_hashes_are_verified() {
        for version in PREFIXES {
            let stored = parse_imported_hash(&HASH.replacen("$2b$", version, 1)).unwrap();
            let stored = stored.expose();
            assert!(
                verify("correct horse battery staple", stored).unwrap(),
                "{version}"
            );
            assert!(
                !verify("correct horse battery stapler", stored).unwrap(),
                "{version}"
            );
        }
    }

    #[test]
    fn other_hashes_and_high_costs_are_refused() {
        for hash in [
            "",
            "correct horse",
            &HASH[..59],
            &HASH.replacen("$04$", "$15$", 1),
            &HASH.replacen("$04$", "$03$", 1),
            &HASH.replacen("$2b$", "$2x$", 1),
            "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
        ] {
            assert!(parse_imported_hash(hash).is_err(), "{hash}");
        }
    }
}
