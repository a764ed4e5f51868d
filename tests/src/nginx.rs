//! nginx, the reverse proxy of installations.

use crate::installed_programs::INSTALL_HINT;
use crate::polling::{TIMEOUT, pause};
use crate::ports::free_port;
use crate::repository::root;
use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A running nginx, whose configuration starts a single process. Killed on drop.
#[derive(Debug)]
pub struct Nginx {
    process: Child,
    log: PathBuf,
}

impl Nginx {
    /// Starts it with these arguments, and waits until it listens at this port of 127.0.0.1. Its log is in
    /// `dir`.
    pub(crate) fn start(dir: &Path, arguments: &[String], port: u16) -> Self {
        let log = dir.join("nginx.log");
        let started = Command::new(program())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn();
        let process = started.unwrap_or_else(|error| panic!("nginx: {error}; {INSTALL_HINT}"));
        let nginx = Self { process, log };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < TIMEOUT, "nginx did not start listening");
            pause();
        }
        nginx
    }

    /// Starts it in front of these replicas, without TLS, with the configuration that `change` makes of that of
    /// installations. Its files are in `dir`. Returns its port.
    pub(crate) fn in_front_of(
        dir: &Path,
        issuers: &[u16],
        apis: &[u16],
        change: impl FnOnce(String) -> String,
    ) -> (Self, u16) {
        let port = free_port();
        let dir = dir.join(format!("nginx-{port}"));
        fs::create_dir(&dir).unwrap();
        let config = change(configuration(issuers, apis))
            .replace("/tmp/", &format!("{}/", dir.display()))
            .replace("listen 8443 ssl", &format!("listen 127.0.0.1:{port}"));
        let without_tls = config
            .lines()
            .filter(|line| !line.trim_start().starts_with("ssl_"));
        let file = dir.join("nginx.conf");
        fs::write(&file, without_tls.collect::<Vec<_>>().join("\n")).unwrap();
        let file = file.display().to_string();
        let arguments = ["-c", &file, "-g", "daemon off;"].map(str::to_owned);
        (Self::start(&dir, &arguments, port), port)
    }

    /// The lines that it has logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            eprintln!("--- nginx ---\n{}--- end of nginx ---", self.log());
        }
    }
}

/// Returns `deploy/nginx.conf` for replicas at these ports of 127.0.0.1.
pub(crate) fn configuration(issuers: &[u16], apis: &[u16]) -> String {
    let mut config = in_one_process("nginx.conf");
    for (service, ports) in [("auth-server", issuers), ("api-server", apis)] {
        let servers = ports
            .iter()
            .map(|port| format!("server 127.0.0.1:{port} max_fails=0;"));
        let named = format!("server {service}:8080 resolve max_fails=0;");
        config = config.replace(&named, &servers.collect::<String>());
    }
    config
}

/// Returns a file of `deploy`. A single process serves, because a worker would outlive the test.
pub(crate) fn in_one_process(file: &str) -> String {
    let file = root().join("deploy").join(file);
    format!("master_process off;\n{}", fs::read_to_string(file).unwrap())
}

/// Its path. Debian installs it where only root looks for programs.
fn program() -> &'static Path {
    const PACKAGED: &str = "/usr/sbin/nginx";
    match Path::new(PACKAGED).is_file() {
        true => Path::new(PACKAGED),
        false => Path::new("nginx"),
    }
}
