//! Passwords: hashing by Argon2id (RFC 9106) on threads of their own with limited concurrency.

mod block_list;
mod imported;
mod new_password;
mod password;
mod rules;
mod threads;
mod verification;

pub use imported::parse_imported_hash;
pub use new_password::{HashedPassword, NewPassword};
pub use password::{Password, PasswordFlaw};
pub use rules::new_password_schema;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use audit::figures::{COUNTERS, Figure, Timing};
use block_list::BlockList;
use foundation::time_limits;
use std::sync::Arc;
use std::time::{Duration, Instant};
use threads::HashingThreads;
use tokio::sync::{Semaphore, oneshot};
use verification::Verification;

/// The maximum length of a password, in characters.
pub const MAX_LENGTH: usize = 128;
/// The smallest minimum length of new passwords that can be configured, in characters.
pub const MIN_LENGTH: usize = 8;
/// The longest time that a request waits for a hashing permit, which the factor of [`time_limits`]
/// multiplies.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The cost of hashing, and the minimum length of new passwords.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// The memory of one Argon2 hash, in KiB.
    pub memory_kib: u32,
    /// The passes of one Argon2 hash.
    pub passes: u32,
    /// The largest number of hashes computed at once, without those of sign-ups.
    pub permits: usize,
    /// The minimum length of a new password, in characters.
    pub min_length: usize,
}

/// Hashes and verifies passwords. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Passwords {
    params: Params,
    permits: Arc<Semaphore>,
    /// The permits of sign-ups, so that a flood of them keeps nobody from signing in.
    sign_up_permits: Arc<Semaphore>,
    threads: HashingThreads,
    min_length: usize,
    block_list: BlockList,
}

/// The reason why a password was not hashed or verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No permit became free in time. The client may retry soon.
    #[error("too many passwords are being checked at once")]
    Overloaded,
    /// The stored hash is malformed, the parameters are out of range, or the hashing task panicked.
    #[error("password hashing failed: {0}")]
    Failed(String),
}

impl Passwords {
    /// Creates a hasher with this policy. Fails if Argon2 does not accept the policy's memory or passes.
    pub fn new(policy: Policy) -> Result<Self, Error> {
        let params = Params::new(policy.memory_kib, policy.passes, 1, None)
            .map_err(|error| Error::Failed(error.to_string()))?;
        Ok(Self {
            params,
            permits: Arc::new(Semaphore::new(policy.permits.max(1))),
            sign_up_permits: Arc::new(Semaphore::new(policy.permits.max(1))),
            threads: HashingThreads::default(),
            min_length: policy.min_length,
            block_list: BlockList::new(),
        })
    }

    /// Hashes a password with a new salt, and returns the PHC string. Fails with [`Error::Overloaded`] if no
    /// permit becomes free within a second.
    pub async fn hash(&self, password: Password) -> Result<String, Error> {
        self.hash_under(&self.permits, password).await
    }

    /// Hashes the password of a sign-up like [`hash`](Self::hash), under permits that only sign-ups use.
    pub async fn hash_of_sign_up(&self, password: Password) -> Result<String, Error> {
        self.hash_under(&self.sign_up_permits, password).await
    }

    async fn hash_under(&self, permits: &Arc<Semaphore>, password: Password) -> Result<String, Error> {
        let params = self.params.clone();
        self.run(permits, move |memory| {
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

    /// Returns a new hash of a verified password if the stored hash was imported or has a lower cost than the
    /// current policy, otherwise `None`. Returns `None` also if hashing fails, because the next sign-in tries
    /// again, and for a password of which an imported hash proves only the beginning.
    pub async fn rehash_if_outdated(&self, password: Password, stored: &str) -> Option<String> {
        if imported::is_bcrypt_hash(stored) {
            return match password.0.len() <= imported::MAX_BYTES {
                true => self.hash(password).await.ok(),
                false => None,
            };
        }
        let stored = Params::try_from(&PasswordHash::new(stored).ok()?).ok()?;
        let was_cheaper = stored.m_cost() < self.params.m_cost() || stored.t_cost() < self.params.t_cost();
        match was_cheaper {
            true => self.hash(password).await.ok(),
            false => None,
        }
    }

    /// Returns whether the password matches the stored hash, which is `None` if there is no account.
    /// `imported_cost` is the highest cost of all imported hashes. Computes hashes of the same cost in all
    /// cases, so that an unknown e-mail takes as long as a wrong password. Fails with [`Error::Overloaded`]
    /// if no permit becomes free within a second, and with [`Error::Failed`] if the stored hash is malformed.
    pub async fn verify(
        &self,
        password: Password,
        stored: Option<String>,
        imported_cost: Option<u32>,
    ) -> Result<bool, Error> {
        let params = self.params.clone();
        self.run(&self.permits, move |memory| {
            Verification::plan(stored.as_deref(), &params, imported_cost)?.run(&password, memory)
        })
        .await
    }

    /// Runs `work` on a hashing thread. The permit moves to the thread, so that a canceled request does not
    /// free the permit while the computation continues. There are never more threads than permits, those of
    /// sign-ups included.
    async fn run<T: Send + 'static>(
        &self,
        permits: &Arc<Semaphore>,
        work: impl FnOnce(&mut Vec<Block>) -> argon2::password_hash::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let limit = time_limits::multiplied(PERMIT_TIMEOUT);
        let began = Instant::now();
        let permit = tokio::time::timeout(limit, Arc::clone(permits).acquire_owned()).await;
        match permit {
            Ok(_) => COUNTERS.time(Timing::HashingWait, began.elapsed()),
            Err(_) => COUNTERS.count(Figure::RefusedHashes, 1),
        }
        let permit = permit.map_err(|_| Error::Overloaded)?;
        let permit = permit.map_err(|closed| Error::Failed(closed.to_string()))?;
        let (sender, result) = oneshot::channel();
        let work = move |memory: &mut Vec<Block>| {
            // A canceled request receives nothing.
            let _ = sender.send(work(memory));
        };
        self.threads
            .run(Box::new(work), permit)
            .map_err(|error| Error::Failed(error.to_string()))?;
        result
            .await
            .map_err(|_| Error::Failed("the hashing thread panicked".to_owned()))?
            .map_err(|error| Error::Failed(error.to_string()))
    }
}

/// Computes the Argon2id hash (RFC 9106) of a password into `output`. `memory` is resized as needed.
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
    async fn a_password_matches_only_its_own_hash() {
        let policy = Policy {
            memory_kib: 19_456,
            passes: 2,
            permits: 1,
            min_length: 8,
        };
        let passwords = Passwords::new(policy).unwrap();
        let password = |text: &str| Password::parse(text).unwrap();
        let stored = passwords.hash(password("caf\u{e9} 12345")).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        let verify = |text: &str, stored: Option<&str>| {
            passwords.verify(password(text), stored.map(str::to_owned), None)
        };
        assert!(verify("cafe\u{301} 12345", Some(&stored)).await.unwrap(), "NFC");
        assert!(!verify("cafe 12345", Some(&stored)).await.unwrap());
        assert!(!verify("caf\u{e9} 12345", None).await.unwrap());
        drop(passwords.permits.acquire().await);
        assert_eq!(passwords.threads.idle_count(), 1, "one thread per permit");
        // The argon2 crate's own verifier accepts the stored hash.
        use argon2::password_hash::PasswordVerifier as _;
        let hash = PasswordHash::new(&stored).unwrap();
        assert!(
            Argon2::default()
                .verify_password("caf\u{e9} 12345".as_bytes(), &hash)
                .is_ok()
        );
    }
}
