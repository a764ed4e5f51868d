//! Setting a world up: which programs, given what.

use super::{Process, World, start_all};
use crate::clock::Clock;
use crate::front::Front;
use crate::http::{Caller, Canaries};
use crate::postgres::Database;
use crate::program::{Given, Program};
use crate::redis::RedisServer;
use crate::shape::Shape;
use foundation::sealing::SealingKey;

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
        let account_key = self.data_dir().join("account.key");
        for key in [&master_key, &account_key] {
            std::fs::write(key, SealingKey::generate().to_text()).unwrap();
        }
        let (database, redis) = (self.database.as_ref().unwrap(), self.redis.as_ref().unwrap());
        let defaults = [
            ("--data-dir", self.data_dir().display().to_string()),
            ("--base-url", base),
            ("--redis-url", redis.url()),
            ("--master-key-file", master_key.display().to_string()),
            ("--account-key-file", account_key.display().to_string()),
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
}
