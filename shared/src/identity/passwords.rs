//! Passwords: Argon2id off the async threads, under a permit that the hashing task owns.

use crate::secret::Secret;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use unicode_normalization::UnicodeNormalization as _;

/// The longest password, in characters.
pub const MAX_LENGTH: usize = 128;
/// How long a request waits for a permit before it is shed.
const PATIENCE: Duration = Duration::from_secs(1);

/// A password as typed: NFC, at most [`MAX_LENGTH`] characters. Not printed.
#[derive(Clone)]
pub struct Password(String);

/// Costs and limits of hashing.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Argon2's memory, in KiB.
    pub memory_kib: u32,
    /// Argon2's passes.
    pub passes: u32,
    /// Hashes computed at once.
    pub permits: usize,
    /// The shortest new password, in characters.
    pub min_length: usize,
}

/// Hashes and verifies. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Passwords {
    params: Params,
    permits: Arc<Semaphore>,
    min_length: usize,
}

/// Why no hash was computed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// As many hashes as permitted are being computed; try again in a moment.
    #[error("too many passwords are being checked at once")]
    Overloaded,
    /// A stored hash that is none, or parameters out of range.
    #[error("password hashing failed: {0}")]
    Failed(String),
}

impl Password {
    /// A password someone signs in with: any, of at most [`MAX_LENGTH`] characters.
    pub fn attempt(text: &str) -> Result<Self, &'static str> {
        // Cheap first: no text of 128 characters has more bytes, so a megabyte is never normalised.
        if text.len() > 4 * 4 * MAX_LENGTH {
            return Err("is longer than 128 characters");
        }
        let text: String = text.nfc().collect();
        if text.chars().count() > MAX_LENGTH {
            return Err("is longer than 128 characters");
        }
        Ok(Self(text))
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(…)")
    }
}

impl Passwords {
    /// Fails if Argon2 refuses the costs.
    pub fn new(policy: Policy) -> Result<Self, Error> {
        let params = Params::new(policy.memory_kib, policy.passes, 1, None)
            .map_err(|error| Error::Failed(error.to_string()))?;
        Ok(Self {
            params,
            permits: Arc::new(Semaphore::new(policy.permits.max(1))),
            min_length: policy.min_length,
        })
    }

    /// A new password: between the least length and [`MAX_LENGTH`] characters, no rule of composition.
    pub fn choose(&self, text: &str) -> Result<Password, String> {
        let password = Password::attempt(text)?;
        if password.0.chars().count() < self.min_length {
            return Err(format!("is shorter than {} characters", self.min_length));
        }
        Ok(password)
    }

    /// A random password, as long as a new one must be and 128 bits at least.
    pub fn one_time(&self) -> Secret {
        let mut text = crate::random::id();
        while text.len() < self.min_length {
            text.push_str(&crate::random::id());
        }
        Secret::new(text)
    }

    /// The PHC string of a password, with a salt of its own.
    pub async fn hash(&self, password: Password) -> Result<String, Error> {
        let argon2 = self.argon2();
        self.run(move || {
            let salt: [u8; 16] = crate::random::bytes();
            argon2
                .hash_password_with_salt(password.0.as_bytes(), &salt)
                .map(|hash| hash.to_string())
        })
        .await
    }

    /// Whether the password is that of `stored`. With nothing stored the same work is done and the
    /// answer is no: an unknown e-mail takes as long as a wrong password.
    pub async fn verify(&self, password: Password, stored: Option<String>) -> Result<bool, Error> {
        let argon2 = self.argon2();
        self.run(move || match stored {
            Some(stored) => {
                let stored = PasswordHash::new(&stored)?;
                match argon2.verify_password(password.0.as_bytes(), &stored) {
                    Ok(()) => Ok(true),
                    Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
                    Err(error) => Err(error),
                }
            }
            None => argon2
                .hash_password_with_salt(password.0.as_bytes(), &[0; 16])
                .map(|_| false),
        })
        .await
    }

    fn argon2(&self) -> Argon2<'static> {
        Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params.clone())
    }

    /// Runs a hash on a blocking thread. The permit moves into it: a caller that goes away does not free
    /// a permit whose hash is still being computed.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, argon2::password_hash::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let permit: OwnedSemaphorePermit =
            tokio::time::timeout(PATIENCE, Arc::clone(&self.permits).acquire_owned())
                .await
                .map_err(|_| Error::Overloaded)?
                .map_err(|closed| Error::Failed(closed.to_string()))?;
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
        .map_err(|panicked| Error::Failed(panicked.to_string()))?
        .map_err(|error| Error::Failed(error.to_string()))
    }
}
