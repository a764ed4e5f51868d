//! Passwords: chosen with care, and hashed by Argon2id off the async threads, under a permit that the hashing task owns.

mod common;
mod imported;

pub use imported::read as imported;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use foundation::schema;
use foundation::schema::WITHOUT_NUL;
use foundation::secret::Secret;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use unicode_normalization::UnicodeNormalization as _;
use utoipa::openapi::Object;

/// The longest password, in characters.
pub const MAX_LENGTH: usize = 128;
/// The least that a new password may ever be told to have, in characters.
pub const MIN_LENGTH: usize = 8;
/// How long a request waits for a permit before it is shed.
const PATIENCE: Duration = Duration::from_secs(1);

foundation::schema! {
    Password = schema::text(0, MAX_LENGTH, WITHOUT_NUL, "A password of 128 characters at most, counted in NFC.");
}

/// A password to be, in the document: what [`Passwords::choose`] accepts unless a setting asks for more.
pub fn new_password() -> Object {
    schema::text(
        MIN_LENGTH,
        MAX_LENGTH,
        WITHOUT_NUL,
        "At least 8 characters, counted in NFC.",
    )
}

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
    memories: Arc<Mutex<Vec<Vec<Block>>>>,
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
            memories: Arc::default(),
            min_length: policy.min_length,
        })
    }

    /// A new password: between the least length and [`MAX_LENGTH`] characters, none of those that are tried
    /// first, no rule of composition. Where the account's e-mail is known: [`choose_for`](Self::choose_for).
    pub fn choose(&self, text: &str) -> Result<Password, String> {
        self.choose_for(text, "")
    }

    /// A new password of the account with this e-mail, which is no password of it either.
    pub fn choose_for(&self, text: &str, email: &str) -> Result<Password, String> {
        let password = Password::attempt(text)?;
        if password.0.chars().count() < self.min_length {
            return Err(format!("is shorter than {} characters", self.min_length));
        }
        if common::is_common(&password.0, email) {
            return Err(
                "is one of those that are tried first: choose one that is harder to guess".to_owned(),
            );
        }
        Ok(password)
    }

    /// A random password, as long as a new one must be and 128 bits at least.
    pub fn one_time(&self) -> Secret {
        let mut text = foundation::random::id();
        while text.len() < self.min_length {
            text.push_str(&foundation::random::id());
        }
        Secret::new(text)
    }

    /// The PHC string of a password, with a salt of its own.
    pub async fn hash(&self, password: Password) -> Result<String, Error> {
        let params = self.params.clone();
        self.run(move |memory| {
            let salt: [u8; 16] = foundation::random::bytes();
            let mut output = [0; Params::DEFAULT_OUTPUT_LEN];
            compute(&params, &password, &salt, &mut output, memory)?;
            let hash = PasswordHash {
                algorithm: Algorithm::Argon2id.ident(),
                version: Some(Version::V0x13.into()),
                params: ParamsString::try_from(&params)?,
                salt: Some(Salt::new(&salt)?),
                hash: Some(Output::new(&output)?),
            };
            Ok(hash.to_string())
        })
        .await
    }

    /// Another hash of a password that was just verified, if the stored one cost less than new ones do or was
    /// imported. `None` also where none can be computed now: a later sign-in will do it.
    pub async fn renew(&self, password: Password, stored: &str) -> Option<String> {
        if imported::is_one(stored) {
            return self.hash(password).await.ok();
        }
        let stored = Params::try_from(&PasswordHash::new(stored).ok()?).ok()?;
        let was_cheaper = stored.m_cost() < self.params.m_cost() || stored.t_cost() < self.params.t_cost();
        match was_cheaper {
            true => self.hash(password).await.ok(),
            false => None,
        }
    }

    /// Whether the password is that of `stored`. With nothing stored the same work is done and the
    /// answer is no: an unknown e-mail takes as long as a wrong password.
    pub async fn verify(&self, password: Password, stored: Option<String>) -> Result<bool, Error> {
        let params = self.params.clone();
        self.run(move |memory| {
            let Some(stored) = stored else {
                compute(
                    &params,
                    &password,
                    &[0; 16],
                    &mut [0; Params::DEFAULT_OUTPUT_LEN],
                    memory,
                )?;
                return Ok(false);
            };
            if imported::is_one(&stored) {
                return imported::verify(&password.0, &stored);
            }
            let stored = PasswordHash::new(&stored)?;
            let (Some(salt), Some(expected)) = (&stored.salt, &stored.hash) else {
                return Ok(false);
            };
            if stored.algorithm != Algorithm::Argon2id.ident() {
                return Err(argon2::password_hash::Error::Algorithm);
            }
            let mut output = vec![0; expected.len()];
            compute(&Params::try_from(&stored)?, &password, salt, &mut output, memory)?;
            Ok(foundation::secret::equal(&output, expected.as_ref()))
        })
        .await
    }

    /// Runs a hash on a blocking thread. The permit moves into it: a caller that goes away does not free
    /// a permit whose hash is still being computed. The memory goes back for the next one: there are as
    /// many as permits, and none is left to the allocator of a thread.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Vec<Block>) -> argon2::password_hash::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let permit: OwnedSemaphorePermit =
            tokio::time::timeout(PATIENCE, Arc::clone(&self.permits).acquire_owned())
                .await
                .map_err(|_| Error::Overloaded)?
                .map_err(|closed| Error::Failed(closed.to_string()))?;
        let memories = Arc::clone(&self.memories);
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut memory = lock(&memories).pop().unwrap_or_default();
            let done = work(&mut memory);
            lock(&memories).push(memory);
            done
        });
        done.await
            .map_err(|panicked| Error::Failed(panicked.to_string()))?
            .map_err(|error| Error::Failed(error.to_string()))
    }
}

/// A panic while the lock was held leaves a list of memories all the same.
fn lock(memories: &Mutex<Vec<Vec<Block>>>) -> MutexGuard<'_, Vec<Vec<Block>>> {
    memories.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Argon2id (RFC 9106) in the given memory.
fn compute(
    params: &Params,
    password: &Password,
    salt: &[u8],
    output: &mut [u8],
    memory: &mut Vec<Block>,
) -> argon2::password_hash::Result<()> {
    memory.resize(params.block_count(), Block::default());
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
    argon2.hash_password_into_with_memory(password.0.as_bytes(), salt, output, memory)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_verified_by_its_own_hash_alone() {
        let policy = Policy {
            memory_kib: 19_456,
            passes: 2,
            permits: 1,
            min_length: 8,
        };
        let passwords = Passwords::new(policy).unwrap();
        let password = |text: &str| Password::attempt(text).unwrap();
        let stored = passwords.hash(password("caf\u{e9} 12345")).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        let verify =
            |text: &str, stored: Option<&str>| passwords.verify(password(text), stored.map(str::to_owned));
        assert!(verify("cafe\u{301} 12345", Some(&stored)).await.unwrap(), "NFC");
        assert!(!verify("cafe 12345", Some(&stored)).await.unwrap());
        assert!(!verify("caf\u{e9} 12345", None).await.unwrap());
        assert_eq!(passwords.memories.lock().unwrap().len(), 1, "one memory a permit");
        // The crate's own verifier agrees with what is stored.
        use argon2::password_hash::PasswordVerifier as _;
        let hash = PasswordHash::new(&stored).unwrap();
        assert!(
            Argon2::default()
                .verify_password("caf\u{e9} 12345".as_bytes(), &hash)
                .is_ok()
        );
    }
}
