//! The command `copy`: an embedded installation continues on PostgreSQL.

mod interrupted;
mod large;

use super::backup::expect_refusal;
use foundation::sealing::SealingKey;
use serde_json::json;
use sqlx::AssertSqlSafe;
use std::fs;
use std::time::Duration;
use storage::{execute, fetch_one, fetch_optional};
use tests::{
    Authenticator, Database, Db, PASSWORD, User, World, eventually, fresh_key, items, link, on_shapes,
};

async fn a_copied_installation_continues_with_all_that_it_gave_out(mut world: World) {
    let (user, app) = world.user_and_app().await;
    let (with_passkey, with_codes) = (world.user().await, world.user().await);
    let passkey = world.add_passkey(&mut with_passkey.browser()).await;
    let codes = Authenticator::enable(&world, &with_codes).await;
    let mut posts = Vec::new();
    for number in 0..25 {
        posts.push(user.publish(&format!("Post {number}")).await);
    }
    let comment = user.comment(&posts[0], "Before the copy").await;
    let (key, payment) = (fresh_key(), json!({ "amount": 700, "currency": "EUR" }));
    let paid = user.payment(&key, &payment).await.expect(201).json();
    let next = link(&user.get("/posts").await.expect(200), "next").unwrap();
    let second_page = items(&user.get(&next).await.expect(200));
    let tokens = app.tokens(&user, "posts:read").await;
    let ended = app.tokens(&user, "posts:read").await;
    let revocation = app.client_call(&world.anyone(), "/revoke", &[("token", &ended.access)]);
    revocation.await.expect(200);
    world.expect_revoked(&ended.access).await;
    world.stop().await;

    let target = Database::create();
    let url = target.url();
    expect_copied_once(&world, &target);

    world.set_flags(&[("--database-url", Some(url.as_str()))]);
    world.restart().await;
    world.expect_accepted(&tokens.access).await;
    world.expect_revoked(&ended.access).await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    user.get("/me").await.expect(200);
    assert_eq!(items(&user.get(&next).await.expect(200)), second_page);
    let unchanged = user.get(&posts[0].path).header("if-none-match", &posts[0].etag);
    unchanged.await.expect(304);
    let edit = user.patch(&posts[1].path).header("if-match", &posts[1].etag);
    edit.json(&json!({ "title": "After the copy" })).await.expect(200);
    assert_eq!(user.payment(&key, &payment).await.expect(201).json(), paid);
    assert!(user.publish("After the copy").await.id > posts[24].id);
    assert!(user.comment(&posts[0], "After the copy").await.id > comment.id);
    let signed_in = passkey.sign_in(&mut world.browser()).await;
    assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
    world.log_in_with(&codes.sign_in(&world, &with_codes)).await;
    let db = Db::open(&url.parse().unwrap(), 2, 1).await.unwrap();
    let deleted = execute!(db.writer(), "DELETE FROM payments");
    assert!(deleted.is_err(), "the triggers are on again");
    world.stop().await;
    expect_way_back(&mut world, &user, &tokens.access).await;
}

/// Copies the stopped installation to this database, after which it can be neither copied nor used.
fn expect_copied_once(world: &World, target: &Database) {
    let url = target.url();
    let copied = world.run(&["copy", "--to", &url], "");
    let [printed, progress] = [&copied.stdout, &copied.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(copied.status.success(), "{progress}");
    let master_key = world.data_dir().join("master.key");
    for line in ["users  ", &format!("master_key  {}", master_key.display())] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    for line in ["copied  users  ", "compared  users  "] {
        assert!(progress.contains(line), "{line}: {progress}");
    }
    world.expect_no_secrets_in(&format!("{printed}{progress}"), "the output");
    world.expect_no_secrets_in(&target.rows(), "the copy");
    expect_refusal(&world.run(&["copy", "--to", &url], ""), 1, "continues there");
    expect_refusal(&world.run(&["users", "list"], ""), 64, "latchkey restore");
}

/// The stopped installation goes back to SQLite, where its sessions and tokens have ended.
async fn expect_way_back(world: &mut World, user: &User, access: &str) {
    world.set_flags(&[("--database-url", None)]);
    let backup = world.data_dir().with_file_name("backup.db");
    let file = backup.to_str().unwrap();
    assert!(world.run(&["backup", file], "").status.success());
    assert!(world.run(&["restore", file, "--force"], "").status.success());
    world.restart().await;
    user.get("/me").await.expect(401);
    world.expect_revoked(access).await;
    world.log_in(&user.email, PASSWORD).await;
}

/// Expects that the target may have no table, and that nothing is created beside one.
async fn expect_refusals_of_tables(world: &World, url: &str) {
    let db = Db::open(&url.parse().unwrap(), 2, 1).await.unwrap();
    execute!(db.writer(), "CREATE SCHEMA elsewhere").unwrap();
    // Roles belong to the server, on which the test may have run before.
    let _ = execute!(db.writer(), "CREATE ROLE stranger LOGIN");
    let stranger = url.replace("//postgres@", "//stranger@");
    for (url, table) in [
        (url, "public.notes"),
        (url, "public._notes"),
        (url, "elsewhere.notes"),
        // It cannot read the table.
        (stranger.as_str(), "public.secrets"),
    ] {
        let create = AssertSqlSafe(format!("CREATE TABLE {table} (note TEXT)"));
        execute!(db.writer(), create).unwrap();
        let refused = world.run(&["copy", "--to", url], "");
        expect_refusal(&refused, 1, &format!("the table {table}:"));
        let count =
            "SELECT COUNT(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
        assert_eq!(fetch_one!(db.reader(), (i64,), count).unwrap(), (1,), "{table}");
        execute!(db.writer(), AssertSqlSafe(format!("DROP TABLE {table}"))).unwrap();
    }
    db.close().await;
}

async fn only_an_empty_database_becomes_a_copy(mut world: World) {
    let (user, with_codes) = (world.user().await, world.user().await);
    Authenticator::enable(&world, &with_codes).await;
    let target = Database::create();
    let url = target.url();
    let to = ["copy", "--to", &url];
    expect_refusal(&world.run(&to, ""), 1, "in use");
    expect_refusal(&world.run(&["copy"], ""), 64, "--to");
    world.stop().await;
    let embedded = format!("sqlite:{}", world.data_dir().join("other.db").display());
    expect_refusal(&world.run(&["copy", "--to", &embedded], ""), 1, "postgres://");
    let elsewhere = world.data_dir().with_file_name("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for key in ["master.key", "account.key"] {
        fs::copy(world.data_dir().join(key), elsewhere.join(key)).unwrap();
    }
    let missing = [&to[..], &["--data-dir", elsewhere.to_str().unwrap()]].concat();
    expect_refusal(&world.run_without_settings(&missing), 1, "latchkey.db");
    for key in ["master.key", "account.key"] {
        let file = world.data_dir().join(key);
        let right = fs::read(&file).unwrap();
        fs::write(&file, SealingKey::generate().to_text()).unwrap();
        expect_refusal(&world.run(&to, ""), 64, "sealed");
        fs::write(&file, right).unwrap();
    }

    expect_refusals_of_tables(&world, &url).await;
    let file = world.data_dir().with_file_name("target.url");
    fs::write(&file, &url).unwrap();
    expect_bar(&world.run_on_terminal(60, &["copy", "--to-file", file.to_str().unwrap()]));
    world.set_flags(&[("--database-url", Some(url.as_str()))]);
    world.restart().await;
    user.get("/me").await.expect(200);
    world.stop().await;
}

/// Expects the progress on a terminal of 60 columns, whose lines replace each other, and then a table.
fn expect_bar(shown: &str) {
    let bar = format!("\r\u{1b}[K[{}] 100%", "#".repeat(20));
    for verb in ["copied", "compared"] {
        assert!(shown.contains(&format!("{bar}  {verb}  users  ")), "{shown:?}");
    }
    let mut lines = shown.split("\r\u{1b}[K").flat_map(str::lines);
    let is_longer = |line: &&str| line.starts_with('[') && line.chars().count() > 60;
    assert_eq!(lines.find(is_longer), None, "{shown:?}");
    assert!(!shown.contains(" of 0"), "{shown:?}");
    assert!(
        shown.contains("\nITEM ") && shown.contains("\nschema "),
        "{shown:?}"
    );
}

/// Adds these numbers of users, posts and events, among them values that `COPY` escapes.
async fn fill(world: &World, author: &User, [users, posts, events]: [u32; 3]) {
    let (db, old) = (world.db().await, world.now().before(Duration::from_hours(2)));
    let numbers = |count: u32| {
        format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})"
        )
    };
    let text = "CASE n % 3 WHEN 0 THEN '\\N' WHEN 1 THEN 'ä€😀\\'
                ELSE '\\.' || char(8) || char(9) || char(10) || char(11) || char(12) || char(13) END";
    let users = format!(
        "INSERT INTO users (email, email_key, email_verified, role, password_hash, epoch, password_change_required, created_at,
                            updated_at)
         {} SELECT 'large' || n || '@example.org', 'large' || n || '@example.org', TRUE, 'user', NULL, 0, FALSE, $1, $1
         FROM numbers",
        numbers(users),
    );
    let events = format!(
        "INSERT INTO security_events (at, name, outcome, user_id, address, trace_id, detail)
         {} SELECT $1 - n, 'authn_login_success', 'success', n, '192.0.2.' || (n % 250), 'large' || n, {text}
         FROM numbers",
        numbers(events),
    );
    let posts = format!(
        "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at)
         {} SELECT {}, 'large' || n, {text}, 'draft', n, $1, $1 FROM numbers",
        numbers(posts),
        author.id,
    );
    for insert in [users, events, posts] {
        execute!(db.writer(), AssertSqlSafe(insert), old).unwrap();
    }
    db.close().await;
}

/// The table that an unfinished copy is at, and the number of its rows that are copied.
async fn progress(db: &Db) -> Option<(String, i64)> {
    let progress = "SELECT table_name, copied FROM _copy";
    // The table exists once the copy has begun.
    let progress = fetch_optional!(db.reader(), (String, i64), progress);
    progress.ok().flatten()
}

/// Runs the copy, and kills it when it has copied this many rows of a table. Returns its progress then.
async fn kill_copy(world: &World, to: &[&str], db: &Db, (table, rows): (&str, i64)) -> (String, i64) {
    let mut child = world.spawn(to);
    let mut last: Option<(String, i64)> = None;
    while !last
        .as_ref()
        .is_some_and(|(at, copied)| at == table && *copied >= rows)
    {
        eventually("the copy makes no progress", async || progress(db).await != last).await;
        last = progress(db).await;
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(!status.success(), "the copy ended before it was killed");
    progress(db).await.unwrap()
}

on_shapes!(
    a_copied_installation_continues_with_all_that_it_gave_out: sqlite Sqlite
);
on_shapes!(only_an_empty_database_becomes_a_copy: sqlite Sqlite);
