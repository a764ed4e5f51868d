//! A Redis of one world: killed, emptied and paused as a test pleases.

use crate::lookup::HOW_TO_INSTALL;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take to listen.
const START: Duration = Duration::from_secs(20);

/// A server on a socket in its world's folder. Killed when dropped.
#[derive(Debug)]
pub struct RedisServer {
    dir: PathBuf,
    child: RefCell<Option<Child>>,
}

/// Keys and values, all of them strings; another type is an error.
const DUMP: &str = "local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
    all[#all + 1] = key
    all[#all + 1] = redis.call('GET', key)
end
return table.concat(all, '\\n')";

impl RedisServer {
    /// Starts one with its socket in this folder.
    pub fn launch(dir: &Path) -> Self {
        let server = Self {
            dir: dir.to_owned(),
            child: RefCell::default(),
        };
        server.start();
        server
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// Lets it listen on a port too, and gives the URL with that.
    pub fn listen(&self) -> String {
        loop {
            let port = 20_000 + u16::from_le_bytes(foundation::random::bytes()) % 10_000;
            let set = self.command(&["CONFIG", "SET", "port", &port.to_string()]);
            if set.trim() == "OK" {
                return format!("redis://127.0.0.1:{port}");
            }
        }
    }

    /// Starts it, empty.
    pub fn start(&self) {
        let _ = std::fs::remove_file(self.socket());
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(self.socket())
            .current_dir(&self.dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("redis-server: {error}; {HOW_TO_INSTALL}"));
        self.child.replace(Some(child));
        let began = Instant::now();
        while std::os::unix::net::UnixStream::connect(self.socket()).is_err() {
            assert!(began.elapsed() < START, "Redis never listened");
            std::thread::yield_now();
        }
    }

    /// Kills it, as a power cut would.
    pub fn kill(&self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Whether it was started and not killed.
    pub(crate) fn is_running(&self) -> bool {
        self.child.borrow().is_some()
    }

    /// Stops it from answering; its connections stay open.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    /// Runs a command, and gives what it printed.
    pub fn command(&self, words: &[&str]) -> String {
        let done = Command::new("redis-cli")
            .arg("-s")
            .arg(self.socket())
            .args(words)
            .output()
            .unwrap_or_else(|error| panic!("redis-cli: {error}; {HOW_TO_INSTALL}"));
        assert!(done.status.success(), "redis-cli {words:?}: {done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Everything it holds, as text.
    pub fn dump(&self) -> String {
        self.command(&["EVAL", DUMP, "0"])
    }

    fn signal(&self, signal: &str) {
        let id = self.child.borrow().as_ref().unwrap().id().to_string();
        let told = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(told.success());
    }

    fn socket(&self) -> PathBuf {
        self.dir.join("redis.sock")
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}
