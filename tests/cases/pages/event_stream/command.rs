//! The command `events tail`.

use foundation::random;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use std::cell::RefCell;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command};
use std::time::Duration;
use storage::execute;
use tests::{Shape, SharedWorld, World, eventually, on_every_shape, on_one_shape, on_postgresql};
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStdout;

/// Sends the signal of Ctrl-C.
fn interrupt(command: &Child) {
    let id = command.id().to_string();
    let status = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(status.success());
}

/// The command `events tail` with these arguments, which is killed on drop.
struct Tail {
    command: Child,
    lines: tokio::sync::mpsc::UnboundedReceiver<String>,
}

impl Tail {
    fn start(world: &World, args: &[&str]) -> Self {
        let mut command = world.spawn(&[&["events", "tail"][..], args].concat());
        let printed = BufReader::new(command.stdout.take().unwrap()).lines();
        let (sender, lines) = tokio::sync::mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in printed.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { command, lines }
    }

    /// Records events until the command prints one, because the first ones may precede its start. Returns the
    /// line.
    async fn line_about(&mut self, record: &impl AsyncFn()) -> String {
        for _ in 0..60 {
            record().await;
            let line = self.lines.recv();
            if let Ok(line) = tokio::time::timeout(Duration::from_secs(2), line).await {
                return line.unwrap();
            }
        }
        panic!("no event is printed");
    }

    /// Ends the command by Ctrl-C. Returns whether it succeeded.
    async fn interrupt(mut self) -> bool {
        interrupt(&self.command);
        // Standard output is closed when the command has ended.
        while self.lines.recv().await.is_some() {}
        self.command.wait().unwrap().success()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.command.kill();
        let _ = self.command.wait();
    }
}

async fn a_command_prints_new_events(world: SharedWorld) {
    let (client, other, db) = (random::id(), random::id(), world.db().await);
    let insert = "INSERT INTO security_events (at, name, outcome, client_id, trace_id)
                  VALUES ($1, 'tailed', 'success', $2, 'a')";
    let record = async |client: &str| execute!(db.writer(), insert, world.now(), client).unwrap();
    record(&client).await;
    for args in [
        &["--client", &client] as &[&str],
        &["--client", &client, "--json"],
    ] {
        let mut tail = Tail::start(&world, args);
        let record_both = async || {
            record(&other).await;
            record(&client).await;
        };
        let line = tail.line_about(&record_both).await;
        match serde_json::from_str::<Value>(&line) {
            Ok(event) => assert_eq!(event["client_id"], client, "{line}"),
            Err(_) => assert!(
                line.ends_with(&format!("  tailed  success  client {client}  trace a")),
                "{line}"
            ),
        }
        assert_eq!(line.starts_with('{'), args.contains(&"--json"), "{line}");
        assert!(tail.interrupt().await, "{args:?}");
    }
}

async fn a_command_ends_although_nobody_reads_its_output(world: World) {
    let (mut command, db) = (world.spawn(&["events", "tail"]), world.db().await);
    let mut printed = ChildStdout::from_std(command.stdout.take().unwrap()).unwrap();
    // More than a pipe holds.
    let insert = format!(
        "INSERT INTO security_events (at, name, outcome, trace_id, detail)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 600)
         SELECT $1, 'tailed', 'success', 'a', '{}' FROM numbers",
        "x".repeat(400)
    );
    for attempt in 0.. {
        execute!(db.writer(), AssertSqlSafe(insert.clone()), world.now()).unwrap();
        let first = tokio::time::timeout(Duration::from_secs(2), printed.read_u8());
        if let Ok(first) = first.await {
            first.unwrap();
            break;
        }
        assert!(attempt < 60, "no event is printed");
    }
    interrupt(&command);
    let command = RefCell::new(command);
    eventually("the command does not end", async || {
        command.borrow_mut().try_wait().unwrap().is_some()
    })
    .await;
    let status = command.into_inner().wait().unwrap();
    assert!(status.success(), "{status}");
}

async fn a_command_waits_for_a_database_that_fails(shape: Shape) {
    let setup = World::builder(shape).default_time_limits();
    let world = setup.own_postgres().start().await;
    let (client, db) = (random::id(), world.db().await);
    let record = async || {
        let insert = "INSERT INTO security_events (at, name, outcome, client_id, trace_id)
                      VALUES ($1, 'tailed', 'success', $2, 'a')";
        execute!(db.writer(), insert, world.now(), client.as_str()).unwrap();
    };
    let mut tail = Tail::start(&world, &["--client", &client]);
    let errors = BufReader::new(tail.command.stderr.take().unwrap());
    tail.line_about(&record).await;
    world.postgres().suspend();
    // The pipe stays open, because the command may print another error.
    let read = tokio::task::spawn_blocking(|| {
        let mut errors = errors.lines();
        (errors.next().unwrap().unwrap(), errors)
    });
    let (error, _errors) = read.await.unwrap();
    assert!(error.ends_with("; trying again"), "{error}");
    world.postgres().resume();
    tail.line_about(&record).await;
    assert!(tail.interrupt().await);
}

on_every_shape!(a_command_prints_new_events);
on_one_shape!(a_command_ends_although_nobody_reads_its_output);
on_postgresql!(a_command_waits_for_a_database_that_fails);
