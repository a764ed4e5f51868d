//! The secrets of a client as its row holds them, and their comparison with a presented one.

use foundation::clock::Timestamp;
use foundation::random;
use foundation::secret::{self, Secret};
use serde::{Serialize, Serializer};
use std::time::Duration;
use utoipa::ToSchema;

/// The shortest time between two records of the use of a secret, so that not every request writes.
const LAST_USE_INTERVAL: Duration = Duration::from_secs(60);

/// A secret of a client. Only its hash is stored, and its serialization omits that.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClientSecret {
    #[serde(skip)]
    pub(super) hash: Vec<u8>,
    /// The time at which it was generated.
    pub created_at: Timestamp,
    /// The time of its last use, accurate to a minute; null if it was never used.
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
    /// The time at which it ends; null until it is rotated.
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
}

/// The secrets of a client: the current one and, after a rotation with an overlap, the previous one. A public
/// client has none. Serialized as a list, the current one first.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    pub(super) current: Option<ClientSecret>,
    pub(super) previous: Option<ClientSecret>,
}

/// The columns of the secrets.
#[derive(sqlx::FromRow)]
pub(super) struct SecretColumns {
    secret_hash: Option<Vec<u8>>,
    secret_created_at: Option<Timestamp>,
    secret_last_used_at: Option<Timestamp>,
    previous_secret_hash: Option<Vec<u8>>,
    previous_secret_created_at: Option<Timestamp>,
    previous_secret_last_used_at: Option<Timestamp>,
    previous_secret_expires_at: Option<Timestamp>,
}

impl Secrets {
    /// Generates the first secret of a client. Returns it with the list that holds its hash.
    pub fn generate(now: Timestamp) -> (Self, Secret) {
        let secret = random::token();
        let current = ClientSecret {
            hash: secret.hash(),
            created_at: now,
            last_used_at: None,
            expires_at: None,
        };
        let secrets = Self {
            current: Some(current),
            previous: None,
        };
        (secrets, secret)
    }

    /// Returns the secrets, also a previous one that has ended.
    pub fn iter(&self) -> impl Iterator<Item = &ClientSecret> {
        self.current.iter().chain(&self.previous)
    }

    /// Returns the secret that a client presents, if it is valid at the time `now`. The time that this takes
    /// does not depend on the secrets: two hashes are compared, each in constant time, even if there are
    /// fewer secrets.
    pub fn find_valid(&self, presented: &str, now: Timestamp) -> Option<&ClientSecret> {
        let hash = secret::hash(presented);
        let [current, previous] = [&self.current, &self.previous].map(|stored| {
            let stored_hash = stored.as_ref().map_or([0; 32].as_slice(), |stored| &stored.hash);
            let is_equal = secret::equal(&hash, stored_hash);
            stored.as_ref().filter(|_| is_equal)
        });
        current
            .or(previous)
            .filter(|found| found.expires_at.is_none_or(|end| end > now))
    }

    /// Sets, in memory, the time of the last use of the secret with this hash. Returns whether the use is to
    /// be recorded.
    pub(super) fn set_last_used(&mut self, hash: &[u8], now: Timestamp) -> bool {
        let mut secrets = self.current.iter_mut().chain(&mut self.previous);
        let used = secrets.find(|secret| secret.hash == hash && secret.is_record_due(now));
        used.map(|secret| secret.last_used_at = Some(now)).is_some()
    }
}

impl ClientSecret {
    /// Returns whether a use at the time `now` is to be recorded, because the last recorded use is too long
    /// ago.
    pub(super) fn is_record_due(&self, now: Timestamp) -> bool {
        self.last_used_at
            .is_none_or(|last| now.since(last) >= LAST_USE_INTERVAL)
    }
}

impl From<SecretColumns> for Secrets {
    fn from(columns: SecretColumns) -> Self {
        let secret = |hash: Option<Vec<u8>>, created_at: Option<Timestamp>, last_used_at, expires_at| {
            Some(ClientSecret {
                hash: hash?,
                created_at: created_at?,
                last_used_at,
                expires_at,
            })
        };
        let previous_hash = columns.previous_secret_hash;
        Self {
            current: secret(
                columns.secret_hash,
                columns.secret_created_at,
                columns.secret_last_used_at,
                None,
            ),
            // Without an expiry, for example after a manual edit, it is not valid.
            previous: columns.previous_secret_expires_at.and_then(|expires_at| {
                secret(
                    previous_hash,
                    columns.previous_secret_created_at,
                    columns.previous_secret_last_used_at,
                    Some(expires_at),
                )
            }),
        }
    }
}

impl Serialize for Secrets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
