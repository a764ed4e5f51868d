//! The services of `deploy/compose.yaml` without a container engine: the same programs with the commands, the
//! environment and the secrets of the file.

mod demo_site;

use super::World;
use super::deployment::{Deployment, Process, start_all};
use crate::http::{Canaries, Origin};
use crate::installed_programs::tool;
use crate::nginx::{self, Nginx};
use crate::polling::{TIMEOUT, pause};
use crate::ports::free_port;
use crate::postgres::Database;
use crate::program::{Program, ProgramConfig};
use crate::redis::RedisServer;
use crate::repository::root;
use crate::shape::Shape;
use reqwest::Certificate;
use serde_json::Value;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tempfile::TempDir;

pub use demo_site::DemoSite;

/// The address of the test's client, which differs from that of nginx.
const CLIENT: Ipv4Addr = Ipv4Addr::new(127, 77, 0, 1);

/// The file, and what stands for its containers.
struct Composition {
    file: Value,
    /// The directory of the programs.
    programs: PathBuf,
    dir: TempDir,
    /// The port of nginx.
    port: u16,
    /// The port of the demo app.
    site_port: u16,
    /// Texts of the files, and what replaces them on this machine, in this order. Only these differ, and the
    /// address and the time limits of the programs.
    places: Vec<(String, String)>,
}

/// Reads `deploy/compose.yaml`, with the values of its aliases.
pub fn compose_file() -> Value {
    const TO_JSON: &str = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)";
    let file = File::open(deploy("compose.yaml")).unwrap();
    let mut python = Command::new(tool("python/bin/python"));
    let output = python.args(["-c", TO_JSON]).stdin(file).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn deploy(name: &str) -> PathBuf {
    root().join("deploy").join(name)
}

impl World {
    /// Starts what `deploy/compose.yaml` describes, in the order of its dependencies, with the programs in this
    /// directory. The script creates the directory `secrets`, and `site` if the demo app is to start too.
    pub async fn start_composed(
        shape: Shape,
        programs: &Path,
        script: &str,
    ) -> (Self, Nginx, Option<DemoSite>) {
        let mut composition = Composition::prepare(programs, script);
        let database = composition.create_database();
        let redis = composition.start_redis();
        composition.migrate();
        let issuers = composition.replicas("auth-server", Program::AuthServer).await;
        let issuer = format!("http://127.0.0.1:{}", issuers[0].port);
        composition.replace("http://auth-server:8080", issuer);
        let apis = composition.replicas("api-server", Program::ApiServer).await;
        let (issuer_ports, api_ports) = (ports(&issuers), ports(&apis));
        let nginx = composition.start_nginx(&issuer_ports, &api_ports);
        let site = composition.start_site();
        let certificate = fs::read(composition.dir.path().join("secrets/tls-certificate")).unwrap();
        let settings = composition.environment("auth-server");
        let mut deployment = Deployment {
            shape,
            base: base(composition.port),
            processes: issuers.into_iter().chain(apis).collect(),
            clock: None,
            canaries: Canaries::default(),
            contract: None,
            reverse_proxy: None,
            redis: Some(redis),
            postgres_proxy: None,
            database: Some(database),
            mails: Mutex::default(),
            dir: composition.dir,
        };
        let settings: Vec<_> = settings.iter().collect();
        deployment.contract = Some(deployment.contract(&settings).await);
        let origin = Origin {
            test: "",
            address: CLIENT,
        };
        let mut world = Self::of(Arc::new(deployment), origin);
        world.anyone = world
            .anyone
            .trusting(Certificate::from_pem(&certificate).unwrap());
        (world, nginx, site)
    }

    /// Kills the process at this port with SIGKILL, and waits until its port is closed.
    pub fn kill_at(&mut self, port: u16) {
        let at_port = |process: &&mut Process| process.port == port;
        let process = self.own().processes.iter_mut().find(at_port).unwrap();
        process.running = None;
        // Bubblewrap was killed, and the program ends after it.
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_ok() {
            assert!(began.elapsed() < TIMEOUT, "the program still listens");
            pause();
        }
    }
}

impl Composition {
    /// Reads the file, and creates the secrets.
    fn prepare(programs: &Path, script: &str) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("latchkey-world-")
            .tempdir()
            .unwrap();
        let mut bash = Command::new("bash");
        let created = bash
            .args(["-e", "-c", script])
            .current_dir(&dir)
            .output()
            .unwrap();
        assert!(created.status.success(), "{created:?}");
        let [port, site_port] = [free_port(), free_port()];
        let path = |name: &str| dir.path().join(name).display().to_string();
        fs::create_dir(path("nginx")).unwrap();
        let places = [
            // The first one, because the others may contain this directory.
            ("/tmp/", path("nginx/")),
            ("${BASE_URL:?the https URL of this installation}", base(port)),
            ("listen 8443 ssl", format!("listen 127.0.0.1:{port} ssl")),
            ("/etc/nginx/latchkey.conf", path("nginx.conf")),
            ("listen 8444 ssl", format!("listen 127.0.0.1:{site_port} ssl")),
            ("https://$host", base(port)),
            ("/etc/nginx/demo.conf", path("demo.conf")),
            ("/srv/demo", path("site")),
            ("172.30.8.2", "127.0.0.1".to_owned()),
            ("/var/lib/latchkey", path("data")),
        ];
        Self {
            file: compose_file(),
            programs: programs.to_owned(),
            dir,
            port,
            site_port,
            places: places.map(|(text, place)| (text.to_owned(), place)).into(),
        }
    }

    fn replace(&mut self, text: &str, place: String) {
        self.places.push((text.to_owned(), place));
    }

    fn service(&self, name: &str) -> &Value {
        &self.file["services"][name]
    }

    /// A text for a service, with the places of this machine.
    fn place(&self, text: &str, service: &str) -> String {
        let secrets = self.secrets(service).display().to_string();
        let places = self.places.iter();
        let placed = places.fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        placed.replace("/run/secrets", &secrets)
    }

    /// The directory that a service has as `/run/secrets`.
    fn secrets(&self, service: &str) -> PathBuf {
        self.dir.path().join("containers").join(service)
    }

    /// Gives a service its secrets, and no others.
    fn give_secrets(&self, service: &str) {
        let dir = self.secrets(service);
        fs::create_dir_all(&dir).unwrap();
        for secret in self.service(service)["secrets"].as_array().into_iter().flatten() {
            let source = secret.as_str().or_else(|| secret["source"].as_str()).unwrap();
            let target = secret["target"].as_str().unwrap_or(source);
            let file = self.file["secrets"][source]["file"].as_str().unwrap();
            let text = fs::read_to_string(self.dir.path().join(file)).unwrap();
            fs::write(dir.join(target), self.place(&text, service)).unwrap();
        }
    }

    fn environment(&self, service: &str) -> Vec<(String, String)> {
        let variables = self.service(service)["environment"].as_object().unwrap();
        let place = |value: &Value| self.place(value.as_str().unwrap(), service);
        variables
            .iter()
            .map(|(name, value)| (name.clone(), place(value)))
            .collect()
    }

    /// The words of a command or a health check, with the places of this machine.
    fn words(&self, service: &str, words: &Value) -> Vec<String> {
        let words = words.as_array().unwrap().iter();
        words
            .map(|word| self.place(word.as_str().unwrap(), service))
            .collect()
    }

    /// Runs the script of the database on a server that has only a Unix socket.
    fn create_database(&mut self) -> Database {
        self.give_secrets("postgres");
        let script = fs::read_to_string(deploy("database.sql")).unwrap();
        let path = self.dir.path().join("database.sql");
        fs::write(&path, self.place(&script, "postgres")).unwrap();
        let database = Database::create_by(&path, "latchkey");
        let socket = database.server().socket_dir().display().to_string();
        self.replace("@postgres/latchkey", format!("@localhost/latchkey?host={socket}"));
        database
    }

    fn start_redis(&mut self) -> RedisServer {
        let command = self.words("redis", &self.service("redis")["command"]);
        let options: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
        let redis = RedisServer::launch(self.dir.path());
        redis.kill();
        redis.start_with(&options);
        self.replace("redis://redis:6379", redis.url());
        redis
    }

    fn migrate(&self) {
        self.give_secrets("migrate");
        let config = self.config("migrate", Program::AuthServer);
        let command = self.words("migrate", &self.service("migrate")["command"]);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let migrated = config.run(&command, "");
        assert!(migrated.status.success(), "{migrated:?}");
    }

    /// Starts the replicas of a service, and waits until its health check succeeds for each of them.
    async fn replicas(&self, service: &str, program: Program) -> Vec<Process> {
        self.give_secrets(service);
        let count = self.service(service)["deploy"]["replicas"].as_u64().unwrap();
        let mut processes: Vec<_> = (0..count).map(|_| self.process(service, program)).collect();
        start_all(&mut processes).await;
        // `CMD`, the program, and its arguments.
        let check = self.words(service, &self.service(service)["healthcheck"]["test"]);
        let check: Vec<&str> = check.iter().skip(2).map(String::as_str).collect();
        let began = Instant::now();
        for process in &processes {
            while !process.config.run(&check, "").status.success() {
                assert!(began.elapsed() < TIMEOUT, "{service} is not healthy");
                pause();
            }
        }
        processes
    }

    /// The program of a service with its environment. It can write only to the volumes of the service.
    fn config(&self, service: &str, program: Program) -> ProgramConfig {
        let volumes = self.service(service)["volumes"].as_array().into_iter().flatten();
        let volumes: Vec<PathBuf> = volumes
            .map(|volume| {
                let (_, path) = volume.as_str().unwrap().split_once(':').unwrap();
                let path = PathBuf::from(self.place(path, service));
                fs::create_dir_all(&path).unwrap();
                path
            })
            .collect();
        let config = ProgramConfig {
            programs: self.programs.clone(),
            environment: self.environment(service),
            writable: Some(volumes.clone()),
            ..ProgramConfig::bare(program, self.dir.path())
        };
        assert!(!config.can_write(self.dir.path()), "{service}");
        assert!(volumes.iter().all(|volume| config.can_write(volume)), "{service}");
        config
    }

    fn process(&self, service: &str, program: Program) -> Process {
        let port = free_port();
        let mut config = self.config(service, program);
        let listen = format!("127.0.0.1:{port}");
        for (name, value) in [("LISTEN", listen.as_str()), ("TIME_LIMIT_FACTOR", "20")] {
            let variable = (format!("LATCHKEY_{name}"), value.to_owned());
            config.environment.push(variable);
        }
        Process {
            config,
            running: None,
            port,
            log: self.dir.path().join(format!("log-{port}")),
        }
    }

    fn start_nginx(&self, issuers: &[u16], apis: &[u16]) -> Nginx {
        self.give_secrets("nginx");
        let config = self.place(&nginx::configuration(issuers, apis), "nginx");
        fs::write(self.dir.path().join("nginx.conf"), config).unwrap();
        let command = self.words("nginx", &self.service("nginx")["command"]);
        Nginx::start(self.dir.path(), &command[1..], self.port)
    }
}

/// The base URL, if nginx listens at this port.
fn base(port: u16) -> String {
    format!("https://localhost:{port}")
}

fn ports(processes: &[Process]) -> Vec<u16> {
    processes.iter().map(|process| process.port).collect()
}
