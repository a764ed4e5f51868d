//! A running system with a database, a data directory and a port of its own.

use crate::clock::Clock;
use crate::http::{Caller, Canaries};
use crate::postgres::Database;
use crate::program::{self, Running};
use crate::shape::Shape;
use serde_json::Value;
use shared::clock::Timestamp;
use shared::db::Db;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// From listening to ready: the keys are to be fetched once.
const READY: Duration = Duration::from_secs(10);

/// What a world is to be like. Begin with [`World::of`].
#[derive(Debug)]
pub struct Setup {
    shape: Shape,
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    has_clock: bool,
    is_to_be_ready: bool,
}

/// One running system. Killed when dropped; its log is printed if the test failed.
#[derive(Debug)]
pub struct World {
    /// How it is set up.
    pub shape: Shape,
    running: Option<Running>,
    given: program::Given,
    port: u16,
    clock: Option<Clock>,
    anyone: Caller,
    database: Option<Database>,
    dir: TempDir,
}

impl Setup {
    /// Sets a flag.
    #[must_use]
    pub fn flag(mut self, name: &str, value: &str) -> Self {
        self.flags.extend([name.to_owned(), value.to_owned()]);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Gives the program a clock that stands still until [`World::advance`].
    #[must_use]
    pub fn clock(mut self) -> Self {
        self.has_clock = true;
        self
    }

    /// Does not wait for the program to be ready.
    #[must_use]
    pub fn unready(mut self) -> Self {
        self.is_to_be_ready = false;
        self
    }

    /// Starts the program on a free port.
    pub async fn start(self) -> World {
        let dir = tempfile::Builder::new()
            .prefix("latchkey-world-")
            .tempdir()
            .unwrap();
        let clock = self.has_clock.then(|| Clock::start(dir.path()));
        let database = (self.shape == Shape::Postgres).then(Database::create);
        let mut given = program::Given {
            dir: dir.path().to_owned(),
            ..Default::default()
        };
        given
            .flags
            .extend(["--data-dir".into(), dir.path().join("data").into()]);
        if let Some(database) = &database {
            given
                .flags
                .extend(["--database-url".into(), database.url().into()]);
        }
        given.flags.extend(self.flags.into_iter().map(Into::into));
        given.environment = self.environment;
        given
            .environment
            .extend(clock.iter().flat_map(Clock::environment));
        let running = Running::start(&given, "127.0.0.1:0", &dir.path().join("log")).await;
        let port = running.port;
        let anyone = Caller::new(format!("http://localhost:{port}"), Canaries::default());
        let world = World {
            shape: self.shape,
            running: Some(running),
            given,
            port,
            clock,
            anyone,
            database,
            dir,
        };
        if self.is_to_be_ready {
            world.until_ready().await;
        }
        world
    }
}

impl World {
    /// A world to be.
    pub fn of(shape: Shape) -> Setup {
        Setup {
            shape,
            flags: Vec::new(),
            environment: Vec::new(),
            has_clock: false,
            is_to_be_ready: true,
        }
    }

    /// A world with every setting at its default.
    pub async fn start(shape: Shape) -> Self {
        Self::of(shape).start().await
    }

    /// A caller without credentials.
    pub fn anyone(&self) -> Caller {
        self.anyone.clone()
    }

    /// The base URL, which is the issuer's too.
    pub fn base(&self) -> &str {
        self.anyone.base()
    }

    /// The port it listens on, of 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process id.
    pub fn process_id(&self) -> u32 {
        self.running.as_ref().unwrap().id()
    }

    /// Where its files are.
    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// Its database.
    pub async fn db(&self) -> Db {
        let url = match &self.database {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.data_dir().join("latchkey.db").display()),
        };
        Db::open(&url.parse().unwrap(), 4).await.unwrap()
    }

    /// What time it is, for the program.
    pub fn now(&self) -> Timestamp {
        self.clock.as_ref().map_or_else(shared::clock::now, Clock::now)
    }

    /// Moves the program's clock on; only with [`Setup::clock`].
    pub fn advance(&self, length: Duration) {
        self.clock.as_ref().unwrap().advance(length);
    }

    /// Tells it to end, and expects that it does, with success.
    pub async fn stop(&mut self) {
        let status = self.running.take().unwrap().stop().await;
        assert!(status.success(), "after SIGTERM the program ended with {status}");
    }

    /// Tells it to end without waiting for it.
    pub fn terminate(&self) {
        self.running.as_ref().unwrap().terminate();
    }

    /// Kills it as a power cut would.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Starts it again on the port it had.
    pub async fn start_again(&mut self) {
        let listen = format!("127.0.0.1:{}", self.port);
        self.running = Some(Running::start(&self.given, &listen, &self.log_file()).await);
        self.until_ready().await;
    }

    /// Runs a command of the program with the same settings, and gives what it printed as JSON.
    #[track_caller]
    pub fn cli(&self, args: &[&str], stdin: &str) -> Value {
        let output = self.run(args, stdin);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "latchkey {args:?}: {}\n{stderr}",
            output.status
        );
        let printed: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("latchkey {args:?} printed no JSON ({error}): {output:?}"));
        self.anyone.canaries().add(stdin);
        self.anyone
            .canaries()
            .add(printed["client_secret"].as_str().unwrap_or_default());
        printed
    }

    /// Runs a command of the program with the same settings.
    pub fn run(&self, args: &[&str], stdin: &str) -> Output {
        self.given.run(args, stdin)
    }

    /// Begins a command of the program with the same settings.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.given.spawn(args)
    }

    /// Starts the program once more beside the one that runs, with the same settings and a port of its own.
    pub async fn start_beside(&self) -> impl Drop + use<> {
        Running::start(&self.given, "127.0.0.1:0", &self.log_file()).await
    }

    /// Runs the program with these arguments and none of this world's settings.
    pub fn run_bare(&self, args: &[&str]) -> Output {
        let given = program::Given {
            dir: self.given.dir.clone(),
            ..Default::default()
        };
        given.run(args, "")
    }

    /// Everything its database holds, as text.
    pub fn dump(&self) -> String {
        match &self.database {
            Some(database) => database.dump(),
            None => {
                let bytes = |name| std::fs::read(self.data_dir().join(name)).unwrap_or_default();
                let all = [bytes("latchkey.db"), bytes("latchkey.db-wal")].concat();
                String::from_utf8_lossy(&all).into_owned()
            }
        }
    }

    /// Fails if a secret that went over the wire appears here, as it is or in hexadecimal.
    pub fn expect_no_secrets_in(&self, text: &str, what: &str) {
        let found = self.anyone.canaries().found_in(text);
        assert!(found.is_empty(), "{what} holds secrets: {found:?}");
    }

    /// Notes a secret: it may appear in no log.
    pub fn keep_secret(&self, secret: &str) {
        self.anyone.canaries().add(secret);
    }

    async fn until_ready(&self) {
        let began = Instant::now();
        while self.anyone.get("/readyz").may_fail().await.status != 200 {
            assert!(began.elapsed() < READY, "not ready {READY:?} after it listens");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn log_file(&self) -> PathBuf {
        Path::join(self.dir.path(), "log")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.running = None;
        let log = self.log();
        if std::thread::panicking() {
            eprintln!("--- the program's log ---\n{log}--- end of log ---");
            return;
        }
        assert!(!log.contains("panicked at"), "a panic:\n{log}");
        self.expect_no_secrets_in(&log, "the log");
    }
}
