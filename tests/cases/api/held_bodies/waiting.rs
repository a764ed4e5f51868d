//! Writes that wait for a concurrent transaction which ends their authority. Otherwise a write could commit
//! after a deletion that did not see it, and leave a draft or a stored reply in the deleted account, or
//! follow a demotion.

use super::{Credentials, Fixture, Held, ROWS, Row, contents};
use storage::db::{Db, Tx};
use storage::{execute, fetch_one};
use tests::{Shape, World, eventually, on_postgresql};

/// A world in which each waiting write has a connection.
async fn start(shape: Shape) -> World {
    let world = World::builder(shape).flag("--database-connections", "30");
    world.start().await
}

fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| row.writes_with_token())
}

/// Sends the bodies of these requests, waits until each waits for the transaction `end`, and commits it.
/// Expects that they are refused, and that only `end` has changed a table: `changed`.
async fn expect_refused_after(db: &Db, end: Tx, mut requests: Vec<Held<'_>>, changed: &str) {
    let before = contents(db).await;
    for request in &mut requests {
        request.send_body().await;
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let expected = i64::try_from(requests.len()).unwrap();
    let all_wait = || async { fetch_one!(db.reader(), (i64,), waiting).unwrap().0 >= expected };
    eventually("not every write waits", all_wait).await;
    end.commit().await.unwrap();
    for request in &mut requests {
        let operation = request.row.operation;
        assert_eq!(request.answer().await, request.row.refusal(), "{operation}");
    }
    let others = |contents: &str| {
        let lines = contents.lines().filter(|line| !line.starts_with(changed));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(others(&contents(db).await), others(&before));
}

async fn a_write_waits_for_the_end_of_its_user(shape: Shape) {
    let world = start(shape).await;
    let fixture = Fixture::create(&world).await;
    let db = world.db().await;
    let mut end = db.begin().await.unwrap();
    let update = "UPDATE users SET epoch = epoch + 1 WHERE id = $1";
    execute!(end.on(), update, fixture.ann.id).unwrap();
    let with_token = rows().map(|row| (row, Credentials::Token));
    let requests = fixture.begin(&world, with_token).await;
    expect_refused_after(&db, end, requests, "users.").await;
}

/// The statements of the API do not lock the session, but they check it. They wait for their table here, so
/// that the session has ended when they begin.
async fn a_write_checks_the_session_in_its_own_statement(shape: Shape) {
    let world = start(shape).await;
    let fixture = Fixture::create(&world).await;
    let db = world.db().await;
    let mut end = db.begin().await.unwrap();
    execute!(end.on(), "LOCK TABLE posts, comments, payments IN SHARE MODE").unwrap();
    let delete = "DELETE FROM sessions WHERE user_id = $1";
    execute!(end.on(), delete, fixture.ann.id).unwrap();
    let with_session = rows().map(|row| (row, Credentials::Session));
    let mut requests = fixture.begin(&world, with_session).await;
    // A post without an idempotency key is stored by another statement.
    let row = rows().find(|row| row.operation == "createPost").unwrap();
    let without_key = fixture.begin_with(&world, row, Credentials::Session, "").await;
    requests.push(without_key);
    expect_refused_after(&db, end, requests, "sessions.").await;
}

/// The user may have ended the session because somebody else was using it.
async fn a_form_of_the_account_waits_for_the_end_of_its_session(shape: Shape) {
    let world = start(shape).await;
    let fixture = Fixture::create(&world).await;
    let db = world.db().await;
    let (user, other) = (fixture.ann.id, fixture.other_session);
    let mut end = db.begin().await.unwrap();
    let delete = "DELETE FROM sessions WHERE user_id = $1 AND id <> $2";
    execute!(end.on(), delete, user, other).unwrap();
    let forms = [
        "endSessionByForm",
        "endOtherSessionsByForm",
        "withdrawGrantByForm",
    ];
    let rows = ROWS.iter().filter(|row| forms.contains(&row.operation));
    let requests = fixture
        .begin(&world, rows.map(|row| (row, Credentials::Session)))
        .await;
    expect_refused_after(&db, end, requests, "sessions.").await;
    let remaining = "SELECT id FROM sessions WHERE user_id = $1";
    assert_eq!(
        fetch_one!(db.reader(), (i64,), remaining, user).unwrap(),
        (other,)
    );
}
on_postgresql!(
    a_write_waits_for_the_end_of_its_user,
    a_write_checks_the_session_in_its_own_statement,
    a_form_of_the_account_waits_for_the_end_of_its_session,
);
