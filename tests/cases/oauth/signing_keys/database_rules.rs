//! What the database itself refuses, whoever asks.

use super::{one, published};
use shared::db::Error;
use shared::execute;
use tests::{Db, World, on_every_shape};

/// Runs a statement that must fail by this rule.
async fn expect_refusal(db: &Db, statement: &'static str, rule: &str) {
    let says = match execute!(db.writer(), statement) {
        Ok(changed) => panic!("{statement}: changed {changed}"),
        Err(Error::Conflict) => "unique".to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(says.contains(rule), "{statement}: {says}");
}

async fn expect_success(db: &Db, statement: &'static str) {
    assert_eq!(execute!(db.writer(), statement).unwrap(), 1, "{statement}");
}

const PAST: &str = "its past stays";
const BEFORE_IT_SIGNS: &str = "published_before_it_signs";
const UNTIL_DEAD: &str = "published_until_its_tokens_are_dead";
const PRIVATE: &str = "private_until_deleted";
const AGREE: &str = "state_and_times_agree";

async fn a_staged_key_becomes_active_in_its_time_and_nothing_else(world: World) {
    let db = world.db().await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET state = 'active', activated_at = sign_after - 1 WHERE state = 'staged'",
            BEFORE_IT_SIGNS,
        ),
        (
            "UPDATE signing_keys SET state = 'active', activated_at = sign_after WHERE state = 'staged'",
            "unique",
        ),
        (
            "UPDATE signing_keys SET state = 'active' WHERE state = 'staged'",
            AGREE,
        ),
        (
            "UPDATE signing_keys SET sign_after = created_at + 1 WHERE state = 'staged'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET created_at = created_at - 1 WHERE state = 'staged'",
            PAST,
        ),
        ("UPDATE signing_keys SET number = 7 WHERE state = 'staged'", PAST),
        (
            "UPDATE signing_keys SET kid = 'another' WHERE state = 'staged'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET public_jwk = '{}' WHERE state = 'staged'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET activated_at = sign_after WHERE state = 'staged'",
            AGREE,
        ),
        (
            "UPDATE signing_keys SET sealed_private_key = NULL WHERE state = 'staged'",
            PRIVATE,
        ),
        (
            "UPDATE signing_keys SET compromised = TRUE WHERE state = 'staged'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET state = 'retired', activated_at = sign_after, retired_at = sign_after, \
          dead_after = sign_after + 660000000 WHERE state = 'staged'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', deleted_at = sign_after, sealed_private_key = NULL \
          WHERE state = 'staged'",
            PAST,
        ),
        ("DELETE FROM signing_keys WHERE state = 'staged'", "stays"),
    ] {
        expect_refusal(&db, statement, rule).await;
    }
}

async fn an_active_key_retires_and_nothing_else(world: World) {
    let db = world.db().await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET state = 'staged', activated_at = NULL WHERE state = 'active'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', deleted_at = activated_at, sealed_private_key = NULL \
          WHERE state = 'active'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET activated_at = activated_at + 1 WHERE state = 'active'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET state = 'retired' WHERE state = 'active'",
            AGREE,
        ),
        (
            "UPDATE signing_keys SET state = 'retired', retired_at = activated_at, \
          dead_after = activated_at + 599999999 WHERE state = 'active'",
            UNTIL_DEAD,
        ),
        (
            "UPDATE signing_keys SET state = 'retired', retired_at = activated_at, \
          dead_after = activated_at + 660000000, sealed_private_key = NULL WHERE state = 'active'",
            PRIVATE,
        ),
        ("DELETE FROM signing_keys", "stays"),
    ] {
        expect_refusal(&db, statement, rule).await;
    }
}

async fn a_retired_key_is_deleted_in_its_time_and_nothing_else(world: World) {
    let db = world.db().await;
    let retire = "UPDATE signing_keys SET state = 'retired', retired_at = activated_at + 3600000000, \
                  dead_after = activated_at + 4260000000 WHERE state = 'active'";
    expect_success(&db, retire).await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET state = 'active', retired_at = NULL, dead_after = NULL WHERE state = 'retired'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET state = 'active' WHERE state = 'retired'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET dead_after = dead_after - 1 WHERE state = 'retired'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', deleted_at = dead_after - 1, sealed_private_key = NULL \
          WHERE state = 'retired'",
            UNTIL_DEAD,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', deleted_at = dead_after WHERE state = 'retired'",
            PRIVATE,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', sealed_private_key = NULL WHERE state = 'retired'",
            AGREE,
        ),
    ] {
        expect_refusal(&db, statement, rule).await;
    }
    let delete = "UPDATE signing_keys SET state = 'deleted', deleted_at = dead_after, sealed_private_key = NULL \
                  WHERE state = 'retired'";
    expect_success(&db, delete).await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET state = 'retired', deleted_at = NULL WHERE state = 'deleted'",
            PAST,
        ),
        (
            "UPDATE signing_keys SET compromised = TRUE WHERE state = 'deleted'",
            PAST,
        ),
        ("DELETE FROM signing_keys WHERE state = 'deleted'", "stays"),
    ] {
        expect_refusal(&db, statement, rule).await;
    }
}

async fn a_compromised_key_is_deleted_and_does_not_come_back(world: World) {
    let db = world.db().await;
    let throw_away = "UPDATE signing_keys SET state = 'deleted', deleted_at = activated_at, compromised = TRUE, \
                      sealed_private_key = NULL WHERE state = 'active'";
    expect_success(&db, throw_away).await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET compromised = FALSE WHERE compromised",
            PAST,
        ),
        (
            "UPDATE signing_keys SET state = 'active', compromised = FALSE WHERE compromised",
            PAST,
        ),
    ] {
        expect_refusal(&db, statement, rule).await;
    }
}

async fn a_key_begins_as_staged_and_there_is_one(world: World) {
    let db = world.db().await;
    let (active, staged) = (one(&world, "active"), one(&world, "staged"));
    for (statement, rule) in [
        (
            "INSERT INTO signing_keys (kid, number, state, public_jwk, sealed_private_key, created_at, sign_after, \
          activated_at, compromised) SELECT 'x', 3, 'active', '{}', sealed_private_key, 0, 1, 1, FALSE \
          FROM signing_keys WHERE state = 'active'",
            "begins as staged",
        ),
        (
            "INSERT INTO signing_keys (kid, number, state, public_jwk, sealed_private_key, created_at, sign_after, \
          compromised) SELECT 'x', 3, 'staged', '{}', sealed_private_key, 0, 0, FALSE \
          FROM signing_keys WHERE state = 'active'",
            BEFORE_IT_SIGNS,
        ),
        (
            "INSERT INTO signing_keys (kid, number, state, public_jwk, sealed_private_key, created_at, sign_after, \
          compromised) SELECT 'x', 3, 'staged', '{}', sealed_private_key, 0, 1, FALSE \
          FROM signing_keys WHERE state = 'active'",
            "unique",
        ),
    ] {
        expect_refusal(&db, statement, rule).await;
    }
    assert_eq!(published(&world).await, [active, staged]);
}

on_every_shape!(
    a_staged_key_becomes_active_in_its_time_and_nothing_else,
    an_active_key_retires_and_nothing_else,
    a_retired_key_is_deleted_in_its_time_and_nothing_else,
    a_compromised_key_is_deleted_and_does_not_come_back,
    a_key_begins_as_staged_and_there_is_one,
);
