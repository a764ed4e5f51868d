//! Constraints that the database enforces for every writer.

use super::{key_in_state, published};
use storage::db::Error;
use storage::execute;
use tests::{Db, World, on_every_shape};

/// Runs a statement that must violate a constraint or a trigger with `rule` in its name or message.
async fn expect_constraint_violation(db: &Db, statement: &'static str, rule: &str) {
    let message = match execute!(db.writer(), statement) {
        Ok(changed) => panic!("{statement}: changed {changed}"),
        Err(Error::Conflict) => "unique".to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(message.contains(rule), "{statement}: {message}");
}

async fn expect_success(db: &Db, statement: &'static str) {
    assert_eq!(execute!(db.writer(), statement).unwrap(), 1, "{statement}");
}

/// The trigger that guards the order of the states and the immutable columns.
const FORWARD_ONLY: &str = "times once set cannot change";
const PUBLISHED_BEFORE_SIGNING: &str = "published_before_it_signs";
const PUBLISHED_UNTIL_DEAD: &str = "published_until_its_tokens_expire";
const PRIVATE_KEY: &str = "private_key_until_deleted";
const STATE_AND_TIMES: &str = "state_and_times_agree";

async fn staged_keys_can_only_become_active_and_not_early(world: World) {
    let db = world.db().await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET state = 'active', activated_at = sign_after - 1 WHERE state = 'staged'",
            PUBLISHED_BEFORE_SIGNING,
        ),
        (
            "UPDATE signing_keys SET state = 'active', activated_at = sign_after WHERE state = 'staged'",
            "unique",
        ),
        (
            "UPDATE signing_keys SET state = 'active' WHERE state = 'staged'",
            STATE_AND_TIMES,
        ),
        (
            "UPDATE signing_keys SET sign_after = created_at + 1 WHERE state = 'staged'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET created_at = created_at - 1 WHERE state = 'staged'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET number = 7 WHERE state = 'staged'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET kid = 'another' WHERE state = 'staged'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET public_jwk = '{}' WHERE state = 'staged'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET activated_at = sign_after WHERE state = 'staged'",
            STATE_AND_TIMES,
        ),
        (
            "UPDATE signing_keys SET sealed_private_key = NULL WHERE state = 'staged'",
            PRIVATE_KEY,
        ),
        (
            "UPDATE signing_keys SET compromised = TRUE WHERE state = 'staged'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET state = 'retired', activated_at = sign_after, retired_at = sign_after, \
          dead_after = sign_after + 660000000 WHERE state = 'staged'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', deleted_at = sign_after, sealed_private_key = NULL \
          WHERE state = 'staged'",
            FORWARD_ONLY,
        ),
        (
            "DELETE FROM signing_keys WHERE state = 'staged'",
            "cannot be deleted",
        ),
    ] {
        expect_constraint_violation(&db, statement, rule).await;
    }
}

async fn active_keys_can_only_be_retired(world: World) {
    let db = world.db().await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET state = 'staged', activated_at = NULL WHERE state = 'active'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', deleted_at = activated_at, sealed_private_key = NULL \
          WHERE state = 'active'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET activated_at = activated_at + 1 WHERE state = 'active'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET state = 'retired' WHERE state = 'active'",
            STATE_AND_TIMES,
        ),
        (
            "UPDATE signing_keys SET state = 'retired', retired_at = activated_at, \
          dead_after = activated_at + 599999999 WHERE state = 'active'",
            PUBLISHED_UNTIL_DEAD,
        ),
        (
            "UPDATE signing_keys SET state = 'retired', retired_at = activated_at, \
          dead_after = activated_at + 660000000, sealed_private_key = NULL WHERE state = 'active'",
            PRIVATE_KEY,
        ),
        ("DELETE FROM signing_keys", "cannot be deleted"),
    ] {
        expect_constraint_violation(&db, statement, rule).await;
    }
}

async fn retired_keys_can_only_be_deleted_and_not_early(world: World) {
    let db = world.db().await;
    let retire = "UPDATE signing_keys SET state = 'retired', retired_at = activated_at + 3600000000, \
                  dead_after = activated_at + 4260000000 WHERE state = 'active'";
    expect_success(&db, retire).await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET state = 'active', retired_at = NULL, dead_after = NULL WHERE state = 'retired'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET state = 'active' WHERE state = 'retired'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET dead_after = dead_after - 1 WHERE state = 'retired'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', deleted_at = dead_after - 1, sealed_private_key = NULL \
          WHERE state = 'retired'",
            PUBLISHED_UNTIL_DEAD,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', deleted_at = dead_after WHERE state = 'retired'",
            PRIVATE_KEY,
        ),
        (
            "UPDATE signing_keys SET state = 'deleted', sealed_private_key = NULL WHERE state = 'retired'",
            STATE_AND_TIMES,
        ),
    ] {
        expect_constraint_violation(&db, statement, rule).await;
    }
    let delete = "UPDATE signing_keys SET state = 'deleted', deleted_at = dead_after, sealed_private_key = NULL \
                  WHERE state = 'retired'";
    expect_success(&db, delete).await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET state = 'retired', deleted_at = NULL WHERE state = 'deleted'",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET compromised = TRUE, deleted_at = deleted_at + 1 WHERE state = 'deleted'",
            FORWARD_ONLY,
        ),
        (
            "DELETE FROM signing_keys WHERE state = 'deleted'",
            "cannot be deleted",
        ),
    ] {
        expect_constraint_violation(&db, statement, rule).await;
    }
    // The key may be found to have leaked later.
    let mark_compromised = "UPDATE signing_keys SET compromised = TRUE WHERE state = 'deleted'";
    expect_success(&db, mark_compromised).await;
    let unmark = "UPDATE signing_keys SET compromised = FALSE WHERE state = 'deleted'";
    expect_constraint_violation(&db, unmark, FORWARD_ONLY).await;
}

async fn compromised_keys_are_deleted_for_good(world: World) {
    let db = world.db().await;
    let mark_compromised = "UPDATE signing_keys SET state = 'deleted', deleted_at = activated_at, compromised = TRUE, \
                      sealed_private_key = NULL WHERE state = 'active'";
    expect_success(&db, mark_compromised).await;
    for (statement, rule) in [
        (
            "UPDATE signing_keys SET compromised = FALSE WHERE compromised",
            FORWARD_ONLY,
        ),
        (
            "UPDATE signing_keys SET state = 'active', compromised = FALSE WHERE compromised",
            FORWARD_ONLY,
        ),
    ] {
        expect_constraint_violation(&db, statement, rule).await;
    }
}

async fn keys_begin_as_staged_and_only_one_is_staged(world: World) {
    let db = world.db().await;
    let (active, staged) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    for (statement, rule) in [
        (
            "INSERT INTO signing_keys (kid, number, state, public_jwk, sealed_private_key, created_at, sign_after, \
          activated_at, compromised) SELECT 'x', 3, 'active', '{}', sealed_private_key, 0, 1, 1, FALSE \
          FROM signing_keys WHERE state = 'active'",
            "must be staged",
        ),
        (
            "INSERT INTO signing_keys (kid, number, state, public_jwk, sealed_private_key, created_at, sign_after, \
          compromised) SELECT 'x', 3, 'staged', '{}', sealed_private_key, 0, 0, FALSE \
          FROM signing_keys WHERE state = 'active'",
            PUBLISHED_BEFORE_SIGNING,
        ),
        (
            "INSERT INTO signing_keys (kid, number, state, public_jwk, sealed_private_key, created_at, sign_after, \
          compromised) SELECT 'x', 3, 'staged', '{}', sealed_private_key, 0, 1, FALSE \
          FROM signing_keys WHERE state = 'active'",
            "unique",
        ),
    ] {
        expect_constraint_violation(&db, statement, rule).await;
    }
    assert_eq!(published(&world).await, [active, staged]);
}

on_every_shape!(
    staged_keys_can_only_become_active_and_not_early,
    active_keys_can_only_be_retired,
    retired_keys_can_only_be_deleted_and_not_early,
    compromised_keys_are_deleted_for_good,
    keys_begin_as_staged_and_only_one_is_staged,
);
