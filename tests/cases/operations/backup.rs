//! The commands `backup` and `restore` of an embedded database: what a restored installation has, what ended,
//! and what it never gives out again.

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Sqlite};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Output;
use tests::{Authenticator, Database, PASSWORD, World, on_shapes};

/// Expects that a command failed with this exit code, for a reason with these words.
pub(super) fn expect_refusal(output: &Output, code: i32, words: &str) {
    let reason = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{reason}");
    assert!(reason.contains(words), "{words}: {reason}");
}

/// Makes a data directory that has only the keys of this world.
fn directory_with_keys(world: &World, name: &str) -> PathBuf {
    let directory = world.data_dir().with_file_name(name);
    fs::create_dir(&directory).unwrap();
    for key in ["master.key", "account.key"] {
        fs::copy(world.data_dir().join(key), directory.join(key)).unwrap();
    }
    directory
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

async fn a_restored_backup_has_its_data_and_repeats_no_tag_and_no_token(mut world: World) {
    let (user, app) = world.user_and_app().await;
    let two_steps = world.user().await;
    Authenticator::enable(&world, &two_steps).await;
    let kept = user.publish("Before the backup").await;
    let tokens = app.tokens(&user, "posts:read").await;
    let backup = world.data_dir().with_file_name("backup.db");
    let file = backup.to_str().unwrap();
    let mut child = world.spawn(&["backup", file, "--json"]);
    let mut written = 1;
    loop {
        user.publish(&format!("Meanwhile {written}")).await;
        written += 1;
        if child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!((1..=written).contains(&report["rows"]["posts"].as_i64().unwrap()));
    assert_eq!(
        report["master_key"],
        json!(world.data_dir().join("master.key").display().to_string())
    );
    assert_eq!(backup.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(
        !files(backup.parent().unwrap())
            .iter()
            .any(|name| { name.starts_with("backup.") && name != "backup.db" })
    );
    let key = fs::read(world.data_dir().join("master.key")).unwrap();
    let stored = fs::read(&backup).unwrap();
    assert!(!stored.windows(key.len()).any(|bytes| bytes == key));

    let lost = user.publish("After the backup").await;
    let comment = user.comment(&kept, "After the backup").await;
    let change = user
        .patch(&kept.path)
        .header("if-match", &kept.etag)
        .json(&json!({ "title": "Changed after the backup" }));
    let changed = change.await.expect(200).header("etag").to_owned();
    let later = app.tokens(&user, "posts:read").await;
    world.stop().await;
    let fresh = directory_with_keys(&world, "fresh");
    fs::rename(world.data_dir(), world.data_dir().with_file_name("former")).unwrap();
    fs::rename(fresh, world.data_dir()).unwrap();
    let restored = world.run(&["restore", file], "");
    assert!(restored.status.success(), "{restored:?}");
    let printed = String::from_utf8(restored.stdout).unwrap();
    assert!(printed.contains("users  "), "{printed}");
    assert!(printed.contains("\nended  all sessions"), "{printed}");
    world.restart().await;

    let reason = "the service was restored from a backup";
    // The program does not know the later tokens.
    for (token, has_reason) in [(&tokens, true), (&later, false)] {
        world.expect_revoked(&token.access).await;
        let refused = app.refresh(&world.anyone(), &token.refresh).await;
        let refused = refused.expect_token_error(400, "invalid_grant");
        assert_eq!(refused.text().contains(reason), has_reason, "{refused}");
    }
    let account = world.cli(&["users", "show", "--email", &two_steps.email, "--json"], "");
    assert_eq!(account["mfa_enabled"], true);
    assert_eq!(account["recovery_codes_left"], 0);
    user.get("/me").await.expect(401);
    let sign_in = user.browser().open("/signin").await;
    let words = "because this service was restored from a backup.";
    assert!(sign_in.visible_text().contains(words), "{}", sign_in.reply);
    let user = world.log_in(&user.email, PASSWORD).await;
    let read = user.get(&kept.path).await.expect(200);
    assert_eq!(read.json()["title"], json!("Before the backup"));
    let tag = read.header("etag").to_owned();
    user.get(&lost.path).await.expect(404);
    let edit = |tag: &str| {
        user.patch(&kept.path)
            .header("if-match", tag)
            .json(&json!({ "title": "Changed after the restore" }))
    };
    for former in [&kept.etag, &changed] {
        edit(former).await.expect(412);
    }
    let next = edit(&tag).await.expect(200).header("etag").to_owned();
    let tags = [&kept.etag, &changed, &tag, &next];
    for (position, tag) in tags.iter().enumerate() {
        assert!(!tags[..position].contains(tag), "{tags:?}");
    }
    assert!(user.publish("After the restore").await.id > lost.id);
    assert!(user.comment(&kept, "After the restore").await.id > comment.id);
    let signed = app.tokens(&user, "posts:read").await;
    world.expect_accepted(&signed.access).await;
}

async fn nothing_is_overwritten_or_restored_halfway(world: World) {
    let user = world.user().await;
    let backup = world.data_dir().with_file_name("backup.db");
    let file = backup.to_str().unwrap();
    assert!(world.run(&["backup", file], "").status.success());
    expect_refusal(&world.run(&["backup", file], ""), 1, "--force");
    assert!(world.run(&["backup", file, "--force"], "").status.success());
    let database = world.data_dir().join("latchkey.db");
    let onto_itself = world.run(&["backup", database.to_str().unwrap(), "--force"], "");
    expect_refusal(&onto_itself, 1, "in use");
    expect_refusal(&world.run(&["restore", file], ""), 1, "--force");
    expect_refusal(&world.run(&["restore", file, "--force"], ""), 1, "in use");
    user.get("/me").await.expect(200);

    let fresh = directory_with_keys(&world, "fresh");
    let restore = |file: &str| {
        let data_dir = ["--data-dir", fresh.to_str().unwrap()];
        world.run_without_settings(&[&["restore", file][..], &data_dir].concat())
    };
    let other = world.data_dir().with_file_name("other.db");
    let other_file = other.to_str().unwrap();
    expect_refusal(&restore(other_file), 1, "other.db");
    fs::write(&other, "no database".repeat(1_000)).unwrap();
    expect_refusal(&restore(other_file), 1, "not a database");
    fs::copy(&backup, &other).unwrap();
    let journal = other.with_file_name("other.db-wal");
    fs::write(&journal, "a transaction").unwrap();
    expect_refusal(&restore(other_file), 1, "other.db-wal");
    fs::remove_file(journal).unwrap();
    let newer = SqliteConnectOptions::new().filename(&other).connect().await;
    let mut newer = newer.unwrap();
    let migration = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                     VALUES (9999, 'of a newer version', TRUE, $1, 0)";
    let insert = sqlx::query::<Sqlite>(migration).bind(vec![0_u8; 48]);
    insert.execute(&mut newer).await.unwrap();
    newer.close().await.unwrap();
    expect_refusal(&restore(other_file), 1, "9999");
    let master = fs::read(fresh.join("master.key")).unwrap();
    fs::write(fresh.join("master.key"), "A".repeat(43)).unwrap();
    expect_refusal(&restore(file), 64, "sealed under another key");
    assert_eq!(files(&fresh), ["account.key", "master.key"]);
    fs::write(fresh.join("master.key"), "").unwrap();
    expect_refusal(&restore(file), 64, "master.key: the file is empty");
    let check = ["config", "check", "--data-dir", fresh.to_str().unwrap()];
    let checked = world.run_without_settings(&check);
    expect_refusal(&checked, 64, "master.key: the file is empty");
    fs::remove_file(fresh.join("master.key")).unwrap();
    expect_refusal(&restore(file), 64, "master.key");
    fs::write(fresh.join("master.key"), master).unwrap();
    assert!(restore(file).status.success());
    assert_eq!(files(&fresh), ["account.key", "latchkey.db", "master.key"]);
    expect_refusal(&restore(file), 1, "--force");
    // A symbolic link to the database stays.
    let linked = fresh.with_file_name("linked.db");
    fs::rename(fresh.join("latchkey.db"), &linked).unwrap();
    std::os::unix::fs::symlink(&linked, fresh.join("latchkey.db")).unwrap();
    let replaced = fs::metadata(&linked).unwrap().ino();
    let arguments = ["restore", file, "--force", "--data-dir", fresh.to_str().unwrap()];
    assert!(world.run_without_settings(&arguments).status.success());
    assert!(fresh.join("latchkey.db").is_symlink());
    let metadata = fs::metadata(&linked).unwrap();
    assert_ne!(metadata.ino(), replaced);
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

/// SQLite reports no error when it opens these databases. In the first one a row violates a constraint, and in
/// the second one a post refers to a user who does not exist.
async fn a_damaged_database_is_refused(mut world: World) {
    world.user().await.publish("A post").await;
    world.stop().await;
    let target = Database::create();
    let defects = [
        (
            "PRAGMA ignore_check_constraints = ON",
            "UPDATE posts SET status = 'lost'",
            "CHECK constraint failed in posts",
        ),
        (
            "PRAGMA foreign_keys = OFF",
            "UPDATE posts SET author_id = 999999",
            "1 rows refer to missing ones",
        ),
    ];
    for (index, (preparation, change, flaw)) in defects.into_iter().enumerate() {
        let damaged = directory_with_keys(&world, &format!("damaged-{index}"));
        let database = damaged.join("latchkey.db");
        let run = |arguments: &[&str], directory: &Path| {
            let directory = ["--data-dir", directory.to_str().unwrap()];
            world.run_without_settings(&[arguments, &directory].concat())
        };
        let file = database.to_str().unwrap();
        assert!(world.run(&["backup", file], "").status.success());
        let mut connection = SqliteConnectOptions::new()
            .filename(&database)
            .connect()
            .await
            .unwrap();
        for statement in [preparation, change] {
            let statement = sqlx::query::<Sqlite>(statement);
            statement.execute(&mut connection).await.unwrap();
        }
        connection.close().await.unwrap();

        let backup = damaged.with_file_name(format!("backup-{index}.db"));
        expect_refusal(&run(&["backup", backup.to_str().unwrap()], &damaged), 1, flaw);
        assert!(!backup.exists());
        expect_refusal(&run(&["copy", "--to", &target.url()], &damaged), 1, flaw);
        let fresh = directory_with_keys(&world, &format!("fresh-{index}"));
        expect_refusal(&run(&["restore", file], &fresh), 1, flaw);
        assert_eq!(files(&fresh), ["account.key", "master.key"]);
    }
}

/// A filter of system calls for bubblewrap, in BPF (`linux/bpf_common.h`, `linux/seccomp.h`). A hard link
/// fails as on a file system that has none.
fn without_hard_links() -> Vec<u8> {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    /// Its offset in `struct seccomp_data`.
    const NUMBER_OF_CALL: u32 = 0;
    const FAIL_WITH_EPERM: u32 = 0x0005_0001;
    const ALLOW: u32 = 0x7fff_0000;
    let linkat = if cfg!(target_arch = "x86_64") { 265 } else { 37 };
    // A jump skips the first number of instructions if the values are equal, and otherwise the second.
    let instructions: [(u16, [u8; 2], u32); 4] = [
        (LOAD, [0, 0], NUMBER_OF_CALL),
        (JUMP_IF_EQUAL, [0, 1], linkat),
        (RETURN, [0, 0], FAIL_WITH_EPERM),
        (RETURN, [0, 0], ALLOW),
    ];
    let instructions = instructions.into_iter().map(|(code, jumps, value)| {
        let (code, value) = (code.to_ne_bytes(), value.to_ne_bytes());
        [&code[..], &jumps, &value].concat()
    });
    instructions.flatten().collect()
}

async fn a_backup_needs_no_hard_links(world: World) {
    let backup = world.data_dir().with_file_name("backup.db");
    let (directory, file) = (backup.parent().unwrap(), backup.display());
    let filter = backup.with_file_name("filter");
    fs::write(&filter, without_hard_links()).unwrap();
    let filtered = |command: &str| {
        let sandbox = "LC_ALL=C bwrap --unshare-user-try --dev-bind / / --seccomp 3";
        world.bash(&format!("{sandbox} {command} {file} 3<{}", filter.display()))
    };
    let linked = filtered(&format!("ln {}", filter.display()));
    let reason = String::from_utf8_lossy(&linked.stderr);
    assert!(
        reason.contains("Operation not permitted") && !backup.exists(),
        "{reason}"
    );
    let done = filtered("latchkey backup");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(backup.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let drafts = files(directory).into_iter();
    assert_eq!(drafts.filter(|name| name.starts_with("backup.")).count(), 1);
    expect_refusal(&filtered("latchkey backup"), 1, "--force");
}

on_shapes!(
    a_restored_backup_has_its_data_and_repeats_no_tag_and_no_token: sqlite Sqlite
);
on_shapes!(a_backup_needs_no_hard_links: sqlite Sqlite);
on_shapes!(a_damaged_database_is_refused: sqlite Sqlite);
on_shapes!(nothing_is_overwritten_or_restored_halfway: sqlite Sqlite);
