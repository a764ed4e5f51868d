//! The hash computations of a verification. All verifications cost the same, whatever hash is stored and even
//! if none is, so that the time of a response tells nobody which addresses have accounts.

use super::{Password, compute, imported};
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{Error, Result};
use argon2::{Algorithm, Block, Params};

/// One computation of a hash.
#[derive(Clone, Debug)]
enum Computation {
    /// Argon2id with these parameters.
    Argon2id(Params),
    /// bcrypt with this cost, of 2^cost rounds.
    Bcrypt(u32),
}

/// The computations of one verification.
#[derive(Debug)]
pub(super) struct Verification<'a> {
    /// `None` if there is no account.
    stored: Option<StoredHash<'a>>,
    /// The computations of which only the time matters.
    fillers: Vec<Computation>,
}

/// A stored hash with its parameters.
#[derive(Debug)]
enum StoredHash<'a> {
    Argon2id(Box<PasswordHash>, Params),
    /// An imported hash with its cost.
    Bcrypt(&'a str, u32),
}

impl<'a> Verification<'a> {
    /// Plans the verification against `stored`, which is `None` if there is no account. Its computations take
    /// as much time as one Argon2id hash of the `current` parameters, and one bcrypt hash of the cost
    /// `imported_cost` if there are imported hashes, whose highest cost this is. A stored hash of higher cost
    /// than these takes longer. Fails if `stored` is malformed.
    pub(super) fn plan(
        stored: Option<&'a str>,
        current: &Params,
        imported_cost: Option<u32>,
    ) -> Result<Self> {
        let stored = stored.map(parse).transpose()?;
        let mut fillers = match &stored {
            Some(StoredHash::Argon2id(_, own)) => rest_of_argon2id(own, current)?,
            _ => vec![Computation::Argon2id(current.clone())],
        };
        match &stored {
            // 2^c rounds and those of the costs c, c + 1, …, C - 1 are 2^C.
            Some(StoredHash::Bcrypt(_, own)) => {
                fillers.extend((*own..imported_cost.unwrap_or(*own)).map(Computation::Bcrypt));
            }
            _ => fillers.extend(imported_cost.map(Computation::Bcrypt)),
        }
        Ok(Self { stored, fillers })
    }

    /// Computes all hashes. Returns whether the password matches the stored one.
    pub(super) fn run(&self, password: &Password, memory: &mut Vec<Block>) -> Result<bool> {
        for filler in &self.fillers {
            filler.run(password, memory)?;
        }
        match &self.stored {
            None => Ok(false),
            Some(StoredHash::Bcrypt(stored, _)) => imported::verify(&password.0, stored),
            Some(StoredHash::Argon2id(stored, params)) => {
                let (Some(salt), Some(expected)) = (&stored.salt, &stored.hash) else {
                    return Ok(false);
                };
                let mut output = vec![0; expected.len()];
                compute(params, password, salt, &mut output, memory)?;
                Ok(foundation::secret::equal(&output, expected.as_ref()))
            }
        }
    }
}

impl Computation {
    /// Computes a hash of the password and discards it. Each has a new salt, because the order in which
    /// Argon2id reads its memory depends on the salt, and with it the time that a hash takes.
    fn run(&self, password: &Password, memory: &mut Vec<Block>) -> Result<()> {
        let salt: [u8; 16] = foundation::random::bytes();
        match self {
            Self::Argon2id(params) => {
                let mut output = [0; Params::DEFAULT_OUTPUT_LEN];
                compute(params, password, &salt, &mut output, memory)
            }
            Self::Bcrypt(cost) => imported::compute(&password.0, *cost, salt),
        }
    }
}

/// Parses a stored hash. Fails if it is malformed or of another algorithm.
fn parse(stored: &str) -> Result<StoredHash<'_>> {
    if imported::is_bcrypt_hash(stored) {
        return Ok(StoredHash::Bcrypt(stored, imported::cost(stored)?));
    }
    let stored = PasswordHash::new(stored)?;
    if stored.algorithm != Algorithm::Argon2id.ident() {
        return Err(Error::Algorithm);
    }
    let params = Params::try_from(&stored)?;
    Ok(StoredHash::Argon2id(Box::new(stored), params))
}

/// Returns what a hash with the parameters `own` lacks to the work of one with the `current` parameters: the
/// blocks of memory that are computed, in as many passes.
fn rest_of_argon2id(own: &Params, current: &Params) -> Result<Vec<Computation>> {
    let blocks = |params: &Params| u64::from(params.m_cost()) * u64::from(params.t_cost());
    let missing = blocks(current).saturating_sub(blocks(own));
    let memory = u32::try_from(missing / u64::from(current.t_cost())).unwrap_or(u32::MAX);
    if memory < Params::MIN_M_COST {
        return Ok(Vec::new());
    }
    let params = Params::new(memory, current.t_cost(), current.p_cost(), None)?;
    Ok(vec![Computation::Argon2id(params)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The passes over blocks of memory by Argon2id, and the rounds of bcrypt.
    fn work(stored: Option<&str>, imported_cost: Option<u32>) -> (u64, u64) {
        let current = Params::new(65_536, 3, 1, None).unwrap();
        let verification = Verification::plan(stored, &current, imported_cost).unwrap();
        let own = verification.stored.map(|stored| match stored {
            StoredHash::Argon2id(_, params) => Computation::Argon2id(params),
            StoredHash::Bcrypt(_, cost) => Computation::Bcrypt(cost),
        });
        let (mut blocks, mut rounds) = (0, 0);
        for computation in own.into_iter().chain(verification.fillers) {
            match computation {
                Computation::Argon2id(params) => {
                    blocks += u64::from(params.m_cost()) * u64::from(params.t_cost());
                }
                Computation::Bcrypt(cost) => rounds += 1_u64 << cost,
            }
        }
        (blocks, rounds)
    }

    fn argon2id(memory: u32, passes: u32) -> String {
        format!(
            "$argon2id$v=19$m={memory},t={passes},p=1$AAAAAAAAAAAAAAAAAAAAAA${}",
            "A".repeat(43)
        )
    }

    fn bcrypt(cost: u32) -> String {
        format!("$2b${cost:02}$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG")
    }

    #[test]
    fn every_verification_computes_the_same_amount_of_each_kind_of_hash() {
        let argon2id = [
            argon2id(65_536, 3),
            argon2id(19_456, 2),
            argon2id(65_536, 2),
            argon2id(32_768, 6),
            argon2id(19_456, 10),
        ];
        let of_unknown = work(None, None);
        assert_eq!(of_unknown, (3 * 65_536, 0));
        for stored in &argon2id {
            let (blocks, rounds) = work(Some(stored), None);
            // The missing blocks are rounded down to the same number in each pass.
            assert!(
                of_unknown.0 - blocks < 3 && rounds == 0,
                "{stored}: {blocks}, {rounds}"
            );
        }
        for highest in 4..=14 {
            let of_unknown = work(None, Some(highest));
            assert_eq!(of_unknown, (3 * 65_536, 1 << highest));
            for stored in &argon2id {
                let (blocks, rounds) = work(Some(stored), Some(highest));
                assert!(of_unknown.0 - blocks < 3 && rounds == of_unknown.1, "{stored}");
            }
            for cost in 4..=highest {
                assert_eq!(
                    work(Some(&bcrypt(cost)), Some(highest)),
                    of_unknown,
                    "{cost} of {highest}"
                );
            }
        }
    }
}
