//! A running deployment with its own database, data directory and ports.

mod builder;
mod prepared_database;

pub use builder::WorldBuilder;

use crate::clock::{Clock, environment_with_offset};
use crate::contract::Contract;
use crate::http::Caller;
use crate::postgres::{Database, PostgresProxy, PostgresServer};
use crate::program::{Program, ProgramConfig, Running};
use crate::redis::RedisServer;
use crate::reverse_proxy::ReverseProxy;
use crate::shape::Shape;
use foundation::clock::Timestamp;
use foundation::random;
use serde_json::Value;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::db::Db;
use tempfile::TempDir;

/// The maximum time from listening to readiness, which includes fetching the key set.
const READY_TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum wait for a log line.
const LOG_TIMEOUT: Duration = Duration::from_secs(5);

/// One running deployment. Dropping it kills the processes, prints their logs if the test failed, and
/// searches logs and data for secrets.
#[derive(Debug)]
pub struct World {
    /// The engine and the number of processes.
    pub shape: Shape,
    processes: Vec<Process>,
    clock: Option<Clock>,
    anyone: Caller,
    reverse_proxy: Option<ReverseProxy>,
    redis: Option<RedisServer>,
    postgres_proxy: Option<PostgresProxy>,
    database: Option<Database>,
    dir: TempDir,
}

/// One process of a deployment, running or not.
#[derive(Debug)]
struct Process {
    config: ProgramConfig,
    running: Option<Running>,
    /// The port, which stays the same across restarts. 0 before the first start.
    port: u16,
    log: PathBuf,
}

impl Process {
    fn is_issuer(&self) -> bool {
        self.config.program != Program::ApiServer
    }

    /// Returns the log up to now.
    fn log_so_far(&self) -> String {
        let read = || std::fs::read_to_string(&self.log).unwrap_or_default();
        let trace_id = random::trace_id();
        // A process that does not respond has stopped, and has written its last lines.
        if self.call_livez(&trace_id).is_ok() {
            let began = Instant::now();
            while !read().contains(&trace_id) && began.elapsed() < LOG_TIMEOUT {
                std::thread::yield_now();
            }
        }
        read()
    }

    /// Requests `/livez` with this trace id, and waits for the response.
    fn call_livez(&self, trace_id: &str) -> io::Result<()> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port))?;
        connection.set_read_timeout(Some(LOG_TIMEOUT))?;
        let traceparent = format!("00-{trace_id}-{}-01", &trace_id[..16]);
        write!(
            connection,
            "GET /livez HTTP/1.1\r\nHost: localhost\r\ntraceparent: {traceparent}\r\nConnection: close\r\n\r\n"
        )?;
        connection.read_to_end(&mut Vec::new())?;
        Ok(())
    }
}

impl World {
    /// Returns a caller without credentials.
    pub fn anyone(&self) -> Caller {
        self.anyone.clone()
    }

    /// Returns the base URL, which is also the issuer.
    pub fn base(&self) -> &str {
        self.anyone.base()
    }

    /// Returns the merged OpenAPI documents of the programs of this deployment.
    async fn contract(&self) -> Arc<Contract> {
        let mut texts = Vec::new();
        for port in [self.issuer_ports()[0], self.api_ports()[0]] {
            let url = format!("http://localhost:{port}/openapi.json");
            texts.push(self.anyone.get(&url).await.expect(200).text());
        }
        texts.dedup();
        Contract::merged(&texts, self.base())
    }

    /// Returns the ports of the issuer processes on 127.0.0.1.
    pub fn issuer_ports(&self) -> Vec<u16> {
        self.ports_except(Program::ApiServer)
    }

    /// Returns the ports of the API processes on 127.0.0.1.
    pub fn api_ports(&self) -> Vec<u16> {
        self.ports_except(Program::AuthServer)
    }

    /// Returns the ports of all processes except those that run `program`. The single-process program counts as issuer
    /// and as API.
    fn ports_except(&self, program: Program) -> Vec<u16> {
        let others = self
            .processes
            .iter()
            .filter(|process| process.config.program != program);
        others.map(|process| process.port).collect()
    }

    /// Returns copies of a caller, one for each API process.
    pub fn at_each_api(&self, caller: &Caller) -> Vec<Caller> {
        at_each(caller, self.api_ports())
    }

    /// Returns copies of a caller, one for each issuer process.
    pub fn at_each_issuer(&self, caller: &Caller) -> Vec<Caller> {
        at_each(caller, self.issuer_ports())
    }

    /// Returns the process ids of the running processes.
    pub fn pids(&self) -> Vec<u32> {
        let running = self
            .processes
            .iter()
            .filter_map(|process| process.running.as_ref());
        running.map(Running::id).collect()
    }

    /// Returns the Redis server of this deployment. Only for [`Shape::Split`].
    pub fn redis(&self) -> &RedisServer {
        self.redis.as_ref().unwrap()
    }

    /// Returns the PostgreSQL server of this world. Requires [`WorldBuilder::own_postgres`], unless the test only
    /// affects the database of this world.
    pub fn postgres(&self) -> &PostgresServer {
        self.database.as_ref().unwrap().server()
    }

    /// Returns the proxy between the programs and PostgreSQL. Requires [`WorldBuilder::postgres_proxy`].
    pub fn postgres_proxy(&self) -> &PostgresProxy {
        self.postgres_proxy.as_ref().unwrap()
    }

    /// The directory of the socket at which the programs reach PostgreSQL.
    fn postgres_socket_dir(&self) -> &Path {
        let proxy = self.postgres_proxy.as_ref().map(PostgresProxy::socket_dir);
        proxy.unwrap_or_else(|| self.postgres().socket_dir())
    }

    /// Returns the number of allocations and reallocations of the program so far. Requires
    /// [`WorldBuilder::counting_allocations`].
    pub fn allocations(&self) -> u64 {
        let mut count = [0; 8];
        let mut socket = UnixStream::connect(self.allocation_socket()).unwrap();
        socket.read_exact(&mut count).unwrap();
        u64::from_be_bytes(count)
    }

    fn allocation_socket(&self) -> PathBuf {
        self.dir.path().join("allocations.sock")
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Returns the logs of all processes so far. The programs write their lines a moment late, so this waits for the line
    /// of a request of its own to each running process.
    pub fn log(&self) -> String {
        self.processes.iter().map(Process::log_so_far).collect()
    }

    /// Returns the URL of the database.
    pub fn database_url(&self) -> String {
        match &self.database {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.data_dir().join("latchkey.db").display()),
        }
    }

    /// Opens the database.
    pub async fn db(&self) -> Db {
        Db::open(&self.database_url().parse().unwrap(), 4, 1)
            .await
            .unwrap()
    }

    /// Opens the database with the role of the API processes. Only for [`Shape::Split`].
    pub async fn api_db(&self) -> Db {
        let url = self.database.as_ref().unwrap().api_url();
        Db::open(&url.parse().unwrap(), 4, 1).await.unwrap()
    }

    /// Returns the current time of the programs.
    pub fn now(&self) -> Timestamp {
        self.clock
            .as_ref()
            .map_or_else(foundation::clock::now, Clock::now)
    }

    /// Advances the clock of the programs and of the database. Requires [`WorldBuilder::clock`].
    pub fn advance(&self, length: Duration) {
        // The clock of the database is set first: the programs' clock may make a key due, and then they compare the
        // two.
        self.set_database(self.now().after(length));
        self.advance_programs(length);
    }

    /// Advances the clock of the programs only. Requires [`WorldBuilder::clock`].
    pub fn advance_programs(&self, length: Duration) {
        self.clock.as_ref().unwrap().advance(length);
    }

    /// Sets the clock of the programs back to an earlier time. Requires [`WorldBuilder::clock`].
    pub fn set_programs_back(&self, length: Duration) {
        self.clock.as_ref().unwrap().set_back(length);
    }

    /// Sets the clock of the database.
    fn set_database(&self, now: Timestamp) {
        if let Some(database) = &self.database {
            database.set_clock(now);
        }
    }

    /// Terminates all processes and expects exit status 0.
    pub async fn stop(&mut self) {
        self.terminate();
        for process in &mut self.processes {
            let status = process.running.take().unwrap().wait_for_exit().await;
            assert!(status.success(), "after SIGTERM the program exited with {status}");
        }
    }

    /// Sends SIGTERM to all processes without waiting.
    pub fn terminate(&self) {
        for process in &self.processes {
            process.running.as_ref().unwrap().terminate();
        }
    }

    /// Kills all processes with SIGKILL.
    pub fn kill(&mut self) {
        for process in &mut self.processes {
            process.running = None;
        }
    }

    /// Kills the issuers with SIGKILL.
    pub fn kill_issuers(&mut self) {
        for process in self.processes.iter_mut().filter(|process| process.is_issuer()) {
            process.running = None;
        }
    }

    /// Restarts all processes on their previous ports.
    pub async fn restart(&mut self) {
        self.restart_unready().await;
        self.wait_until_ready().await;
    }

    /// Starts all processes again, which need not become ready.
    pub async fn restart_unready(&mut self) {
        start_all(&mut self.processes).await;
    }

    /// Sets the flags of the issuers' next start and of commands. `None` removes a flag.
    pub fn set_issuer_flags(&mut self, flags: &[(&str, Option<&str>)]) {
        for process in self.processes.iter_mut().filter(|process| process.is_issuer()) {
            process.config.replace_flags(flags);
        }
    }

    /// Sets the flags of the next start of all processes and of commands. `None` removes a flag.
    pub fn set_flags(&mut self, flags: &[(&str, Option<&str>)]) {
        for process in &mut self.processes {
            process.config.replace_flags(flags);
        }
    }

    /// Restarts the issuer process at this port. The reverse proxy sends it no request meanwhile.
    pub async fn restart_issuer(&mut self, port: u16) {
        if let Some(proxy) = &self.reverse_proxy {
            proxy.remove_issuer(port).await;
        }
        let at_port = |process: &&mut Process| process.port == port;
        let process = self.processes.iter_mut().find(at_port).unwrap();
        let running = process.running.take().unwrap();
        running.terminate();
        let status = running.wait_for_exit().await;
        assert!(status.success(), "after SIGTERM the program exited with {status}");
        start_all(std::slice::from_mut(process)).await;
        self.wait_until_ready().await;
        self.reverse_proxy
            .iter()
            .for_each(|proxy| proxy.add_issuers([port]));
    }

    /// Suspends the process at this port with SIGSTOP. Its connections stay open.
    pub fn suspend(&self, port: u16) {
        self.signal(port, "-STOP");
    }

    /// Resumes the process after [`World::suspend`].
    pub fn resume(&self, port: u16) {
        self.signal(port, "-CONT");
    }

    fn signal(&self, port: u16, signal: &str) {
        let at_port = |process: &&Process| process.port == port;
        let process = self.processes.iter().find(at_port).unwrap();
        let id = process.running.as_ref().unwrap().id().to_string();
        let status = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(status.success());
    }

    /// Expects that the API accepts the access token.
    pub async fn expect_accepted(&self, token: &str) {
        self.anyone.bearer(token).get("/protected").await.expect(200);
    }

    /// Expects that every API rejects the access token: immediately in a single process, within a second
    /// otherwise.
    pub async fn expect_revoked(&self, token: &str) {
        let timeout = Duration::from_secs(u64::from(self.shape == Shape::Split));
        self.expect_revoked_within(timeout, token).await;
    }

    /// Expects that every API rejects the access token within this time. A revocation by a command takes up
    /// to a second on every shape, because the processes poll for it.
    pub async fn expect_revoked_within(&self, timeout: Duration, token: &str) {
        let began = Instant::now();
        for caller in self.at_each_api(&self.anyone.bearer(token)) {
            loop {
                let reply = caller.get("/protected").await;
                if reply.status != 200 {
                    reply.expect_error(401, "invalid_token");
                    break;
                }
                assert!(
                    began.elapsed() < timeout,
                    "accepted {:?} after it was revoked",
                    began.elapsed()
                );
                // Requests without a pause would take the processor from the issuers that spread the revocation.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Runs a command with the settings of this world. Fails the test unless it succeeds and prints JSON,
    /// which it returns. Records the secrets in its input and output.
    #[track_caller]
    pub fn cli(&self, args: &[&str], stdin: &str) -> Value {
        let output = self.run(args, stdin);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {}\n{stderr}", output.status);
        let printed: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{args:?} did not print JSON ({error}): {output:?}"));
        // An imported hash stays stored until its user signs in, so it is not registered as a secret.
        if !args.contains(&"--password-hash-stdin") {
            self.anyone.canaries().add(stdin);
        }
        self.anyone.canaries().add_members(&printed);
        printed
    }

    /// Runs a command with the settings of this world.
    pub fn run(&self, args: &[&str], stdin: &str) -> Output {
        self.processes[0].config.run(args, stdin)
    }

    /// Runs a Bash script with `set -e` in the directory of this world, with the programs on the PATH and the
    /// settings of this world as environment variables.
    pub fn bash(&self, script: &str) -> Output {
        self.processes[0].config.bash(script)
    }

    /// Runs the API program with these arguments and no other settings.
    pub fn run_api_without_settings(&self, args: &[&str]) -> Output {
        ProgramConfig::bare(Program::ApiServer, self.dir.path()).run(args, "")
    }

    /// Starts a command with the settings of this world and does not wait for it.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.processes[0].config.spawn(args)
    }

    /// Starts another process with the settings of the first one on a free port. Dropping it kills it.
    pub async fn start_replica(&self) -> impl Drop + use<> {
        let first = &self.processes[0];
        Running::start(&first.config, "127.0.0.1:0", &first.log).await
    }

    /// Starts another issuer on a free port, whose clock is that of this machine plus an offset in the form of
    /// libfaketime, such as `-1h`. Returns its URL, and the process, which dropping kills. Only for [`Shape::Split`].
    pub async fn start_issuer_with_clock(&self, offset: &str) -> (String, impl Drop + use<>) {
        let present = &self.processes[0];
        let mut config = present.config.clone();
        config.environment.extend(environment_with_offset(offset));
        let replica = Running::start(&config, "127.0.0.1:0", &present.log).await;
        (format!("http://localhost:{}", replica.port), replica)
    }

    /// Starts another API process on a free port, with the settings of the present ones except for these flags. Returns
    /// its URL, and the process, which dropping kills. Only for [`Shape::Split`].
    pub async fn start_api_replica(&self, flags: &[(&str, &str)]) -> (String, impl Drop + use<>) {
        let present = self.processes.last().unwrap();
        let mut config = present.config.clone();
        for (name, value) in flags {
            config.replace_flag(name, Some(*value));
        }
        let replica = Running::start(&config, "127.0.0.1:0", &present.log).await;
        (format!("http://localhost:{}", replica.port), replica)
    }

    /// Runs the program with these arguments and no other settings.
    pub fn run_without_settings(&self, args: &[&str]) -> Output {
        let config = &self.processes[0].config;
        ProgramConfig::bare(config.program, &config.dir).run(args, "")
    }

    /// The content of its database as text.
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

    /// Fails the test if a recorded secret appears in the text, literally or in hexadecimal.
    pub fn expect_no_secrets_in(&self, text: &str, what: &str) {
        let found = self.anyone.canaries().found_in(text);
        assert!(found.is_empty(), "{what} contains secrets: {found:?}");
    }

    /// Records a secret that must not appear in logs or data.
    pub fn register_secret(&self, secret: &str) {
        self.anyone.canaries().add(secret);
    }

    /// Removes a recorded value that is not a secret, such as a challenge sent as the verifier.
    pub fn unregister_secret(&self, text: &str) {
        self.anyone.canaries().remove(text);
    }

    async fn wait_until_ready(&self) {
        let began = Instant::now();
        for process in &self.processes {
            let url = format!("http://localhost:{}/readyz", process.port);
            while self.anyone.get(&url).may_fail().await.status != 200 {
                assert!(
                    began.elapsed() < READY_TIMEOUT,
                    "not ready within {READY_TIMEOUT:?}"
                );
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }
}

/// Starts processes concurrently, on their previous ports or on free ones.
async fn start_all(processes: &mut [Process]) {
    let starts: Vec<_> = processes
        .iter()
        .map(|process| {
            let (config, log) = (process.config.clone(), process.log.clone());
            let listen = format!("127.0.0.1:{}", process.port);
            tokio::spawn(async move { Running::start(&config, &listen, &log).await })
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
            eprintln!("--- logs ---\n{log}--- end of logs ---");
            return;
        }
        assert!(!log.contains("panicked at"), "a program panicked:\n{log}");
        self.expect_no_secrets_in(&log, "the log");
        let rows = self.database.as_ref().map(Database::rows);
        self.expect_no_secrets_in(&rows.unwrap_or_else(|| self.dump()), "the database");
        self.expect_no_secrets_in(&names_below(&self.data_dir()), "a file's name");
        if let Some(redis) = self.redis.as_ref().filter(|redis| redis.is_running()) {
            self.expect_no_secrets_in(&redis.dump(), "Redis");
        }
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

fn at_each(caller: &Caller, ports: Vec<u16>) -> Vec<Caller> {
    let at = |port| caller.at(&format!("http://localhost:{port}"));
    ports.into_iter().map(at).collect()
}
