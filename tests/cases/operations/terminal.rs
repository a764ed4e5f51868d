//! Commands on a terminal: their tables, and texts of others, which cannot control it.

use serde_json::Value;
use storage::execute;
use tests::{SharedWorld, World, on_every_shape, on_shapes};

/// The width of a terminal that is wide enough for every table.
const WIDE: u16 = 600;

async fn lists_are_tables_on_a_terminal_and_lines_in_a_pipe(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    app.tokens(&user, "posts:read").await;
    for (command, headings) in [
        ("users list", "ID EMAIL ROLE"),
        ("clients list", "ID NAME"),
        ("sessions list", "ID USER SINCE LAST USED"),
        ("consents list", "ID USER CLIENT SCOPE SINCE"),
        ("events list", "TIME EVENT OUTCOME"),
        ("keys list", "KID STATE CREATED MAY SIGN AFTER"),
        ("figures show", "FIGURE VALUE"),
        ("config show", "NAME VALUE ORIGIN"),
        ("doctor", "STATE CHECK DETAIL"),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let table = world.run_on_terminal(WIDE, &arguments);
        let heading = table.lines().next().unwrap_or_default();
        let words: Vec<&str> = heading.split_whitespace().collect();
        assert!(words.join(" ").starts_with(headings), "{command}: {table}");
        let lines = String::from_utf8(world.run(&arguments, "").stdout).unwrap();
        assert!(
            !lines.is_empty() && !lines.contains(heading),
            "{command}: {lines}"
        );
    }
}

async fn a_stored_name_controls_no_terminal(world: World) {
    let (name, shown) = (
        "日本\u{1b}[2J\u{9b}31m\u{202e}",
        "日本\\u001b[2J\\u009b31m\\u202e",
    );
    let app = world.app().register();
    let id = app.id.as_str();
    let rename = "UPDATE clients SET name = $1 WHERE id = $2";
    execute!(world.db().await.writer(), rename, name, id).unwrap();
    world.cli(&["clients", "disable", id, "--json"], "");
    for arguments in [
        &["clients", "list"][..],
        &["clients", "show", id],
        &["clients", "list", "--json"],
    ] {
        for columns in [40, WIDE] {
            let text = world.run_on_terminal(columns, arguments);
            assert!(text.contains(shown), "{text:?}");
            let controls = text.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}'));
            assert!(!controls, "{text:?}");
        }
    }
    let on_terminal = world.run_on_terminal(WIDE, &["clients", "list", "--json"]);
    let on_terminal: Value = serde_json::from_str(&on_terminal).unwrap();
    assert_eq!(on_terminal, world.cli(&["clients", "list", "--json"], ""));
    let lines = String::from_utf8(world.run(&["clients", "list"], "").stdout).unwrap();
    assert!(lines.contains(&format!("{id}  {name}  disabled\n")), "{lines:?}");

    let table = world.run_on_terminal(WIDE, &["clients", "list"]);
    let (heading, _) = table.split_once('\n').unwrap();
    let row = table.lines().find(|row| row.starts_with(id)).unwrap();
    let (before, _) = row.split_once("disabled").unwrap();
    // Each of the two ideographs has the width of two letters.
    assert_eq!(heading.find("STATE"), Some(before.chars().count() + 2), "{table}");
    let blocks = world.run_on_terminal(40, &["clients", "list"]);
    assert!(blocks.lines().all(|line| line.chars().count() <= 40), "{blocks}");
    assert!(blocks.contains("\nSTATE  disabled\n"), "{blocks}");
}

on_every_shape!(lists_are_tables_on_a_terminal_and_lines_in_a_pipe);
on_shapes!(a_stored_name_controls_no_terminal: sqlite Sqlite);
