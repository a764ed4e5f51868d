//! The processes, the database and the Redis of a deployment.

use crate::clock::Clock;
use crate::contract::Contract;
use crate::http::{Caller, Canaries, Origin};
use crate::outbox::Mail;
use crate::polling::{TIMEOUT, pause};
use crate::postgres::{Database, PostgresProxy};
use crate::program::{Program, ProgramConfig, Running};
use crate::redis::RedisServer;
use crate::reverse_proxy::ReverseProxy;
use crate::shape::Shape;
use foundation::clock::Timestamp;
use foundation::random;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use storage::db::Db;
use tempfile::TempDir;

/// A running deployment. Dropping it kills the processes, and searches logs and data for secrets and panics,
/// unless a test failed in it: then its logs are printed instead.
#[derive(Debug)]
pub(crate) struct Deployment {
    pub(super) shape: Shape,
    pub(super) base: String,
    pub(super) processes: Vec<Process>,
    pub(super) clock: Option<Clock>,
    pub(super) canaries: Canaries,
    pub(super) contract: Option<Arc<Contract>>,
    pub(super) reverse_proxy: Option<ReverseProxy>,
    pub(super) redis: Option<RedisServer>,
    pub(super) postgres_proxy: Option<PostgresProxy>,
    pub(super) database: Option<Database>,
    /// The mails of the outbox that were read, by file.
    pub(super) mails: Mutex<HashMap<PathBuf, Mail>>,
    pub(super) dir: TempDir,
}

/// One process of a deployment, running or not.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) config: ProgramConfig,
    pub(super) running: Option<Running>,
    /// The port, which stays the same across restarts.
    pub(super) port: u16,
    pub(super) log: PathBuf,
}

impl Process {
    pub(super) fn is_issuer(&self) -> bool {
        self.config.program != Program::ApiServer
    }

    /// Returns the log up to now.
    pub(super) fn log_so_far(&self) -> String {
        let read = || std::fs::read_to_string(&self.log).unwrap_or_default();
        let trace_id = random::trace_id();
        let mut log = read();
        // A process that does not respond has stopped, and has written its last lines.
        if self.running.is_some() && self.call_livez(&trace_id).is_ok() {
            let (began, former) = (Instant::now(), log.len());
            let is_written = |log: &str| log.get(former..).is_some_and(|new| new.contains(&trace_id));
            while !is_written(&log) && began.elapsed() < TIMEOUT {
                pause();
                log = self.with_new_lines(log);
            }
        }
        log
    }

    /// Reads what was added to a log that was read before, which may be long.
    fn with_new_lines(&self, mut log: String) -> String {
        let mut new = Vec::new();
        if let Ok(mut file) = File::open(&self.log) {
            let start = SeekFrom::Start(log.len().try_into().unwrap());
            file.seek(start).unwrap();
            file.read_to_end(&mut new).unwrap();
        }
        // The last line may be incomplete, within a character.
        let complete = new
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        log.push_str(str::from_utf8(&new[..complete]).unwrap());
        log
    }

    /// Requests `/livez` with this trace id, and waits for the response.
    fn call_livez(&self, trace_id: &str) -> io::Result<()> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port))?;
        connection.set_read_timeout(Some(TIMEOUT))?;
        let traceparent = format!("00-{trace_id}-{}-01", &trace_id[..16]);
        write!(
            connection,
            "GET /livez HTTP/1.1\r\nHost: localhost\r\ntraceparent: {traceparent}\r\nConnection: close\r\n\r\n"
        )?;
        connection.read_to_end(&mut Vec::new())?;
        Ok(())
    }
}

impl Deployment {
    /// Returns the merged OpenAPI documents of the programs, which were started with these flags and
    /// environment variables. Deployments of one shape with the same settings publish the same documents, so
    /// only the first of them is asked.
    pub(super) async fn contract(&self, settings: &[&(String, String)]) -> Arc<Contract> {
        /// Whether there are several processes, and the settings.
        type Kind = (bool, Vec<(String, String)>);
        static KNOWN: Mutex<BTreeMap<Kind, Arc<Contract>>> = Mutex::new(BTreeMap::new());
        let settings = settings.iter().copied().cloned().collect();
        let kind = (self.shape == Shape::Split, settings);
        let known = KNOWN.lock().unwrap().get(&kind).cloned();
        match known {
            Some(known) => known,
            None => {
                let read = self.read_contract().await;
                KNOWN.lock().unwrap().insert(kind, Arc::clone(&read));
                read
            }
        }
    }

    /// Asks the programs for their OpenAPI documents.
    async fn read_contract(&self) -> Arc<Contract> {
        let caller = Caller::new(self.base.clone(), self.canaries.clone(), Origin::default());
        let mut texts = Vec::new();
        for others in [Program::ApiServer, Program::AuthServer] {
            let url = format!("http://localhost:{}/openapi.json", self.ports_except(others)[0]);
            texts.push(caller.get(&url).await.expect(200).text());
        }
        texts.dedup();
        Contract::merged(&texts, &self.base)
    }

    /// Returns the ports of all processes except those that run `program`. The single-process program counts
    /// as issuer and as API.
    pub(super) fn ports_except(&self, program: Program) -> Vec<u16> {
        let others = self
            .processes
            .iter()
            .filter(|process| process.config.program != program);
        others.map(|process| process.port).collect()
    }

    /// The directory of the socket at which the programs reach PostgreSQL.
    pub(super) fn postgres_socket_dir(&self) -> &Path {
        let proxy = self.postgres_proxy.as_ref().map(PostgresProxy::socket_dir);
        proxy.unwrap_or_else(|| self.database.as_ref().unwrap().server().socket_dir())
    }

    /// The socket on which `latchkey_counting_allocations` reports its count.
    pub(super) fn allocation_socket(&self) -> PathBuf {
        self.dir.path().join("allocations.sock")
    }

    /// The data directory.
    pub(super) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Returns the logs of all processes so far. The programs write their lines a moment late, so this waits
    /// for the line of a request of its own to each running process.
    pub(super) fn log(&self) -> String {
        self.processes.iter().map(Process::log_so_far).collect()
    }

    /// The current time of the programs.
    pub(super) fn now(&self) -> Timestamp {
        self.clock
            .as_ref()
            .map_or_else(foundation::clock::now, Clock::now)
    }

    /// The URL of the database.
    pub(super) fn database_url(&self) -> String {
        match &self.database {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.data_dir().join("latchkey.db").display()),
        }
    }

    /// Opens the database.
    pub(super) async fn db(&self) -> Db {
        let url = self.database_url().parse().unwrap();
        Db::open(&url, 4, 1).await.unwrap()
    }

    /// Sets the clock of the database.
    pub(super) fn set_database(&self, now: Timestamp) {
        if let Some(database) = &self.database {
            database.set_clock(now);
        }
    }

    /// The content of its database as text.
    pub(super) fn dump(&self) -> String {
        match &self.database {
            Some(database) => database.dump(),
            None => {
                let bytes = |name| std::fs::read(self.data_dir().join(name)).unwrap_or_default();
                let all = [bytes("latchkey.db"), bytes("latchkey.db-wal")].concat();
                String::from_utf8_lossy(&all).into_owned()
            }
        }
    }

    pub(super) async fn wait_until_ready(&self) {
        let caller = Caller::new(self.base.clone(), self.canaries.clone(), Origin::default());
        let began = Instant::now();
        for process in &self.processes {
            let url = format!("http://localhost:{}/readyz", process.port);
            while caller.get(&url).may_fail().await.status != 200 {
                assert!(began.elapsed() < TIMEOUT, "not ready within {TIMEOUT:?}");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }

    /// Fails the test if a recorded secret appears in one of the texts, literally or in hexadecimal.
    pub(super) fn expect_no_secrets_in(&self, texts: &[(&'static str, &str)]) {
        let found = self.canaries.found_in(texts);
        assert!(
            found.is_empty(),
            "secrets, their tests and their places: {found:?}"
        );
    }

    /// Kills all processes with SIGKILL.
    pub(super) fn kill(&mut self) {
        for process in &mut self.processes {
            process.running = None;
        }
    }
}

/// Starts processes concurrently.
pub(super) async fn start_all(processes: &mut [Process]) {
    let starts: Vec<_> = processes
        .iter()
        .map(|process| {
            let (config, log) = (process.config.clone(), process.log.clone());
            let listen = format!("127.0.0.1:{}", process.port);
            tokio::spawn(async move { Running::start(&config, &listen, &log).await })
        })
        .collect();
    for (process, start) in processes.iter_mut().zip(starts) {
        process.running = Some(start.await.unwrap());
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        self.kill();
        let log = self.log();
        if std::thread::panicking() {
            eprintln!("--- logs ---\n{log}--- end of logs ---");
            return;
        }
        assert!(!log.contains("panicked at"), "a program panicked:\n{log}");
        let rows = self.database.as_ref().map(Database::rows);
        let redis = self.redis.as_ref().filter(|redis| redis.is_running());
        self.expect_no_secrets_in(&[
            ("the log", &log),
            ("the database", &rows.unwrap_or_else(|| self.dump())),
            ("a file's name", &names_below(&self.data_dir())),
            ("Redis", &redis.map(RedisServer::dump).unwrap_or_default()),
        ]);
    }
}

/// The names of all files below a directory.
fn names_below(dir: &Path) -> String {
    let mut names = String::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        names.push_str(&format!("{}\n", entry.file_name().display()));
        if entry.path().is_dir() {
            names.push_str(&names_below(&entry.path()));
        }
    }
    names
}
