//! Configuration and start of a world.

use super::World;
use super::deployment::{Deployment, Process, start_all};
use super::prepared_database::PreparedDatabase;
use crate::clock::Clock;
use crate::http::{Canaries, Origin};
use crate::ports::free_port;
use crate::postgres::{Database, PostgresProxy};
use crate::program::{Program, ProgramConfig};
use crate::redis::RedisServer;
use crate::reverse_proxy::ReverseProxy;
use crate::shape::Shape;
use foundation::sealing::SealingKey;
use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::sync::{Arc, Mutex};

/// The environment variable with the path of the socket on which `latchkey_counting_allocations` reports its
/// count.
const ALLOCATION_SOCKET: &str = "ALLOCATION_SOCKET";
/// The file of the master key in the data directory.
const MASTER_KEY: &str = "master.key";
/// The flag of a limit that the tests in a shared deployment would reach together, because their users have
/// one domain.
const CONFIRMATIONS: (&str, &str) = ("--confirmations-per-domain", "10000");
/// The flag that multiplies the time limits of a request, and its value: a busy machine reaches the default
/// limits by chance.
const TIME_LIMITS: (&str, &str) = ("--time-limit-factor", "20");
/// The number of replicas per service in [`Shape::Split`].
const REPLICAS: usize = 2;

/// The configuration of a world. [`World::builder`] creates one.
#[derive(Debug)]
pub struct WorldBuilder {
    shape: Shape,
    flags: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    has_test_clock: bool,
    waits_until_ready: bool,
    starts_issuers_together: bool,
    without_nginx: bool,
    begins_empty: bool,
    has_own_postgres: bool,
    has_postgres_proxy: bool,
    counts_allocations: bool,
    max_file_size: Option<u32>,
}

impl WorldBuilder {
    /// Sets a flag. Programs that do not support it start without it.
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

    /// Gives the programs the time limits of a default installation, for a test that reaches one or waits for
    /// it. In other deployments of tests they are longer, because a busy machine reaches them by chance.
    #[must_use]
    pub fn default_time_limits(self) -> Self {
        self.flag(TIME_LIMITS.0, "1")
    }

    /// Gives the programs a clock that only [`World::advance`] moves.
    #[must_use]
    pub fn clock(mut self) -> Self {
        self.has_test_clock = true;
        self
    }

    /// Makes [`WorldBuilder::start`] return before the programs are ready.
    #[must_use]
    pub fn without_readiness_check(mut self) -> Self {
        self.waits_until_ready = false;
        self
    }

    /// Starts all issuers at the same time on an empty database. By default the first one starts alone. Only
    /// for [`Shape::Split`].
    #[must_use]
    pub fn issuers_start_together(mut self) -> Self {
        self.starts_issuers_together = true;
        self.empty()
    }

    /// Never puts nginx in front of the programs, because the test itself sets `TRUSTED_PROXIES`.
    #[must_use]
    pub fn without_nginx(mut self) -> Self {
        self.without_nginx = true;
        self
    }

    /// Begins with an empty database, in which the programs create the tables and generate signing keys. By
    /// default the database is a copy of one that has both, so worlds share their signing keys.
    #[must_use]
    pub fn empty(mut self) -> Self {
        self.begins_empty = true;
        self
    }

    /// Gives the database a PostgreSQL server of its own, which [`World::postgres`] returns. The database
    /// begins empty.
    #[must_use]
    pub fn own_postgres(mut self) -> Self {
        self.has_own_postgres = true;
        self.empty()
    }

    /// Puts a proxy between the programs and PostgreSQL, which [`World::postgres_proxy`] returns.
    #[must_use]
    pub fn postgres_proxy(mut self) -> Self {
        self.has_postgres_proxy = true;
        self
    }

    /// Runs `latchkey` with an allocator that counts, for [`World::allocations`].
    #[must_use]
    pub fn counting_allocations(mut self) -> Self {
        self.counts_allocations = true;
        self
    }

    /// Makes every write of the programs fail that would make a file larger than this, in KiB. The database
    /// begins empty, because a copy may have a file that is larger already.
    #[must_use]
    pub fn max_file_size(mut self, kib: u32) -> Self {
        self.max_file_size = Some(kib);
        self.empty()
    }

    /// Starts the programs on free ports.
    pub async fn start(self) -> World {
        World::of(Arc::new(self.deploy().await), Origin::default())
    }

    /// Starts the programs on free ports.
    pub(super) async fn deploy(self) -> Deployment {
        let dir = tempfile::Builder::new()
            .prefix("latchkey-world-")
            .tempdir()
            .unwrap();
        let is_split = self.shape == Shape::Split;
        let has_postgres = self.shape != Shape::Sqlite;
        let prepared = match has_postgres {
            _ if self.begins_empty => None,
            true => Some(PreparedDatabase::postgres().await),
            false => Some(PreparedDatabase::sqlite().await),
        };
        let database = has_postgres.then(
            || match prepared.and_then(|prepared| prepared.database.as_ref()) {
                Some(prepared) => prepared.copy(),
                None if self.has_own_postgres => Database::create_with_server(),
                None => Database::create(),
            },
        );
        let proxy_dir = dir.path().join("postgres");
        let proxy = |database: &Database| PostgresProxy::start(&proxy_dir, database.server().socket_dir());
        let mut deployment = Deployment {
            shape: self.shape,
            base: String::new(),
            processes: Vec::new(),
            clock: self.has_test_clock.then(|| Clock::start(dir.path())),
            canaries: Canaries::default(),
            contract: None,
            reverse_proxy: None,
            redis: is_split.then(|| {
                let redis = RedisServer::launch(dir.path());
                redis.look_old();
                redis
            }),
            postgres_proxy: database.as_ref().filter(|_| self.has_postgres_proxy).map(proxy),
            database,
            mails: Mutex::default(),
            dir,
        };
        if deployment.clock.is_some() {
            deployment.set_database(deployment.now());
        }
        deployment.prepare_data_dir(prepared);
        if prepared.is_some() && deployment.clock.is_some() {
            PreparedDatabase::date_keys(&deployment.db().await, deployment.now()).await;
        }
        let port = match is_split {
            false => deployment.start_one(&self).await,
            true => deployment.start_many(&self).await,
        };
        deployment.base = format!("http://localhost:{port}");
        let settings: Vec<_> = self.flags.iter().chain(&self.environment).collect();
        deployment.contract = Some(deployment.contract(&settings).await);
        if self.waits_until_ready {
            deployment.wait_until_ready().await;
        }
        deployment
    }

    /// The settings of a program: those of the test, and defaults for all others.
    fn config(
        &self,
        program: Program,
        deployment: &Deployment,
        defaults: &[(&str, String)],
    ) -> ProgramConfig {
        let mut config = ProgramConfig::bare(program, deployment.dir.path());
        config.environment.clone_from(&self.environment);
        config.max_file_size = self.max_file_size;
        if self.counts_allocations {
            let socket = deployment.allocation_socket().display().to_string();
            config.environment.push((ALLOCATION_SOCKET.to_owned(), socket));
        }
        config
            .environment
            .extend(deployment.clock.iter().flat_map(Clock::environment));
        for (name, value) in &self.flags {
            config.flag(name, value);
        }
        let defaults = defaults.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in defaults.chain([CONFIRMATIONS, TIME_LIMITS]) {
            if !self.is_set_by_test(name) {
                config.flag(name, value);
            }
        }
        config
    }

    /// Whether the test sets this flag or its environment variable.
    fn is_set_by_test(&self, flag: &str) -> bool {
        let variable = flag.trim_start_matches("--").to_uppercase().replace('-', "_");
        let variable = format!("LATCHKEY_{variable}");
        let names = self.flags.iter().chain(&self.environment).map(|(name, _)| name);
        names.into_iter().any(|name| name == flag || *name == variable)
    }
}

impl World {
    /// Begins the configuration of a world.
    pub fn builder(shape: Shape) -> WorldBuilder {
        WorldBuilder {
            shape,
            flags: Vec::new(),
            environment: Vec::new(),
            has_test_clock: false,
            waits_until_ready: true,
            starts_issuers_together: false,
            without_nginx: false,
            begins_empty: false,
            has_own_postgres: false,
            has_postgres_proxy: false,
            counts_allocations: false,
            max_file_size: None,
        }
    }

    /// Starts a world with default settings.
    pub async fn start(shape: Shape) -> Self {
        Self::builder(shape).start().await
    }
}

impl Deployment {
    /// Creates the data directory with the master key of the prepared database, or with a new one if replicas
    /// share it. A single process with an empty database creates both itself.
    fn prepare_data_dir(&self, prepared: Option<&PreparedDatabase>) {
        let master_key = match prepared {
            Some(prepared) => prepared.master_key.clone(),
            None if self.shape == Shape::Split => SealingKey::generate().to_text(),
            None => return,
        };
        let data_dir = self.data_dir();
        DirBuilder::new().mode(0o700).create(&data_dir).unwrap();
        let file = data_dir.join(MASTER_KEY);
        std::fs::write(&file, master_key).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        if let Some(prepared) = prepared.filter(|_| self.shape == Shape::Sqlite) {
            prepared.copy_to(&data_dir);
        }
    }

    /// Starts the single-process program. Returns its port.
    async fn start_one(&mut self, setup: &WorldBuilder) -> u16 {
        let mut defaults = vec![("--data-dir", self.data_dir().display().to_string())];
        defaults.extend(
            self.database
                .iter()
                .map(|database| ("--database-url", database.url_at(self.postgres_socket_dir()))),
        );
        let program = match setup.counts_allocations {
            true => Program::LatchkeyCountingAllocations,
            false => Program::Latchkey,
        };
        let config = setup.config(program, self, &defaults);
        let port = free_port();
        self.launch(&config, &[port]).await;
        port
    }

    /// Starts replicas of each service behind one origin. Returns the port of the reverse proxy.
    async fn start_many(&mut self, setup: &WorldBuilder) -> u16 {
        let issuers = [(); REPLICAS].map(|()| free_port());
        let apis = [(); REPLICAS].map(|()| free_port());
        let (reverse_proxy, port) =
            ReverseProxy::start(self.dir.path(), &issuers, &apis, setup.without_nginx).await;
        let (master_key, account_key) = (
            self.data_dir().join(MASTER_KEY),
            self.data_dir().join("account.key"),
        );
        std::fs::write(&account_key, SealingKey::generate().to_text()).unwrap();
        let (database, redis) = (self.database.as_ref().unwrap(), self.redis.as_ref().unwrap());
        let mut defaults = vec![
            ("--data-dir", self.data_dir().display().to_string()),
            ("--base-url", format!("http://localhost:{port}")),
            ("--redis-url", redis.url()),
            ("--master-key-file", master_key.display().to_string()),
            ("--account-key-file", account_key.display().to_string()),
            ("--database-url", database.url_at(self.postgres_socket_dir())),
        ];
        let trusted = reverse_proxy.trusted().map(str::to_owned);
        defaults.extend(trusted.map(|proxies| ("--trusted-proxies", proxies)));
        self.reverse_proxy = Some(reverse_proxy);
        let issuer = setup.config(Program::AuthServer, self, &defaults);
        let (alone, together) = issuers.split_at(usize::from(!setup.starts_issuers_together));
        self.launch(&issuer, alone).await;
        self.launch(&issuer, together).await;
        let database = self.database.as_ref().unwrap();
        defaults.retain(|(name, _)| *name != "--database-url");
        defaults.push(("--database-url", database.api_url_at(self.postgres_socket_dir())));
        let jwks = format!("http://127.0.0.1:{port}/.well-known/jwks.json");
        defaults.push(("--jwks-url", jwks));
        let api = setup.config(Program::ApiServer, self, &defaults);
        self.launch(&api, &apis).await;
        port
    }

    /// Starts a process at each of these ports, concurrently.
    async fn launch(&mut self, config: &ProgramConfig, ports: &[u16]) {
        let first = self.processes.len();
        for port in ports {
            let log = self.dir.path().join(format!("log-{}", self.processes.len()));
            self.processes.push(Process {
                config: config.clone(),
                running: None,
                port: *port,
                log,
            });
        }
        start_all(&mut self.processes[first..]).await;
    }
}
