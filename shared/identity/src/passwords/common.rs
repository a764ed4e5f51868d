//! Passwords that are tried first (NIST SP 800-63B §3.1.1.2): common ones, dictionary words, rows of keys and digits,
//! and what is known of the account.

use zxcvbn::zxcvbn;

/// What a password is refused below, in guesses: as many as the list of common passwords has.
const GUESSES: u64 = 30_000;
/// Nothing longer is that common. The estimate's cost grows faster than the length; of so many characters it is a
/// millisecond or two.
const LONGEST: usize = 40;
/// What this program is called.
const PRODUCT: &str = "latchkey";

/// Whether it is among the first that somebody would try who knows the account's e-mail.
pub(super) fn is_common(password: &str, email: &str) -> bool {
    if password.chars().count() > LONGEST {
        return false;
    }
    let (local, domain) = email.rsplit_once('@').unwrap_or((email, ""));
    let known: Vec<&str> = [email, local, domain, PRODUCT]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    zxcvbn(password, &known).guesses() < GUESSES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_first_is_refused_and_nothing_else() {
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
