//! A running system with a database, a data directory and a port of its own.

use crate::clock::Clock;
use crate::contract::Contract;
use crate::front::Front;
use crate::http::{Caller, Canaries};
use crate::postgres::Database;
use crate::program::{Given, Program, Running};
use crate::redis::RedisServer;
use crate::shape::Shape;
use serde_json::Value;
use shared::clock::Timestamp;
use shared::db::Db;
use shared::seal::SealingKey;
use std::path::PathBuf;
use std::process::{Child, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// From listening to ready: the keys are to be fetched once.
const READY: Duration = Duration::from_secs(20);
/// Replicas of each service where there are several.
const REPLICAS: usize = 2;

/// What a world is to be like. Begin with [`World::of`].
#[derive(Debug)]
pub struct Setup {
    shape: Shape,
    flags: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    has_clock: bool,
    is_to_be_ready: bool,
}

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

impl Setup {
    /// Sets a flag, of the programs that have it.
    #[must_use]
    pub fn flag(mut self, name: &str, value: &str) -> Self {
        self.flags.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Gives the programs a clock that stands still until [`World::advance`].
    #[must_use]
    pub fn clock(mut self) -> Self {
        self.has_clock = true;
        self
    }

    /// Does not wait for the programs to be ready.
    #[must_use]
    pub fn unready(mut self) -> Self {
        self.is_to_be_ready = false;
        self
    }

    /// Starts the programs on free ports.
    pub async fn start(self) -> World {
        let dir = tempfile::Builder::new()
            .prefix("latchkey-world-")
            .tempdir()
            .unwrap();
        let is_split = self.shape == Shape::Split;
        let mut world = World {
            shape: self.shape,
            processes: Vec::new(),
            clock: self.has_clock.then(|| Clock::start(dir.path())),
            // Called at no address before there is one.
            anyone: Caller::new(String::new(), Canaries::default()),
            front: None,
            redis: is_split.then(|| RedisServer::launch(dir.path())),
            database: (self.shape != Shape::Sqlite).then(Database::create),
            dir,
        };
        let port = match is_split {
            false => world.start_one(&self).await,
            true => world.start_many(&self).await,
        };
        world.anyone = world.anyone.at(&format!("http://localhost:{port}"));
        world.anyone = world.anyone().under(world.contract().await);
        if self.is_to_be_ready {
            world.until_ready().await;
        }
        world
    }

    /// What a program is given in this world: what the test says, and what it does not say.
    fn given(&self, program: Program, world: &World, defaults: &[(&str, String)]) -> Given {
        let mut given = Given::bare(program, world.dir.path());
        given.environment.clone_from(&self.environment);
        given
            .environment
            .extend(world.clock.iter().flat_map(Clock::environment));
        for (name, value) in &self.flags {
            given.flag(name, value);
        }
        for (name, value) in defaults.iter().filter(|(name, _)| !self.says(name)) {
            given.flag(name, value);
        }
        given
    }

    /// Whether the test says what this setting is to be.
    fn says(&self, flag: &str) -> bool {
        let variable = flag.trim_start_matches("--").to_uppercase().replace('-', "_");
        let variable = format!("LATCHKEY_{variable}");
        let names = self.flags.iter().chain(&self.environment).map(|(name, _)| name);
        names.into_iter().any(|name| name == flag || *name == variable)
    }
}

impl World {
    /// One process of everything.
    async fn start_one(&mut self, setup: &Setup) -> u16 {
        let mut defaults = vec![("--data-dir", self.data_dir().display().to_string())];
        defaults.extend(
            self.database
                .iter()
                .map(|database| ("--database-url", database.url())),
        );
        let given = setup.given(Program::Latchkey, self, &defaults);
        self.launch(vec![given]).await[0]
    }

    /// Replicas of each service behind one origin. The issuers start at once on an empty database.
    async fn start_many(&mut self, setup: &Setup) -> u16 {
        let front = Front::start().await;
        let base = format!("http://localhost:{}", front.port);
        let master_key = self.data_dir().join("master.key");
        std::fs::create_dir(self.data_dir()).unwrap();
        std::fs::write(&master_key, SealingKey::generate().to_text()).unwrap();
        let (database, redis) = (self.database.as_ref().unwrap(), self.redis.as_ref().unwrap());
        let defaults = [
            ("--data-dir", self.data_dir().display().to_string()),
            ("--base-url", base),
            ("--redis-url", redis.url()),
            ("--master-key-file", master_key.display().to_string()),
            ("--database-url", database.url()),
        ];
        let issuer = setup.given(Program::AuthServer, self, &defaults);
        let issuers = self.launch(vec![issuer; REPLICAS]).await;
        front.issuers(issuers);
        let mut defaults = defaults.to_vec();
        let database = self.database.as_ref().unwrap();
        defaults.retain(|(name, _)| *name != "--database-url");
        defaults.push(("--database-url", database.api_url()));
        let jwks = format!("http://127.0.0.1:{}/.well-known/jwks.json", front.port);
        defaults.push(("--jwks-url", jwks));
        let api = setup.given(Program::ApiServer, self, &defaults);
        let apis = self.launch(vec![api; REPLICAS]).await;
        front.apis(apis);
        self.front.insert(front).port
    }

    /// Starts processes, all at once, and gives their ports.
    async fn launch(&mut self, all: Vec<Given>) -> Vec<u16> {
        let begin = self.processes.len();
        for given in all {
            let log = self.dir.path().join(format!("log-{}", self.processes.len()));
            self.processes.push(Process {
                given,
                running: None,
                port: 0,
                log,
            });
        }
        start_all(&mut self.processes[begin..]).await;
        self.processes[begin..]
            .iter()
            .map(|process| process.port)
            .collect()
    }

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
        self.clock.as_ref().map_or_else(shared::clock::now, Clock::now)
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
        self.anyone.canaries().add(stdin);
        self.anyone
            .canaries()
            .add(printed["client_secret"].as_str().unwrap_or_default());
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
        if let Some(redis) = self.redis.as_ref().filter(|redis| redis.is_running()) {
            self.expect_no_secrets_in(&redis.dump(), "Redis");
        }
    }
}
