//! bcrypt hashes that another service kept: verified as they are, and replaced at the next sign-in.

use argon2::password_hash::{Error, Result};
use bcrypt::HashParts;

/// A hash that costs more would hold a permit for too long: each step doubles, and 14 take about a second.
const MAX_COST: u32 = 14;
const PREFIXES: [&str; 3] = ["$2a$", "$2b$", "$2y$"];

/// Whether a stored hash is one of these.
pub(super) fn is_one(stored: &str) -> bool {
    PREFIXES.iter().any(|prefix| stored.starts_with(prefix))
}

/// A hash to be stored, if it is a bcrypt one of a cost that sign-ins can bear; else what is wrong with it.
pub fn read(hash: &str) -> std::result::Result<String, String> {
    let parts: Option<HashParts> = hash.parse().ok().filter(|_| is_one(hash));
    match parts.map(|parts| parts.get_cost()) {
        Some(4..=MAX_COST) => Ok(hash.to_owned()),
        Some(_) => Err(format!("the hash has another cost than 4 to {MAX_COST}")),
        None => Err("this is no bcrypt hash ($2a$, $2b$ or $2y$)".to_owned()),
    }
}

/// Whether the password is that of the hash. bcrypt looks at 72 bytes of it; the hash that follows, at all.
pub(super) fn verify(password: &str, stored: &str) -> Result<bool> {
    let stored = read(stored).map_err(|_| Error::Algorithm)?;
    bcrypt::verify(password, &stored).map_err(|_| Error::Algorithm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of "correct horse battery staple", by crypt(3).
    const HASH: &str = "$2b$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG";

    #[test]
    fn a_hash_of_another_service_is_verified() {
        for version in PREFIXES {
            let stored = read(&HASH.replacen("$2b$", version, 1)).unwrap();
            assert!(
                verify("correct horse battery staple", &stored).unwrap(),
                "{version}"
            );
            assert!(
                !verify("correct horse battery stapler", &stored).unwrap(),
                "{version}"
            );
        }
    }

    #[test]
    fn what_is_none_or_costs_too_much_is_refused() {
        for hash in [
            "",
            "correct horse",
            &HASH[..59],
            &HASH.replacen("$04$", "$15$", 1),
            &HASH.replacen("$04$", "$03$", 1),
            &HASH.replacen("$2b$", "$2x$", 1),
            "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
        ] {
            assert!(read(hash).is_err(), "{hash}");
        }
    }
}
