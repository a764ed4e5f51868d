//! Pseudonyms of deleted accounts. Security events and alerts are kept for a year. If an account that they
//! name is deleted meanwhile, a pseudonym replaces the user's id, and a label replaces each network from
//! which the user sent requests.

use crate::alerts;
use aws_lc_rs::hmac;
use foundation::sealing::SealingKey;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_optional, sql};

sql! {
    // Changes at most $3 events of the user and $3 events of the administrator. The label of a network is the
    // id of the first of them from it. The networks of an account therefore stay distinct, because alerts
    // count them, and no label leads back to an address. The address of an event that an administrator caused
    // is that of the administrator and stays, so such an event gives no label. The details of three kinds of
    // events are removed: e-mail addresses, and ids of sessions and families, whose rows name the user.
    REPLACE = "
        UPDATE security_events
        SET user_id = CASE WHEN user_id = $1 THEN $2 ELSE user_id END,
            administrator_id = CASE WHEN administrator_id = $1 THEN $2 ELSE administrator_id END,
            address = CASE WHEN event.is_caller THEN event.label ELSE address END,
            network = CASE WHEN event.is_caller THEN event.label ELSE network END,
            detail = CASE WHEN name IN ('authn_session_revoked', 'authn_token_revoked', 'authn_email_change') THEN NULL ELSE detail END
        FROM (SELECT event_id, is_caller,
                     CASE WHEN network_of_event IS NOT NULL THEN
                          'network ' || MIN(event_id) OVER (PARTITION BY network_of_event, is_caller) END AS label
              FROM (SELECT id AS event_id, network AS network_of_event, COALESCE(administrator_id, user_id) = $1 AS is_caller
                    FROM security_events
                    WHERE id IN (SELECT id FROM (SELECT id FROM security_events WHERE user_id = $1
                                                 ORDER BY at, id LIMIT $3) AS concerned
                                 UNION
                                 SELECT id FROM (SELECT id FROM security_events WHERE administrator_id = $1
                                                 ORDER BY at, id LIMIT $3) AS caused)) AS of_account) AS event
        WHERE id = event.event_id";
    ADD_UNFINISHED = "INSERT INTO unfinished_pseudonyms (user_id, pseudonym) VALUES ($1, $2)";
    FIND_UNFINISHED = "SELECT user_id, pseudonym FROM unfinished_pseudonyms ORDER BY user_id LIMIT 1";
    DELETE_UNFINISHED = "DELETE FROM unfinished_pseudonyms WHERE user_id = $1";
}

/// The number of bits of a pseudonym: JSON parsers that read numbers as doubles keep 53 bits exact (RFC 8259
/// §6).
const BITS: u32 = 53;
/// The number of events that the deletion of an account changes itself, in a few milliseconds. Few accounts
/// have more.
const CHANGED_AT_ONCE: i64 = 500;

/// Returns the pseudonym of a user: the HMAC of the id under a key derived from `key`, as a negative number,
/// so that it is no user's id. It does not change, and nobody without `key` can tell to which user it
/// belongs.
pub fn pseudonym(key: &SealingKey, user_id: i64) -> i64 {
    let key = key.mac_key("pseudonym of a deleted account");
    let tag = hmac::sign(&key, &user_id.to_be_bytes());
    let number = tag
        .as_ref()
        .iter()
        .take(8)
        .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    -((number >> (u64::BITS - BITS)).max(1).cast_signed())
}

/// Replaces the user's id by `pseudonym` in all alerts and in the oldest 500 events, and the addresses of the
/// user's requests by labels. [`replace_remaining`] changes further events after the commit. The caller has
/// locked the user's row against new events, and marks it as deleted in this transaction. Fails if the
/// database does.
pub async fn replace(tx: &mut Tx, user_id: i64, pseudonym: i64) -> Result<(), Error> {
    alerts::replace_user(tx, user_id, pseudonym).await?;
    let changed = execute!(tx.on(), REPLACE, user_id, pseudonym, CHANGED_AT_ONCE)?;
    if changed >= CHANGED_AT_ONCE.cast_unsigned() {
        execute!(tx.on(), ADD_UNFINISHED, user_id, pseudonym)?;
    }
    Ok(())
}

/// Replaces the ids and addresses of deleted accounts in the events that [`replace`] left, in small
/// transactions with pauses. Stops if another process does the same. Fails if the database does.
pub async fn replace_remaining(db: &Db) -> Result<(), Error> {
    db.change_under_lease("pseudonyms", |limit| async move {
        let mut tx = db.begin().await?;
        let Some((user_id, pseudonym)) = fetch_optional!(tx.on(), (i64, i64), FIND_UNFINISHED)? else {
            return Ok(0);
        };
        let changed = execute!(tx.on(), REPLACE, user_id, pseudonym, limit)?;
        if changed < limit.cast_unsigned() {
            execute!(tx.on(), DELETE_UNFINISHED, user_id)?;
        }
        tx.commit().await?;
        // There may be events of another account.
        Ok(changed.max(limit.cast_unsigned()))
    })
    .await
    .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pseudonym_is_negative_and_depends_on_the_user_and_the_key() {
        let (one, other) = (SealingKey::generate(), SealingKey::generate());
        assert_eq!(pseudonym(&one, 7), pseudonym(&one, 7));
        assert_ne!(pseudonym(&one, 7), pseudonym(&one, 8));
        assert_ne!(pseudonym(&one, 7), pseudonym(&other, 7));
        for user_id in 1..1000 {
            assert!((-(1 << BITS) + 1..0).contains(&pseudonym(&one, user_id)));
        }
    }
}
