//! The command `migrate`, whose plan changes nothing.

use serde_json::json;
use storage::{execute, fetch_one};
use tests::{SharedWorld, World, on_every_shape, on_shapes, root};

async fn the_plan_names_the_pending_migrations_and_applies_none(world: World) {
    assert_eq!(world.cli(&["migrate", "--plan", "--json"], ""), json!([]));
    let db = world.db().await;
    let applied = async || {
        let count = "SELECT COUNT(*) FROM _sqlx_migrations";
        fetch_one!(db.reader(), (i64,), count).unwrap().0
    };
    let all = applied().await;
    execute!(db.writer(), "DELETE FROM _sqlx_migrations").unwrap();
    let planned = world.cli(&["migrate", "--dry-run", "--json"], "");
    let planned = planned.as_array().unwrap();
    assert_eq!(i64::try_from(planned.len()).unwrap(), all);
    assert_eq!(
        (&planned[0]["number"], &planned[0]["name"]),
        (&json!(1), &json!("initial"))
    );
    for migration in planned {
        let file = std::fs::read_to_string(root().join(migration["file"].as_str().unwrap())).unwrap();
        assert_eq!(migration["sql"], json!(file));
    }
    let printed = world.run(&["migrate", "--plan"], "");
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.status.success(), "{text}");
    assert!(text.starts_with("pending  0001  initial  migrations/"), "{text}");
    assert_eq!(applied().await, 0);
    let unknown = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                   VALUES (9999, 'of a newer version', TRUE, $1, 0)";
    execute!(db.writer(), unknown, vec![0_u8; 48]).unwrap();
    let refused = world.run(&["migrate", "--plan"], "");
    assert_eq!(refused.status.code(), Some(1));
    let reason = String::from_utf8(refused.stderr).unwrap();
    assert!(reason.contains("9999"), "{reason}");
}

async fn the_plan_creates_no_database(world: SharedWorld) {
    let directory = tempfile::tempdir().unwrap();
    let data_dir = directory.path().join("data");
    let arguments = ["migrate", "--data-dir", data_dir.to_str().unwrap()];
    let planned = world.run_without_settings(&[&arguments[..], &["--plan"]].concat());
    let text = String::from_utf8(planned.stdout).unwrap();
    assert!(text.starts_with("pending  0001  initial"), "{text}");
    assert!(!data_dir.exists());
    let applied = world.run_without_settings(&arguments);
    assert_eq!(
        String::from_utf8(applied.stdout).unwrap(),
        text.replace("pending", "applied")
    );
    let again = world.run_without_settings(&arguments);
    assert_eq!(again.stdout, b"the schema is up to date\n");
}

on_every_shape!(the_plan_names_the_pending_migrations_and_applies_none);
on_shapes!(the_plan_creates_no_database: sqlite Sqlite);
