//! The reverse proxy of installations. Other deployments of tests have `ReverseProxy`, which needs no
//! program.

use crate::installed_programs::INSTALL_HINT;
use crate::polling::{TIMEOUT, pause};
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

/// Its path. Debian installs it where only root looks for programs.
fn program() -> &'static Path {
    const PACKAGED: &str = "/usr/sbin/nginx";
    match Path::new(PACKAGED).is_file() {
        true => Path::new(PACKAGED),
        false => Path::new("nginx"),
    }
}
