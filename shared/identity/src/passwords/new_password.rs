//! Passwords that administrators and the first start set.

use super::{Error, Password, Passwords};
use foundation::secret::Secret;

/// A password to set.
#[derive(Clone, Debug)]
pub enum NewPassword {
    /// A given password.
    Chosen(Password),
    /// The bcrypt hash of a password of another service, as
    /// [`parse_imported_hash`](super::parse_imported_hash) returned it.
    Imported(Secret),
    /// An initial password to generate, which the user must replace at the first sign-in.
    Generated,
}

/// A hashed password to store.
#[derive(Clone, Debug)]
pub struct HashedPassword {
    /// The hash: a PHC string, or an imported bcrypt hash.
    pub hash: Secret,
    /// Whether the user must choose another password before doing anything else.
    pub change_required: bool,
}

impl NewPassword {
    /// Hashes the password. Returns its hash, and the password itself if it was generated.
    pub async fn hash(self, passwords: &Passwords) -> Result<(HashedPassword, Option<Secret>), Error> {
        let hash = match self {
            Self::Chosen(password) => Secret::new(passwords.hash(password).await?),
            Self::Imported(hash) => hash,
            Self::Generated => {
                let (password, generated) = passwords.generate().await?;
                return Ok((password, Some(generated)));
            }
        };
        let hashed = HashedPassword {
            hash,
            change_required: false,
        };
        Ok((hashed, None))
    }
}

impl Passwords {
    /// Generates an initial password, which the user must replace at the first sign-in. Returns its hash and
    /// the password.
    pub async fn generate(&self) -> Result<(HashedPassword, Secret), Error> {
        let mut text = foundation::random::id();
        while text.len() < self.min_length {
            text.push_str(&foundation::random::id());
        }
        let password =
            Password::parse(&text).map_err(|flaw| Error::Failed(format!("the password {flaw}")))?;
        let hashed = HashedPassword {
            hash: Secret::new(self.hash(password).await?),
            change_required: true,
        };
        Ok((hashed, Secret::new(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_contains_no_hash() {
        let hash = Secret::new("$argon2id$v=19$m=8,t=1,p=1$c2FsdA$aGFzaA");
        let hashed = HashedPassword {
            hash: hash.clone(),
            change_required: false,
        };
        for text in [
            format!("{hashed:?}"),
            format!("{:?}", NewPassword::Imported(hash)),
        ] {
            assert!(!text.contains("argon2id"), "{text}");
        }
    }
}
