//! Copies that end before they are whole, and the next run.

use super::{fill, kill_copy};
use crate::operations::backup::expect_refusal;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use std::process::Output;
use storage::{execute, fetch_all};
use tests::{Database, Db, World, eventually, on_shapes};

/// Expects that a copy told this line of its progress once, and nothing about tables without rows.
fn expect_told_once(copy: &Output, line: &str) {
    let told = String::from_utf8_lossy(&copy.stderr);
    assert_eq!(told.lines().filter(|told| *told == line).count(), 1, "{told}");
    assert!(!told.contains(" of 0"), "{told}");
}

/// The last post of the target is missing, and then there is one more.
async fn expect_missing_and_added_rows_to_be_found(db: &Db, copy: &dyn Fn() -> Output) {
    let last = "SELECT to_jsonb(posts)::TEXT FROM posts ORDER BY id DESC LIMIT 1";
    let [(post,)] = &fetch_all!(db.reader(), (String,), last).unwrap()[..] else {
        panic!("no post is copied");
    };
    let delete = "DELETE FROM posts WHERE id = (SELECT MAX(id) FROM posts)";
    let insert = "INSERT INTO posts SELECT * FROM jsonb_populate_record(NULL::posts, $1::jsonb)";
    execute!(db.writer(), delete).unwrap();
    expect_refusal(&copy(), 1, "posts differs");
    execute!(db.writer(), insert, post).unwrap();
    let added = "UPDATE posts SET id = id + 1 WHERE id = (SELECT MAX(id) FROM posts)";
    execute!(db.writer(), added).unwrap();
    execute!(db.writer(), insert, post).unwrap();
    expect_refusal(&copy(), 1, "posts differs");
    execute!(db.writer(), delete).unwrap();
}

async fn a_killed_copy_resumes_and_finds_a_changed_row(mut world: World) {
    let user = world.user().await;
    world.stop().await;
    // The posts are a whole batch.
    fill(&world, &user, [1_000, 10_000, 150_000]).await;
    let target = Database::create();
    let url = target.url();
    let to = ["copy", "--json", "--to", &url];
    let db = Db::open(&url.parse().unwrap(), 2, 1).await.unwrap();
    let mut copied = 0;
    for _ in 0..3 {
        let place = ("security_events", copied + 1);
        (_, copied) = kill_copy(&world, &to, &db, place).await;
    }
    let change = |detail: &str| {
        let change = format!("UPDATE security_events SET detail = '{detail}' WHERE trace_id = 'large3'");
        AssertSqlSafe(change)
    };
    let another = "UPDATE _copy SET installation = 'another' || installation";
    execute!(db.writer(), another).unwrap();
    expect_refusal(&world.run(&to, ""), 1, "another installation");
    let same = "UPDATE _copy SET installation = substr(installation, 8)";
    execute!(db.writer(), same).unwrap();
    execute!(db.writer(), "CREATE TABLE notes (note TEXT)").unwrap();
    expect_refusal(&world.run(&to, ""), 1, "notes.note is not the same");
    execute!(db.writer(), "DROP TABLE notes").unwrap();
    execute!(db.writer(), change("changed")).unwrap();
    let differs = world.run(&to, "");
    expect_refusal(&differs, 1, "security_events differs");
    expect_told_once(&differs, "copied  posts  10000 of 10000");
    let start = ["users", "list", "--database-url", &url];
    expect_refusal(&world.run_without_settings(&start), 64, "unfinished copy");
    execute!(db.writer(), change("\\N")).unwrap();
    expect_missing_and_added_rows_to_be_found(&db, &|| world.run(&to, "")).await;
    let copied = world.run(&to, "");
    assert!(copied.status.success(), "{copied:?}");
    expect_told_once(&copied, "compared  posts  10000 of 10000");
    let report: Value = serde_json::from_slice(&copied.stdout).unwrap();
    assert!(
        report["rows"]["security_events"].as_i64().unwrap() >= 150_000,
        "{report}"
    );
    world.set_flags(&[("--database-url", Some(url.as_str()))]);
    world.restart().await;
    user.get("/me").await.expect(200);
    world.stop().await;
}

/// The connection to the target breaks after the source was marked, and before the target is whole.
async fn a_copy_that_fails_between_its_commits_leaves_nothing_to_serve(mut world: World) {
    let user = world.user().await;
    world.stop().await;
    let target = Database::create();
    let (proxy, through_proxy) = target.behind_proxy(&world.data_dir().with_file_name("proxy"));
    // The last statement before both commits.
    proxy.hold_at("ANALYZE");
    let copy = world.spawn(&["copy", "--to", &through_proxy]);
    eventually("the copy does not reach its end", async || proxy.has_sprung()).await;
    proxy.cut_at("COMMIT");
    proxy.release();
    let failed = copy.wait_with_output().unwrap();
    assert!(!failed.status.success() && proxy.has_sprung(), "{failed:?}");

    let url = target.url();
    let list = ["users", "list"];
    expect_refusal(&world.run(&list, ""), 64, "latchkey restore");
    let in_target = [&list[..], &["--database-url", &url]].concat();
    expect_refusal(&world.run_without_settings(&in_target), 64, "unfinished copy");
    let elsewhere = Database::create();
    let second = world.run(&["copy", "--to", &elsewhere.url()], "");
    expect_refusal(&second, 1, "continues there");
    let resumed = world.run(&["copy", "--to", &url], "");
    assert!(resumed.status.success(), "{resumed:?}");
    world.set_flags(&[("--database-url", Some(url.as_str()))]);
    world.restart().await;
    user.get("/me").await.expect(200);
    world.stop().await;
}

on_shapes!(a_killed_copy_resumes_and_finds_a_changed_row: sqlite Sqlite);
on_shapes!(a_copy_that_fails_between_its_commits_leaves_nothing_to_serve: sqlite Sqlite);
