//! A user with 200,000 refresh token families changes the password, and others are served meanwhile. Ending
//! all tokens of a user or of a client writes one row.

use super::ALONE;
use serde_json::json;
use std::cell::RefCell;
use std::time::{Duration, Instant};
use storage::{execute, fetch_one};
use tests::{
    App, Db, PASSWORD, Shape, Tokens, User, World, expect_p99_within_twice, on_every_shape, p99_of_calls,
    print_figure,
};

const SECOND: Duration = Duration::from_secs(1);

/// Copies the user's family 200,000 times.
const FILL: &str = "
    INSERT INTO refresh_families (id, client_id, user_id, session_id, user_epoch, client_epoch, scope, auth_time, amr,
                                  generation, created_at, last_used_at, idle_expires_at, expires_at)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000)
    SELECT 'family-' || user_id || '-' || n, client_id, user_id, session_id, user_epoch, client_epoch, scope, auth_time, amr,
           generation, created_at, last_used_at, idle_expires_at, expires_at
    FROM numbers, refresh_families WHERE user_id = $1";

async fn user_with_families(world: &World, app: &App) -> (User, Tokens) {
    let user = world.sign_up().await;
    let tokens = app.tokens(&user, "posts:read").await;
    let db = world.db().await;
    execute!(db.writer(), FILL, user.id).unwrap();
    (user, tokens)
}

/// Changes the password. Returns the time that the call took.
async fn change_password(user: &User) -> Duration {
    let began = Instant::now();
    let body = json!({ "current_password": PASSWORD, "new_password": "another horse" });
    user.call("PUT", "/me/password").json(&body).await.expect(204);
    began.elapsed()
}

/// The number of revocations.
async fn revocations(db: &Db) -> i64 {
    let count = "SELECT COUNT(*) FROM revocations";
    fetch_one!(db.reader(), (i64,), count).unwrap().0
}

async fn expect_no_family_written(db: &Db) {
    let written = "SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL";
    let (written,) = fetch_one!(db.reader(), (i64,), written).unwrap();
    assert_eq!(written, 0, "families were written");
}

async fn all_families_of_a_user_or_a_client_end_by_one_row(shape: Shape) {
    let _alone = ALONE.lock().await;
    let world = World::builder(shape).clock().start().await;
    let db = world.db().await;
    let (bob, app) = world.user_and_app().await;
    let of_bob = app.tokens(&bob, "posts:read").await;
    let others = world.anyone().bearer(&of_bob.access);
    let ended = RefCell::new(Vec::new());
    expect_p99_within_twice("a password change with 200,000 families", async || {
        let (ann, tokens) = user_with_families(&world, &app).await;
        let (alone, before) = (p99_of_calls(&others, "/protected").await, revocations(&db).await);
        let (took, beside) = tokio::join!(change_password(&ann), p99_of_calls(&others, "/protected"));
        print_figure(&format!("a password change with 200,000 families took {took:?}"));
        assert!(took < SECOND, "the change took {took:?}");
        assert_eq!(revocations(&db).await, before + 1);
        world.expect_revoked(&tokens.access).await;
        let refused = app.refresh(&world.anyone(), &tokens.refresh).await;
        refused.expect_token_error(400, "invalid_grant");
        ended.borrow_mut().push(tokens.access);
        (alone, beside)
    })
    .await;
    expect_no_family_written(&db).await;
    world.advance(300 * SECOND);
    for token in ended.into_inner() {
        world.expect_revoked(&token).await;
    }
    others.get("/protected").await.expect(200);
    if shape != Shape::Sqlite {
        world.expect_idle_mirrors().await;
    }
    let before = revocations(&db).await;
    world.cli(&["clients", "disable", &app.id, "--json"], "");
    world.expect_revoked_soon(&of_bob.access).await;
    assert_eq!(revocations(&db).await, before + 1);
    expect_no_family_written(&db).await;
}

on_every_shape!(all_families_of_a_user_or_a_client_end_by_one_row);
