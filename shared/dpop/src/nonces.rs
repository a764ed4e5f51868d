//! Nonces (RFC 9449 §8): the time and the replica to which a nonce is bound, with a MAC. No server stores
//! them.

use aws_lc_rs::hmac;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::sealing::SealingKey;
use foundation::secret::{decode, encode, equal};
use std::time::Duration;

/// The time for which a nonce is accepted.
const LIFETIME: Duration = Duration::from_secs(300);
/// The age from which a new nonce is offered before the present one ends.
const RENEWAL_AGE: Duration = Duration::from_secs(150);
/// The time by which the clock of another replica may be ahead.
const MAX_SKEW: Duration = Duration::from_secs(30);
/// The length of the time and of the id of the replica together, in bytes.
const CONTENT_LENGTH: usize = 16;
/// The length of the MAC, in bytes: half of an HMAC-SHA-256.
const MAC_LENGTH: usize = 16;
/// The replica of a nonce that every replica accepts.
const ANY_REPLICA: [u8; 8] = [0; 8];

/// Issues and reads the nonces of one replica.
pub(crate) struct Nonces {
    key: hmac::Key,
    replica: [u8; 8],
}

/// The replicas that accept a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Only the replica that issued it, which remembers the proofs that were used with it.
    ThisReplica,
    /// All replicas with the same key.
    AllReplicas,
}

/// A nonce that this replica accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nonce {
    pub(crate) audience: Audience,
    /// Whether it ends so soon that a new one should be offered.
    pub(crate) is_aging: bool,
}

impl Nonces {
    /// Derives the MAC key from the key that all replicas have, and chooses the id of this replica.
    pub(crate) fn new(key: &SealingKey) -> Self {
        Self {
            key: key.mac_key("latchkey DPoP nonce"),
            replica: random::bytes(),
        }
    }

    /// Returns a new nonce.
    pub(crate) fn issue(&self, audience: Audience, now: Timestamp) -> String {
        let replica = match audience {
            Audience::ThisReplica => self.replica,
            Audience::AllReplicas => ANY_REPLICA,
        };
        let content = [now.micros().to_be_bytes(), replica].concat();
        encode(&[content.as_slice(), &self.mac(&content)].concat())
    }

    /// Reads a nonce. Returns `None` if it is forged or expired, or if it is bound to another replica.
    pub(crate) fn read(&self, text: &str, now: Timestamp) -> Option<Nonce> {
        let bytes = decode(text).filter(|bytes| bytes.len() == CONTENT_LENGTH + MAC_LENGTH)?;
        let (content, mac) = bytes.split_at(CONTENT_LENGTH);
        if !equal(mac, &self.mac(content)) {
            return None;
        }
        let (time, replica) = content.split_first_chunk::<8>()?;
        let issued_at = Timestamp::from_micros(i64::from_be_bytes(*time));
        if issued_at > now.after(MAX_SKEW) || now.since(issued_at) >= LIFETIME {
            return None;
        }
        let audience = match replica {
            id if id == self.replica => Audience::ThisReplica,
            id if id == ANY_REPLICA => Audience::AllReplicas,
            _ => return None,
        };
        let is_aging = now.since(issued_at) >= RENEWAL_AGE;
        Some(Nonce { audience, is_aging })
    }

    fn mac(&self, content: &[u8]) -> Vec<u8> {
        hmac::sign(&self.key, content).as_ref()[..MAC_LENGTH].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

    fn at(seconds: u64) -> Timestamp {
        NOW.after(Duration::from_secs(seconds))
    }

    #[test]
    fn a_nonce_is_accepted_for_five_minutes_and_renewed_before() {
        let nonces = Nonces::new(&SealingKey::generate());
        for audience in [Audience::ThisReplica, Audience::AllReplicas] {
            let nonce = nonces.issue(audience, NOW);
            let read = |seconds| nonces.read(&nonce, at(seconds));
            let is_aging = |seconds| read(seconds).map(|nonce| nonce.is_aging);
            assert_eq!(read(0).map(|nonce| nonce.audience), Some(audience));
            assert_eq!(
                (is_aging(149), is_aging(150), is_aging(299)),
                (Some(false), Some(true), Some(true))
            );
            assert_eq!(read(300), None);
            assert_eq!(nonces.read(&nonce, NOW.before(Duration::from_secs(31))), None);
        }
    }

    #[test]
    fn a_bound_nonce_is_accepted_by_its_replica_only() {
        let key = SealingKey::generate();
        let (one, other) = (Nonces::new(&key), Nonces::new(&key));
        assert!(other.read(&one.issue(Audience::ThisReplica, NOW), NOW).is_none());
        assert!(other.read(&one.issue(Audience::AllReplicas, NOW), NOW).is_some());
        let stranger = Nonces::new(&SealingKey::generate());
        assert!(
            stranger
                .read(&one.issue(Audience::AllReplicas, NOW), NOW)
                .is_none()
        );
    }

    #[test]
    fn a_changed_nonce_is_refused() {
        let nonces = Nonces::new(&SealingKey::generate());
        let nonce = decode(&nonces.issue(Audience::ThisReplica, NOW)).unwrap();
        for place in 0..nonce.len() {
            let mut changed = nonce.clone();
            changed[place] ^= 1;
            assert_eq!(nonces.read(&encode(&changed), NOW), None, "{place}");
        }
        assert_eq!(nonces.read(&encode(&nonce[..31]), NOW), None);
    }

    proptest! {
        #[test]
        fn any_other_text_is_refused(text: String) {
            prop_assert_eq!(Nonces::new(&SealingKey::generate()).read(&text, NOW), None);
        }
    }
}
