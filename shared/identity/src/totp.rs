//! Time-based one-time passwords (RFC 6238) with the parameters that authenticator apps share: HMAC-SHA-1,
//! six digits, steps of 30 s, one step of drift either way. The seeds are sealed under the account key, which
//! is not in the database.

use foundation::clock::Timestamp;
use foundation::random;
use foundation::sealing::{SealingKey, UnsealError};
use foundation::secret::Secret;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_optional, sql};
use totp_rs::{Builder, Totp};

sql! {
    INSERT_PENDING = "INSERT INTO totp (user_id, sealed_seed, created_at, last_step) VALUES ($1, $2, $3, 0)
             ON CONFLICT (user_id) DO UPDATE SET sealed_seed = excluded.sealed_seed, created_at = excluded.created_at
             WHERE totp.confirmed_at IS NULL";
    FIND_PENDING = "SELECT sealed_seed FROM totp WHERE user_id = $1 AND confirmed_at IS NULL AND created_at > $2";
    FIND_CONFIRMED = "SELECT sealed_seed FROM totp WHERE user_id = $1 AND confirmed_at IS NOT NULL";
    CONFIRM = "UPDATE totp SET confirmed_at = $3, last_step = $4
               WHERE user_id = $1 AND sealed_seed = $2 AND confirmed_at IS NULL";
    // Only one of several concurrent callers with the same code changes the row, so that a code works once.
    CLAIM_STEP = "UPDATE totp SET last_step = $3
             WHERE user_id = $1 AND sealed_seed = $2 AND confirmed_at IS NOT NULL AND last_step < $3";
    FIND_ANY = "SELECT user_id, sealed_seed FROM totp ORDER BY user_id LIMIT 1";
    SKIP_STEPS = "UPDATE totp SET last_step = $1 WHERE last_step < $1";
    DELETE = "DELETE FROM totp WHERE user_id = $1 RETURNING confirmed_at IS NOT NULL AS confirmed";
}

/// The length of a seed in bytes: the output length of the hash (RFC 4226 §4).
const SEED_LEN: usize = 20;
/// The time within which a first code completes an enrollment.
const PENDING_LIFETIME: Duration = Duration::from_hours(1);
/// The length of a time step (RFC 6238 §4), in seconds.
const STEP_SECONDS: i64 = 30;
/// The issuer that authenticator apps display.
const ISSUER: &str = "Latchkey";

/// A new TOTP seed, for the user's authenticator app. It is returned until a first code completes the
/// enrollment.
#[derive(Debug)]
pub struct Enrollment {
    /// The seed in base32.
    pub secret: Secret,
    /// The seed, the account and the issuer as an `otpauth://` URL, for a QR code.
    pub otpauth_url: Secret,
}

/// A TOTP seed, sealed under the account key.
#[derive(Clone, Debug)]
pub(crate) struct SealedSeed(Vec<u8>);

/// Stores a new pending seed, which replaces any other pending one. Returns `None` if a confirmed seed
/// exists.
pub(crate) async fn begin_enrollment(
    tx: &mut Tx,
    key: &SealingKey,
    user_id: i64,
    email: &str,
    now: Timestamp,
) -> Result<Option<Enrollment>, Error> {
    let seed: [u8; SEED_LEN] = random::bytes();
    let sealed = key.seal(&seal_name(user_id), &seed);
    if execute!(tx.on(), INSERT_PENDING, user_id, sealed, now)? == 0 {
        return Ok(None);
    }
    Ok(enrollment(&seed, email))
}

/// Returns the pending seed of a user, if there is one that is at most an hour old.
pub(crate) async fn find_pending(db: &Db, user_id: i64, now: Timestamp) -> Result<Option<SealedSeed>, Error> {
    let since = now.before(PENDING_LIFETIME);
    let row = fetch_optional!(db.reader(), (Vec<u8>,), FIND_PENDING, user_id, since)?;
    Ok(row.map(|(sealed,)| SealedSeed(sealed)))
}

/// Returns a pending seed of the user with this address for the authenticator app again. Fails if the seed
/// was sealed under another key.
pub(crate) fn pending_enrollment(
    key: &SealingKey,
    user_id: i64,
    email: &str,
    sealed: &SealedSeed,
) -> Result<Option<Enrollment>, UnsealError> {
    let seed = key.open(&seal_name(user_id), &sealed.0)?;
    Ok(enrollment(&seed, email))
}

/// Returns the confirmed seed of a user, if there is one.
pub(crate) async fn find_confirmed(db: &Db, user_id: i64) -> Result<Option<SealedSeed>, Error> {
    let row = fetch_optional!(db.reader(), (Vec<u8>,), FIND_CONFIRMED, user_id)?;
    Ok(row.map(|(sealed,)| SealedSeed(sealed)))
}

/// Returns the time step whose code is `code`, if it is the step of `now` or one of its neighbors. Fails if
/// the seed was sealed under another key.
pub(crate) fn matching_step(
    key: &SealingKey,
    user_id: i64,
    sealed: &SealedSeed,
    code: &str,
    now: Timestamp,
) -> Result<Option<i64>, UnsealError> {
    let seed = key.open(&seal_name(user_id), &sealed.0)?;
    Ok(step_of_code(&seed, code, now))
}

/// Confirms a pending seed and marks the time step of its first code as used. Returns whether the seed was
/// still pending.
pub(crate) async fn confirm(
    tx: &mut Tx,
    user_id: i64,
    sealed: &SealedSeed,
    step: i64,
    now: Timestamp,
) -> Result<bool, Error> {
    Ok(execute!(tx.on(), CONFIRM, user_id, sealed.0.as_slice(), now, step)? == 1)
}

/// Marks a time step as used. Returns false if this step or a later one was used before, or if the seed was
/// replaced or deleted meanwhile.
pub(crate) async fn claim_step(db: &Db, user_id: i64, sealed: &SealedSeed, step: i64) -> Result<bool, Error> {
    Ok(execute!(db.writer(), CLAIM_STEP, user_id, sealed.0.as_slice(), step)? == 1)
}

/// Deletes the seed of a user. Returns whether there was a confirmed one.
pub(crate) async fn delete(tx: &mut Tx, user_id: i64) -> Result<bool, Error> {
    let deleted = fetch_optional!(tx.on(), (bool,), DELETE, user_id)?;
    Ok(deleted.is_some_and(|(confirmed,)| confirmed))
}

/// Returns whether this key opens the seeds, of which it tries one.
pub async fn opens_seeds(db: &Db, key: &SealingKey) -> Result<bool, Error> {
    let seed = fetch_optional!(db.reader(), (i64, Vec<u8>), FIND_ANY)?;
    Ok(seed.is_none_or(|(user_id, sealed)| key.open(&seal_name(user_id), &sealed).is_ok()))
}

/// Refuses the codes of all users that could be used until now.
pub(crate) async fn skip_steps(tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
    // A code of the next step is accepted already.
    let last = now.seconds() / STEP_SECONDS + 1;
    execute!(tx.on(), SKIP_STEPS, last).map(|_| ())
}

/// Returns the time step near `now` whose code under the unsealed seed is `code`, if there is one.
fn step_of_code(seed: &[u8], code: &str, now: Timestamp) -> Option<i64> {
    let seconds = u64::try_from(now.seconds()).ok()?;
    let step = generator(seed, "")?.check(code, seconds)?;
    i64::try_from(step).ok()
}

/// Returns the code generator of a seed, or `None` if the seed is too short. Stored seeds are long enough.
fn generator(seed: &[u8], email: &str) -> Option<Totp> {
    Builder::new()
        .with_secret(seed.to_vec())
        .with_issuer(Some(ISSUER))
        .with_account_name(email)
        .build()
        .ok()
}

/// Returns a seed for the authenticator app, or `None` if it is too short. Stored seeds are long enough.
fn enrollment(seed: &[u8], email: &str) -> Option<Enrollment> {
    generator(seed, email).map(|totp| Enrollment {
        secret: Secret::new(totp.secret().to_base32()),
        otpauth_url: Secret::new(totp.to_url().unwrap_or_default()),
    })
}

/// Returns the name under which a user's seed is sealed, see [`SealingKey::seal`].
fn seal_name(user_id: i64) -> String {
    format!("totp {user_id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SHA-1 seed and the last six digits of the SHA-1 codes in RFC 6238, appendix B.
    const SEED: &[u8] = b"12345678901234567890";
    const CODES: [(i64, &str); 6] = [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ];

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn rfc_6238_codes_match_their_step_and_one_step_either_way() {
        for (seconds, code) in CODES {
            let step = seconds / 30;
            let begins = step * 30;
            for accepted in [begins - 30, begins - 1, seconds, begins + 29, begins + 59] {
                assert_eq!(
                    step_of_code(SEED, code, at(accepted)),
                    Some(step),
                    "{code} at {accepted}"
                );
            }
            for refused in [begins - 31, begins + 60] {
                assert_eq!(step_of_code(SEED, code, at(refused)), None, "{code} at {refused}");
            }
        }
    }

    #[test]
    fn malformed_codes_match_no_step() {
        for code in ["", "28708", "2870820", "28708a", "94287082", "٢٨٧٠٨٢"] {
            assert_eq!(step_of_code(SEED, code, at(59)), None, "{code:?}");
        }
        assert_eq!(step_of_code(SEED, "287082", at(-59)), None);
        assert_eq!(step_of_code(&SEED[..5], "287082", at(59)), None);
    }

    #[test]
    fn the_otpauth_url_contains_the_seed_the_account_and_the_issuer() {
        let totp = generator(SEED, "ann+x@example.org").unwrap();
        assert_eq!(totp.secret().to_base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(
            totp.to_url().unwrap(),
            "otpauth://totp/Latchkey:ann%2Bx%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Latchkey"
        );
    }
}
