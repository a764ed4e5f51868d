//! A running system with a database, a data directory and a port of its own.

mod setup;

pub use setup::Setup;

use crate::clock::Clock;
use crate::contract::Contract;
use crate::front::Front;
use crate::http::Caller;
use crate::postgres::Database;
use crate::program::{Given, Program, Running};
use crate::redis::RedisServer;
use crate::shape::Shape;
use foundation::clock::Timestamp;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::db::Db;
use tempfile::TempDir;

/// From listening to ready: the keys are to be fetched once.
const READY: Duration = Duration::from_secs(20);
/// One running system. Killed when dropped; its logs are printed if the test failed.
#[derive(Debug)]
pub struct World {
    /// How it is set up.
    pub shape: Shape,
    processes: Vec<Process>,
    clock: Option<Clock>,
    anyone: Caller,
    front: Option<Front>,
    redis: Option<RedisServer>,
    database: Option<Database>,
    dir: TempDir,
}

/// One process of it, running or not.
#[derive(Debug)]
struct Process {
    given: Given,
    running: Option<Running>,
    /// Kept from start to start; 0 before the first.
    port: u16,
    log: PathBuf,
}

impl World {
    /// A caller without credentials.
    pub fn anyone(&self) -> Caller {
        self.anyone.clone()
    }

    /// The base URL, which is the issuer's too.
    pub fn base(&self) -> &str {
        self.anyone.base()
    }

    /// What its programs say of themselves.
    async fn contract(&self) -> Arc<Contract> {
        let mut texts = Vec::new();
        for port in [self.issuer_ports()[0], self.api_ports()[0]] {
            let url = format!("http://localhost:{port}/openapi.json");
            texts.push(self.anyone.get(&url).await.expect(200).text());
        }
        texts.dedup();
        Contract::of(&texts, self.base())
    }

    /// The ports of its issuers, of 127.0.0.1.
    pub fn issuer_ports(&self) -> Vec<u16> {
        self.ports(Program::ApiServer)
    }

    /// The ports of its APIs.
    pub fn api_ports(&self) -> Vec<u16> {
        self.ports(Program::AuthServer)
    }

    fn ports(&self, others: Program) -> Vec<u16> {
        let ours = self
            .processes
            .iter()
            .filter(|process| process.given.program != others);
        ours.map(|process| process.port).collect()
    }

    /// The ids of its processes.
    pub fn pids(&self) -> Vec<u32> {
        let running = self
            .processes
            .iter()
            .filter_map(|process| process.running.as_ref());
        running.map(Running::id).collect()
    }

    /// Its Redis, where it has one.
    pub fn redis(&self) -> &RedisServer {
        self.redis.as_ref().unwrap()
    }

    /// Where its files are.
    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// The logs so far of all its processes.
    pub fn log(&self) -> String {
        let read = |process: &Process| std::fs::read_to_string(&process.log).unwrap_or_default();
        self.processes.iter().map(read).collect()
    }

    /// Where its database is.
    pub fn database_url(&self) -> String {
        match &self.database {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.data_dir().join("latchkey.db").display()),
        }
    }

    /// Its database.
    pub async fn db(&self) -> Db {
        Db::open(&self.database_url().parse().unwrap(), 4).await.unwrap()
    }

    /// Its database, as the programs of the API may use it; only where they are programs of their own.
    pub async fn api_db(&self) -> Db {
        let url = self.database.as_ref().unwrap().api_url();
        Db::open(&url.parse().unwrap(), 4).await.unwrap()
    }

    /// What time it is, for the program.
    pub fn now(&self) -> Timestamp {
        self.clock
            .as_ref()
            .map_or_else(foundation::clock::now, Clock::now)
    }

    /// Moves the program's clock on; only with [`Setup::clock`].
    pub fn advance(&self, length: Duration) {
        self.clock.as_ref().unwrap().advance(length);
    }

    /// Tells all processes to end, and expects that they do, with success.
    pub async fn stop(&mut self) {
        self.terminate();
        for process in &mut self.processes {
            let status = process.running.take().unwrap().ended().await;
            assert!(status.success(), "after SIGTERM the program ended with {status}");
        }
    }

    /// Tells all processes to end without waiting for them.
    pub fn terminate(&self) {
        for process in &self.processes {
            process.running.as_ref().unwrap().terminate();
        }
    }

    /// Kills all processes as a power cut would.
    pub fn kill(&mut self) {
        for process in &mut self.processes {
            process.running = None;
        }
    }

    /// Starts all again on the ports they had.
    pub async fn start_again(&mut self) {
        start_all(&mut self.processes).await;
        self.until_ready().await;
    }

    /// Expects that no API accepts the access token: where one process does everything none at once, else
    /// none within a second.
    pub async fn expect_revoked(&self, token: &str) {
        let patience = Duration::from_secs(u64::from(self.shape == Shape::Split));
        self.expect_revoked_within(patience, token).await;
    }

    /// Expects that no API accepts the access token once this time has passed: what a command revoked beside the
    /// processes, they learn by looking.
    pub async fn expect_revoked_within(&self, patience: Duration, token: &str) {
        let began = Instant::now();
        for port in self.api_ports() {
            let caller = self.anyone.at(&format!("http://localhost:{port}")).bearer(token);
            loop {
                let reply = caller.get("/protected").await;
                if reply.status != 200 {
                    reply.expect_error(401, "invalid_token");
                    break;
                }
                assert!(
                    began.elapsed() < patience,
                    "accepted {:?} after it was revoked",
                    began.elapsed()
                );
            }
        }
    }

    /// Runs a command of the program with the same settings, and gives what it printed as JSON.
    #[track_caller]
    pub fn cli(&self, args: &[&str], stdin: &str) -> Value {
        let output = self.run(args, stdin);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {}\n{stderr}", output.status);
        let printed: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{args:?} printed no JSON ({error}): {output:?}"));
        // An imported hash is kept until its user signs in.
        if !args.contains(&"--password-hash-stdin") {
            self.anyone.canaries().add(stdin);
        }
        self.anyone.canaries().add_members(&printed);
        printed
    }

    /// Runs a command of the program with the same settings.
    pub fn run(&self, args: &[&str], stdin: &str) -> Output {
        self.processes[0].given.run(args, stdin)
    }

    /// Runs the program of the API with these arguments and none of this world's settings.
    pub fn run_bare_api(&self, args: &[&str]) -> Output {
        Given::bare(Program::ApiServer, self.dir.path()).run(args, "")
    }

    /// Begins a command of the program with the same settings.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.processes[0].given.spawn(args)
    }

    /// Starts the program once more beside the one that runs, with the same settings and a port of its own.
    pub async fn start_beside(&self) -> impl Drop + use<> {
        let first = &self.processes[0];
        Running::start(&first.given, "127.0.0.1:0", &first.log).await
    }

    /// Runs the program with these arguments and none of this world's settings.
    pub fn run_bare(&self, args: &[&str]) -> Output {
        let given = &self.processes[0].given;
        Given::bare(given.program, &given.dir).run(args, "")
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

    /// What was noted as a secret was none: a challenge sent as if it were the verifier.
    pub fn forget_secret(&self, text: &str) {
        self.anyone.canaries().remove(text);
    }

    async fn until_ready(&self) {
        let began = Instant::now();
        for process in &self.processes {
            let url = format!("http://localhost:{}/readyz", process.port);
            while self.anyone.get(&url).may_fail().await.status != 200 {
                assert!(began.elapsed() < READY, "not ready {READY:?} after it listens");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }
}

/// Starts processes, all at once, on the ports they had or on free ones.
async fn start_all(processes: &mut [Process]) {
    let starts: Vec<_> = processes
        .iter()
        .map(|process| {
            let (given, log) = (process.given.clone(), process.log.clone());
            let listen = format!("127.0.0.1:{}", process.port);
            tokio::spawn(async move { Running::start(&given, &listen, &log).await })
        })
        .collect();
    for (process, start) in processes.iter_mut().zip(starts) {
        let running = start.await.unwrap();
        process.port = running.port;
        process.running = Some(running);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill();
        let log = self.log();
        if std::thread::panicking() {
            eprintln!("--- the logs ---\n{log}--- end of log ---");
            return;
        }
        assert!(!log.contains("panicked at"), "a panic:\n{log}");
        self.expect_no_secrets_in(&log, "the log");
        let rows = self.database.as_ref().map(Database::rows);
        self.expect_no_secrets_in(&rows.unwrap_or_else(|| self.dump()), "the database");
        self.expect_no_secrets_in(&names_below(&self.data_dir()), "a file's name");
        if let Some(redis) = self.redis.as_ref().filter(|redis| redis.is_running()) {
            self.expect_no_secrets_in(&redis.dump(), "Redis");
        }
    }
}

/// The names of all files below a folder.
fn names_below(folder: &Path) -> String {
    let mut names = String::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        names.push_str(&format!("{}\n", entry.file_name().display()));
        if entry.path().is_dir() {
            names.push_str(&names_below(&entry.path()));
        }
    }
    names
}
