//! Time-based one-time passwords (RFC 6238): HMAC-SHA-1, six digits, steps of 30 s, one step of drift either way,
//! as every authenticator app computes them. The seed is sealed under the key that the database never sees.

use foundation::clock::Timestamp;
use foundation::random;
use foundation::sealing::{SealingKey, UnsealError};
use foundation::secret::Secret;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_optional, sql};
use totp_rs::{Builder, Totp};

sql! {
    BEGIN = "INSERT INTO totp (user_id, sealed_seed, created_at, last_step) VALUES ($1, $2, $3, 0)
             ON CONFLICT (user_id) DO UPDATE SET sealed_seed = excluded.sealed_seed, created_at = excluded.created_at
             WHERE totp.confirmed_at IS NULL";
    PENDING = "SELECT sealed_seed FROM totp WHERE user_id = $1 AND confirmed_at IS NULL";
    CONFIRMED = "SELECT sealed_seed FROM totp WHERE user_id = $1 AND confirmed_at IS NOT NULL";
    CONFIRM = "UPDATE totp SET confirmed_at = $3, last_step = $4
               WHERE user_id = $1 AND sealed_seed = $2 AND confirmed_at IS NULL";
    // A step works once: of any number of callers with one code, one changes the row.
    CLAIM = "UPDATE totp SET last_step = $3
             WHERE user_id = $1 AND sealed_seed = $2 AND confirmed_at IS NOT NULL AND last_step < $3";
    DELETE = "DELETE FROM totp WHERE user_id = $1 RETURNING confirmed_at IS NOT NULL AS confirmed";
}

/// The seed's length: that of the hash (RFC 4226 §4).
const SEED_LEN: usize = 20;
/// Who asks for the code, as authenticator apps show it.
const ISSUER: &str = "Latchkey";

/// What an authenticator app is told, this once.
#[derive(Debug)]
pub struct Enrolment {
    /// The seed in base32.
    pub secret: Secret,
    /// The same as an `otpauth://` URL, for a QR code.
    pub otpauth_url: Secret,
}

/// A seed as stored.
#[derive(Clone, Debug)]
pub(crate) struct Sealed(Vec<u8>);

/// Stores a new seed that awaits its first code, in place of any other that does; `None` where one is
/// confirmed.
pub(crate) async fn begin(
    tx: &mut Tx,
    key: &SealingKey,
    user_id: i64,
    email: &str,
    now: Timestamp,
) -> Result<Option<Enrolment>, Error> {
    let seed: [u8; SEED_LEN] = random::bytes();
    let sealed = key.seal(&name(user_id), &seed);
    if execute!(tx.on(), BEGIN, user_id, sealed, now)? == 0 {
        return Ok(None);
    }
    Ok(generator(&seed, email).map(|totp| Enrolment {
        secret: Secret::new(totp.secret().to_base32()),
        otpauth_url: Secret::new(totp.to_url().unwrap_or_default()),
    }))
}

/// The seed that awaits its first code.
pub(crate) async fn pending(db: &Db, user_id: i64) -> Result<Option<Sealed>, Error> {
    let row = fetch_optional!(db.reader(), (Vec<u8>,), PENDING, user_id)?;
    Ok(row.map(|(sealed,)| Sealed(sealed)))
}

/// The seed whose codes are asked for.
pub(crate) async fn confirmed(db: &Db, user_id: i64) -> Result<Option<Sealed>, Error> {
    let row = fetch_optional!(db.reader(), (Vec<u8>,), CONFIRMED, user_id)?;
    Ok(row.map(|(sealed,)| Sealed(sealed)))
}

/// The time step that the code is of, if it is of one near `now`.
pub(crate) fn step(
    key: &SealingKey,
    user_id: i64,
    sealed: &Sealed,
    code: &str,
    now: Timestamp,
) -> Result<Option<i64>, UnsealError> {
    let seed = key.open(&name(user_id), &sealed.0)?;
    Ok(step_of(&seed, code, now))
}

/// Makes a pending seed one whose codes are asked for; its first code is used up by it. Gives whether it was
/// still pending.
pub(crate) async fn confirm(
    tx: &mut Tx,
    user_id: i64,
    sealed: &Sealed,
    step: i64,
    now: Timestamp,
) -> Result<bool, Error> {
    Ok(execute!(tx.on(), CONFIRM, user_id, sealed.0.as_slice(), now, step)? == 1)
}

/// Uses a time step up: gives whether no code of this step or a later one was used before.
pub(crate) async fn claim(db: &Db, user_id: i64, sealed: &Sealed, step: i64) -> Result<bool, Error> {
    Ok(execute!(db.writer(), CLAIM, user_id, sealed.0.as_slice(), step)? == 1)
}

/// Deletes the seed; gives whether there was one whose codes were asked for.
pub(crate) async fn delete(tx: &mut Tx, user_id: i64) -> Result<bool, Error> {
    let deleted = fetch_optional!(tx.on(), (bool,), DELETE, user_id)?;
    Ok(deleted.is_some_and(|(confirmed,)| confirmed))
}

fn step_of(seed: &[u8], code: &str, now: Timestamp) -> Option<i64> {
    let seconds = u64::try_from(now.seconds()).ok()?;
    let step = generator(seed, "")?.check(code, seconds)?;
    i64::try_from(step).ok()
}

/// `None` only for a seed too short to be one of ours.
fn generator(seed: &[u8], email: &str) -> Option<Totp> {
    Builder::new()
        .with_secret(seed.to_vec())
        .with_issuer(Some(ISSUER))
        .with_account_name(email)
        .build()
        .ok()
}

/// What a seed is sealed as.
fn name(user_id: i64) -> String {
    format!("totp {user_id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6238, appendix B: its seed, and its codes for SHA-1, whose last six digits are ours.
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
    fn the_codes_of_the_rfc_are_accepted_in_their_step_and_one_to_either_side() {
        for (seconds, code) in CODES {
            let step = seconds / 30;
            let begins = step * 30;
            for accepted in [begins - 30, begins - 1, seconds, begins + 29, begins + 59] {
                assert_eq!(
                    step_of(SEED, code, at(accepted)),
                    Some(step),
                    "{code} at {accepted}"
                );
            }
            for refused in [begins - 31, begins + 60] {
                assert_eq!(step_of(SEED, code, at(refused)), None, "{code} at {refused}");
            }
        }
    }

    #[test]
    fn what_is_no_code_is_of_no_step() {
        for code in ["", "28708", "2870820", "28708a", "94287082", "٢٨٧٠٨٢"] {
            assert_eq!(step_of(SEED, code, at(59)), None, "{code:?}");
        }
        assert_eq!(step_of(SEED, "287082", at(-59)), None);
        assert_eq!(step_of(&SEED[..5], "287082", at(59)), None);
    }

    #[test]
    fn an_app_is_told_the_seed_the_account_and_the_issuer() {
        let totp = generator(SEED, "ann+x@example.org").unwrap();
        assert_eq!(totp.secret().to_base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(
            totp.to_url().unwrap(),
            "otpauth://totp/Latchkey:ann%2Bx%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Latchkey"
        );
    }
}
