//! The proofs that were used at this process, in maps of bounded size.

use crate::error::Error;
use foundation::clock::Timestamp;
use foundation::sync::lock;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

/// The largest number of remembered proofs in each map, which take about ten megabytes.
const CAPACITY: usize = 100_000;
/// The pause between two searches for expired proofs in a full map, because each search reads the whole map.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The used proofs of this process. Those that came with an access token have a map of their own, because
/// anybody can use up proofs at the token endpoint, and must not take the room of callers with a token.
#[derive(Default)]
pub(crate) struct UsedProofs {
    with_token: Mutex<Used>,
    without_token: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    /// The ids of the proofs with the time from which each is too old to be accepted.
    proofs: HashMap<[u8; 32], Timestamp>,
    next_sweep: Option<Timestamp>,
}

impl UsedProofs {
    /// Records that a proof is used, which came with an access token or without one. Fails if it was used
    /// before, and with [`Error::Full`], without effect, if there is no room for another one: a proof that
    /// could be accepted is never forgotten.
    pub(crate) fn claim(
        &self,
        id: [u8; 32],
        has_token: bool,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), Error> {
        let mut used = lock(match has_token {
            true => &self.with_token,
            false => &self.without_token,
        });
        if used.proofs.contains_key(&id) {
            return Err(Error::Invalid("it was used before"));
        }
        if used.proofs.len() >= CAPACITY {
            if used.next_sweep.is_none_or(|at| at <= now) {
                used.proofs.retain(|_, expires_at| *expires_at > now);
                used.next_sweep = Some(now.after(SWEEP_INTERVAL));
            }
            if used.proofs.len() >= CAPACITY {
                tracing::warn!("no further DPoP proof can be remembered");
                return Err(Error::Full);
            }
        }
        used.proofs.insert(id, expires_at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

    fn id(n: usize) -> [u8; 32] {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&n.to_be_bytes());
        id
    }

    #[test]
    fn a_full_memory_accepts_no_proof_until_others_expire() {
        let used = UsedProofs::default();
        let at = |seconds| NOW.after(Duration::from_secs(seconds));
        for n in 0..CAPACITY {
            let expires_at = at(if n == 0 { 10 } else { 60 });
            assert_eq!(used.claim(id(n), true, expires_at, NOW), Ok(()));
        }
        let claim = |n, expires_at, now| used.claim(id(n), true, at(expires_at), at(now));
        assert_eq!(claim(CAPACITY, 60, 1), Err(Error::Full));
        assert!(matches!(claim(1, 60, 1), Err(Error::Invalid(_))));
        assert_eq!(claim(CAPACITY, 60, 10), Ok(()));
        assert_eq!(claim(CAPACITY + 1, 70, 10), Err(Error::Full));
        assert_eq!(claim(CAPACITY + 1, 70, 60), Ok(()));
        assert!(matches!(claim(CAPACITY + 1, 70, 60), Err(Error::Invalid(_))));
    }

    #[test]
    fn proofs_without_a_token_take_no_room_of_those_with_one() {
        let used = UsedProofs::default();
        let expires_at = NOW.after(Duration::from_secs(60));
        let claim = |n, has_token| used.claim(id(n), has_token, expires_at, NOW);
        for n in 0..CAPACITY {
            assert_eq!(claim(n, false), Ok(()));
        }
        assert_eq!(claim(CAPACITY, false), Err(Error::Full));
        assert_eq!(claim(CAPACITY, true), Ok(()));
        assert!(matches!(claim(CAPACITY, true), Err(Error::Invalid(_))));
    }
}
