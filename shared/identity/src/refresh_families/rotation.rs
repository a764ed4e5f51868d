//! Rotation of refresh tokens: each is valid once (RFC 9700 §4.14.2).

use super::{Family, columns, is_unrevoked};
use foundation::clock::Timestamp;
use std::time::Duration;
use storage::db::{Array, BatchCall, Db, Engine, Error};
use storage::{fetch_all, fetch_optional, sql};

sql! {
    ROTATE_SQLITE = concat!(
        "UPDATE refresh_families SET generation = generation + 1, last_used_at = $5, idle_expires_at = $4, dpop_jkt = $6
         WHERE id = $1 AND generation = $2 AND client_id = $3 AND idle_expires_at > $5 AND expires_at > $5
           AND (dpop_jkt IS NULL OR dpop_jkt = $6) AND ", is_unrevoked!(), "
         RETURNING ", columns!());
    // The same for several tokens. A token that occurs twice changes its row, and returns it, once. The
    // statements lock the rows in the order of their ids. The second condition on `id` makes every plan find
    // the families through the index, also one that was made for a table of one row.
    ROTATE_ALL_POSTGRES = concat!("
        UPDATE refresh_families
        SET generation = refresh_families.generation + 1, last_used_at = token.now,
            idle_expires_at = token.now + $6::BIGINT, dpop_jkt = token.key
        FROM (SELECT * FROM unnest($1::TEXT[], $2::BIGINT[], $3::TEXT[], $4::BIGINT[], $5::TEXT[])
                            AS token (token_family_id, token_generation, token_client_id, now, key)
              ORDER BY token_family_id) AS token
        WHERE id = ANY ($1) AND id = token_family_id AND generation = token_generation AND client_id = token_client_id
          AND refresh_families.idle_expires_at > token.now AND expires_at > token.now
          AND (dpop_jkt IS NULL OR dpop_jkt = token.key) AND ", is_unrevoked!(), "
        RETURNING ", columns!());
}

/// A refresh token as a client presents it.
#[derive(Clone, Copy, Debug)]
pub struct PresentedToken<'a> {
    /// The id of its family.
    pub family_id: &'a str,
    /// Its place in the family.
    pub generation: i64,
    /// The authenticated client.
    pub client_id: &'a str,
    /// The thumbprint of the key whose possession a public client proved; `None` for a confidential client,
    /// whose refresh tokens are not bound to a key (RFC 9449 §5).
    pub dpop_jkt: Option<&'a str>,
}

/// Moves a family from the presented generation to the next one, so that the next refresh token replaces the
/// current one. The idle lifetime then ends `idle` after `now`, and the next tokens are bound to the key of
/// the presented one. Returns the family with its new generation. Returns `None`, without effect, if
/// `generation` is not the current one, or if the family belongs to another client, is bound to another key,
/// is revoked or expired. Only one of several concurrent callers succeeds.
pub async fn rotate(
    db: &Db,
    presented: PresentedToken<'_>,
    idle: Duration,
    now: Timestamp,
) -> Result<Option<Family>, Error> {
    let idle_expires_at = now.after(idle);
    match db.engine() {
        Engine::Sqlite(()) => {
            let (on, sql) = (db.writer(), ROTATE_SQLITE);
            fetch_optional!(
                on,
                Family,
                sql,
                presented.family_id,
                presented.generation,
                presented.client_id,
                idle_expires_at,
                now,
                presented.dpop_jkt,
            )
        }
        Engine::Postgres(()) => {
            let rotate = Rotate {
                family_id: presented.family_id.to_owned(),
                generation: presented.generation,
                client_id: presented.client_id.to_owned(),
                idle_micros: idle_expires_at.micros() - now.micros(),
                now,
                dpop_jkt: presented.dpop_jkt.map(str::to_owned),
            };
            db.call(rotate).await
        }
    }
}

/// The call that rotates a refresh token on PostgreSQL; `None` if it is not valid.
struct Rotate {
    family_id: String,
    generation: i64,
    client_id: String,
    /// The same for all calls of a process.
    idle_micros: i64,
    now: Timestamp,
    dpop_jkt: Option<String>,
}

impl Rotate {
    fn was_rotated_to(&self, family: &Family) -> bool {
        family.id == self.family_id
            && family.generation == self.generation + 1
            && family.client_id == self.client_id
            && family.dpop_jkt == self.dpop_jkt
    }
}

impl BatchCall for Rotate {
    type Answer = Option<Family>;

    async fn run(db: &Db, calls: &[Self]) -> Result<Vec<Option<Family>>, Error> {
        let mut rotated = fetch_all!(
            db.writer(),
            Family,
            ROTATE_ALL_POSTGRES,
            Array::of(calls, |token| token.family_id.as_str()),
            Array::of(calls, |token| token.generation),
            Array::of(calls, |token| token.client_id.as_str()),
            Array::of(calls, |token| token.now.micros()),
            Array::of_optional(calls, |token| token.dpop_jkt.as_deref()),
            calls.first().map_or(0, |token| token.idle_micros),
        )?;
        let answer = |token: &Self| {
            let place = rotated.iter().position(|family| token.was_rotated_to(family))?;
            // Taken out, so that only one of several calls with the same token succeeds.
            Some(rotated.swap_remove(place))
        };
        Ok(calls.iter().map(answer).collect())
    }
}
