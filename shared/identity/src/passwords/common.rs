//! The check for common passwords (NIST SP 800-63B §3.1.1.2): leaked ones, dictionary words, sequences of keys and
//! digits, and words from the account's e-mail.

use zxcvbn::zxcvbn;

/// The smallest acceptable number of guesses: the size of zxcvbn's list of common passwords.
const MIN_GUESSES: u64 = 30_000;
/// The maximum length of a checked password, in characters. Longer ones count as uncommon. The estimate takes a
/// millisecond or two at this length, and its cost grows faster than the length.
const MAX_CHECKED_LENGTH: usize = 40;
/// The name of this product, which is easy to guess.
const PRODUCT: &str = "latchkey";

/// Returns whether an attacker who knows the account's e-mail would need fewer than [`MIN_GUESSES`] guesses. `email` is
/// empty if it is unknown.
pub(super) fn is_common(password: &str, email: &str) -> bool {
    if password.chars().count() > MAX_CHECKED_LENGTH {
        return false;
    }
    let (local, domain) = email.rsplit_once('@').unwrap_or((email, ""));
    let related: Vec<&str> = [email, local, domain, PRODUCT]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    zxcvbn(password, &related).guesses() < MIN_GUESSES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_passwords_are_recognized_and_others_are_not() {
        let email = "annabelle.lee@example.org";
        for password in [
            "password",
            "Password1",
            "P4ssw0rd",
            "12345678",
            "qwertyuiop",
            "iloveyou2",
            "abcdefgh",
            "aaaaaaaaaaaa",
            "elephant",
            "latchkey",
            "LATCHKEY1",
            "annabelle.lee",
            "Annabelle.Lee@Example.org",
        ] {
            assert!(is_common(password, email), "{password}");
        }
        for password in [
            "correct horse",
            "a new good password",
            "my dog ate it",
            "x9f3kq2z",
            "\u{1f9a9} in the garden",
        ] {
            assert!(!is_common(password, email), "{password}");
        }
    }
}
