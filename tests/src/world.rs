//! A running deployment with its own database, data directory and ports.

mod builder;
mod composed;
mod deployment;
mod prepared_database;
mod shared;

pub use builder::WorldBuilder;
pub use composed::{DemoSite, compose_file};
pub(crate) use deployment::Deployment;
pub use shared::SharedWorld;
pub(crate) use shared::end_shared_deployments;

use crate::clock::environment_with_offset;
use crate::http::{Caller, Origin};
use crate::nginx::Nginx;
use crate::outbox::Mail;
use crate::polling::{record_revocation, until_revoked};
use crate::postgres::{PostgresProxy, PostgresServer};
use crate::program::{Program, ProgramConfig, Running};
use crate::redis::RedisServer;
use crate::shape::Shape;
use deployment::{Process, start_all};
use foundation::clock::Timestamp;
use serde_json::Value;
use std::collections::HashMap;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};
use storage::db::Db;

/// One test's view of a running deployment. A deployment of its own ends with it: dropping it kills the
/// processes, prints their logs if the test failed, and searches logs and data for secrets.
#[derive(Debug)]
pub struct World {
    /// The engine and the number of processes.
    pub shape: Shape,
    anyone: Caller,
    deployment: Arc<Deployment>,
}

impl World {
    /// The view of a test of a running deployment, which its calls reach from this origin.
    fn of(deployment: Arc<Deployment>, origin: Origin) -> Self {
        let anyone = Caller::new(deployment.base.clone(), deployment.canaries.clone(), origin);
        Self {
            shape: deployment.shape,
            anyone: anyone.with_contract(deployment.contract.clone().unwrap()),
            deployment,
        }
    }

    /// The deployment, if it belongs to this test alone.
    fn own(&mut self) -> &mut Deployment {
        Arc::get_mut(&mut self.deployment).unwrap()
    }

    /// The mails of the outbox that were read up to now, by file.
    pub(crate) fn read_mails(&self) -> MutexGuard<'_, HashMap<PathBuf, Mail>> {
        self.deployment.mails.lock().unwrap()
    }

    /// Returns a caller without credentials.
    pub fn anyone(&self) -> Caller {
        self.anyone.clone()
    }

    /// Returns the base URL, which is also the issuer.
    pub fn base(&self) -> &str {
        self.anyone.base()
    }

    /// Returns the ports of the issuer processes on 127.0.0.1.
    pub fn issuer_ports(&self) -> Vec<u16> {
        self.deployment.ports_except(Program::ApiServer)
    }

    /// Returns the ports of the API processes on 127.0.0.1.
    pub fn api_ports(&self) -> Vec<u16> {
        self.deployment.ports_except(Program::AuthServer)
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
            .deployment
            .processes
            .iter()
            .filter_map(|process| process.running.as_ref());
        running.map(Running::id).collect()
    }

    /// Returns the Redis server of this deployment. Only for [`Shape::Split`].
    pub fn redis(&self) -> &RedisServer {
        self.deployment.redis.as_ref().unwrap()
    }

    /// Returns the PostgreSQL server of this world. Requires [`WorldBuilder::own_postgres`], unless the test
    /// only affects the database of this world.
    pub fn postgres(&self) -> &PostgresServer {
        self.deployment.database.as_ref().unwrap().server()
    }

    /// Returns the proxy between the programs and PostgreSQL. Requires [`WorldBuilder::postgres_proxy`].
    pub fn postgres_proxy(&self) -> &PostgresProxy {
        self.deployment.postgres_proxy.as_ref().unwrap()
    }

    /// Returns the number of allocations and reallocations of the program so far. Requires
    /// [`WorldBuilder::counting_allocations`].
    pub fn allocations(&self) -> u64 {
        let mut count = [0; 8];
        let mut socket = UnixStream::connect(self.deployment.allocation_socket()).unwrap();
        socket.read_exact(&mut count).unwrap();
        u64::from_be_bytes(count)
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.deployment.data_dir()
    }

    /// Returns the logs of all processes so far. The programs write their lines a moment late, so this waits
    /// for the line of a request of its own to each running process.
    pub fn log(&self) -> String {
        self.deployment.log()
    }

    /// Returns the lines of the [logs](Self::log), which are JSON.
    pub fn log_lines(&self) -> Vec<Value> {
        let log = self.log();
        let lines = log.lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the URL of the database.
    pub fn database_url(&self) -> String {
        self.deployment.database_url()
    }

    /// Opens the database.
    pub async fn db(&self) -> Db {
        self.deployment.db().await
    }

    /// Opens the database with the role of the API processes. Only for [`Shape::Split`].
    pub async fn api_db(&self) -> Db {
        let url = self.deployment.database.as_ref().unwrap().api_url();
        Db::open(&url.parse().unwrap(), 4, 1).await.unwrap()
    }

    /// Returns the current time of the programs.
    pub fn now(&self) -> Timestamp {
        self.deployment.now()
    }

    /// Advances the clock of the programs and of the database. Requires [`WorldBuilder::clock`].
    pub fn advance(&self, length: Duration) {
        // The clock of the database is set first: the programs' clock may make a key due, and then they
        // compare the two.
        self.deployment.set_database(self.now().after(length));
        self.advance_programs(length);
    }

    /// Advances the clock of the programs only. Requires [`WorldBuilder::clock`].
    pub fn advance_programs(&self, length: Duration) {
        self.deployment.clock.as_ref().unwrap().advance(length);
    }

    /// Sets the clock of the programs back to an earlier time. Requires [`WorldBuilder::clock`].
    pub fn set_programs_back(&self, length: Duration) {
        self.deployment.clock.as_ref().unwrap().set_back(length);
    }

    /// Terminates all processes and expects exit status 0.
    pub async fn stop(&mut self) {
        self.terminate();
        for process in &mut self.own().processes {
            let status = process.running.take().unwrap().wait_for_exit().await;
            assert!(status.success(), "after SIGTERM the program exited with {status}");
        }
    }

    /// Sends SIGTERM to all processes without waiting.
    pub fn terminate(&self) {
        for process in &self.deployment.processes {
            process.running.as_ref().unwrap().terminate();
        }
    }

    /// Kills all processes with SIGKILL.
    pub fn kill(&mut self) {
        self.own().kill();
    }

    /// Kills the issuers with SIGKILL.
    pub fn kill_issuers(&mut self) {
        for process in self
            .own()
            .processes
            .iter_mut()
            .filter(|process| process.is_issuer())
        {
            process.running = None;
        }
    }

    /// Restarts all processes on their previous ports.
    pub async fn restart(&mut self) {
        self.restart_unready().await;
        self.deployment.wait_until_ready().await;
    }

    /// Starts all processes again, which need not become ready.
    pub async fn restart_unready(&mut self) {
        start_all(&mut self.own().processes).await;
    }

    /// Sets the flags of the issuers' next start and of commands. `None` removes a flag.
    pub fn set_issuer_flags(&mut self, flags: &[(&str, Option<&str>)]) {
        for process in self
            .own()
            .processes
            .iter_mut()
            .filter(|process| process.is_issuer())
        {
            process.config.replace_flags(flags);
        }
    }

    /// Sets the flags of the next start of all processes and of commands. `None` removes a flag.
    pub fn set_flags(&mut self, flags: &[(&str, Option<&str>)]) {
        for process in &mut self.own().processes {
            process.config.replace_flags(flags);
        }
    }

    /// Restarts the issuer process at this port. The reverse proxy sends it no request until it is ready.
    pub async fn restart_issuer(&mut self, port: u16) {
        if let Some(proxy) = &self.deployment.reverse_proxy {
            proxy.remove(port).await;
        }
        self.replace_process(port).await;
        self.deployment.wait_until_ready().await;
        if let Some(proxy) = &self.deployment.reverse_proxy {
            proxy.add(port, true);
        }
    }

    /// Restarts the process at this port. The reverse proxy sends it requests again as soon as it accepts
    /// connections. Only for [`Shape::Split`].
    pub async fn restart_under_load(&mut self, port: u16) {
        let is_issuer = self.issuer_ports().contains(&port);
        self.deployment.reverse_proxy.as_ref().unwrap().remove(port).await;
        self.replace_process(port).await;
        let proxy = self.deployment.reverse_proxy.as_ref().unwrap();
        proxy.add(port, is_issuer);
    }

    /// Terminates the process at this port, and starts it again.
    async fn replace_process(&mut self, port: u16) {
        let at_port = |process: &&mut Process| process.port == port;
        let process = self.own().processes.iter_mut().find(at_port).unwrap();
        let running = process.running.take().unwrap();
        running.terminate();
        let status = running.wait_for_exit().await;
        assert!(status.success(), "after SIGTERM the program exited with {status}");
        start_all(std::slice::from_mut(process)).await;
    }

    /// Suspends the process at this port with SIGSTOP. Its connections stay open.
    pub fn suspend(&self, port: u16) {
        self.signal(port, "-STOP");
    }

    /// Resumes the process after [`World::suspend`].
    pub fn resume(&self, port: u16) {
        self.signal(port, "-CONT");
    }

    /// Sends SIGHUP to all processes.
    pub fn hang_up(&self) {
        for process in &self.deployment.processes {
            self.signal(process.port, "-HUP");
        }
    }

    fn signal(&self, port: u16, signal: &str) {
        let at_port = |process: &&Process| process.port == port;
        let process = self.deployment.processes.iter().find(at_port).unwrap();
        let id = process.running.as_ref().unwrap().id().to_string();
        let status = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(status.success());
    }

    /// Expects that the API accepts the access token.
    pub async fn expect_accepted(&self, token: &str) {
        self.anyone.bearer(token).get("/protected").await.expect(200);
    }

    /// Expects that every API rejects the access token, which was revoked by a request: immediately in a
    /// single process, and as soon as each replica has learned of it otherwise.
    pub async fn expect_revoked(&self, token: &str) {
        match self.shape {
            Shape::Split => self.expect_revoked_soon(token).await,
            _ => self.expect_rejected(&self.anyone.bearer(token)).await,
        }
    }

    /// Expects that every API will reject the access token. The time is printed at the end of all tests. A
    /// revocation by a command takes a moment on every shape, because the processes poll for it.
    pub async fn expect_revoked_soon(&self, token: &str) {
        let began = Instant::now();
        for caller in self.at_each_api(&self.anyone.bearer(token)) {
            until_revoked(async || caller.get("/protected").await.status != 200).await;
            self.expect_rejected(&caller).await;
        }
        record_revocation(began.elapsed());
    }

    async fn expect_rejected(&self, caller: &Caller) {
        let reply = caller.get("/protected").await;
        reply.expect_error(401, "invalid_token");
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
        self.deployment.processes[0].config.run(args, stdin)
    }

    /// Runs a command with the settings of this world on a pseudo-terminal of this width. Its arguments have
    /// no spaces. Returns the text that the terminal gets.
    pub fn run_on_terminal(&self, columns: u16, args: &[&str]) -> String {
        self.deployment.processes[0].config.run_on_terminal(columns, args)
    }

    /// Runs a command of the issuer with the settings of this world, except for these flags.
    pub fn run_issuer_with(&self, flags: &[(&str, &str)], args: &[&str]) -> Output {
        with_flags(&self.deployment.processes[0], flags).run(args, "")
    }

    /// Runs a command of the API with the settings of this world, except for these flags.
    pub fn run_api_with(&self, flags: &[(&str, &str)], args: &[&str]) -> Output {
        with_flags(self.deployment.processes.last().unwrap(), flags).run(args, "")
    }

    /// Runs a Bash script with `set -e` in the directory of this world, with the programs on the PATH and the
    /// settings of this world as environment variables.
    pub fn bash(&self, script: &str) -> Output {
        self.prepare_bash(script).output().unwrap()
    }

    /// Prepares the script of [`World::bash`].
    pub fn prepare_bash(&self, script: &str) -> Command {
        self.deployment.processes[0].config.bash(script)
    }

    /// Runs the API program with these arguments and no other settings.
    pub fn run_api_without_settings(&self, args: &[&str]) -> Output {
        ProgramConfig::bare(Program::ApiServer, self.deployment.dir.path()).run(args, "")
    }

    /// Starts a further nginx in front of the processes, with the configuration that `change` makes of that of
    /// installations. Returns it and its URL.
    pub fn start_nginx(&self, change: impl FnOnce(String) -> String) -> (Nginx, String) {
        let (issuers, apis) = (self.issuer_ports(), self.api_ports());
        let (nginx, port) = Nginx::in_front_of(self.deployment.dir.path(), &issuers, &apis, change);
        (nginx, format!("http://localhost:{port}"))
    }

    /// Starts a command with the settings of this world and does not wait for it.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.deployment.processes[0].config.spawn(args)
    }

    /// Starts another process with the settings of the first one on a free port. Dropping it kills it.
    pub async fn start_replica(&self) -> impl Drop + use<> {
        let first = &self.deployment.processes[0];
        Running::start(&first.config, "127.0.0.1:0", &first.log).await
    }

    /// Starts another issuer on a free port, whose clock is that of this machine plus an offset in the form
    /// of libfaketime, such as `-1h`. Returns its URL, and the process, which dropping kills. Only for
    /// [`Shape::Split`].
    pub async fn start_issuer_with_clock(&self, offset: &str) -> (String, impl Drop + use<>) {
        let present = &self.deployment.processes[0];
        let mut config = present.config.clone();
        config.environment.extend(environment_with_offset(offset));
        let replica = Running::start(&config, "127.0.0.1:0", &present.log).await;
        (format!("http://localhost:{}", replica.port), replica)
    }

    /// Starts another API process on a free port, with the settings of the present ones except for these
    /// flags. Returns its URL, and the process, which dropping kills. Only for [`Shape::Split`].
    pub async fn start_api_replica(&self, flags: &[(&str, &str)]) -> (String, impl Drop + use<>) {
        self.start_api_replica_at(0, flags).await
    }

    /// Does what [`start_api_replica`](Self::start_api_replica) does, at this port.
    pub async fn start_api_replica_at(
        &self,
        port: u16,
        flags: &[(&str, &str)],
    ) -> (String, impl Drop + use<>) {
        let present = self.deployment.processes.last().unwrap();
        let config = with_flags(present, flags);
        let replica = Running::start(&config, &format!("127.0.0.1:{port}"), &present.log).await;
        (format!("http://localhost:{}", replica.port), replica)
    }

    /// Runs the program with these arguments and no other settings.
    pub fn run_without_settings(&self, args: &[&str]) -> Output {
        let config = &self.deployment.processes[0].config;
        ProgramConfig::bare(config.program, &config.dir).run(args, "")
    }

    /// The content of its database as text.
    pub fn dump(&self) -> String {
        self.deployment.dump()
    }

    /// Fails the test if a recorded secret appears in the text, literally or in hexadecimal.
    pub fn expect_no_secrets_in(&self, text: &str, name: &'static str) {
        self.deployment.expect_no_secrets_in(&[(name, text)]);
    }

    /// Records a secret that must not appear in logs or data.
    pub fn register_secret(&self, secret: &str) {
        self.anyone.canaries().add(secret);
    }

    /// Removes a recorded value that is not a secret, such as a challenge sent as the verifier.
    pub fn unregister_secret(&self, text: &str) {
        self.anyone.canaries().remove(text);
    }
}

/// Returns the settings of this process, except for these flags.
fn with_flags(process: &Process, flags: &[(&str, &str)]) -> ProgramConfig {
    let mut config = process.config.clone();
    for (name, value) in flags {
        config.replace_flag(name, Some(*value));
    }
    config
}

fn at_each(caller: &Caller, ports: Vec<u16>) -> Vec<Caller> {
    let at = |port| caller.at(&format!("http://localhost:{port}"));
    ports.into_iter().map(at).collect()
}
