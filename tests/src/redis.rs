//! A Redis server of one world that a test can kill, empty and pause.

use crate::installed_programs::INSTALL_HINT;
use crate::polling::{TIMEOUT, pause};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// The file of its snapshot, in the directory of its world.
const SNAPSHOT: &str = "dump.rdb";

/// A server on a Unix socket in the directory of its world. Killed on drop.
#[derive(Debug)]
pub struct RedisServer {
    dir: PathBuf,
    child: Mutex<Option<Child>>,
}

/// Lists all keys with their values, which are strings and streams. Others are an error.
const DUMP: &str = "local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
    all[#all + 1] = key
    if redis.call('TYPE', key).ok == 'stream' then
        for _, entry in ipairs(redis.call('XRANGE', key, '-', '+')) do
            all[#all + 1] = table.concat(entry[2], ' ')
        end
    else
        all[#all + 1] = redis.call('GET', key)
    end
end
return table.concat(all, '\\n')";

/// Records the commands that a server receives. Ends on drop.
#[derive(Debug)]
pub struct RedisMonitor<'s> {
    server: &'s RedisServer,
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl RedisMonitor<'_> {
    /// Returns the recorded commands up to now, one a line. Those of a script are marked with `lua`.
    pub fn stop(mut self) -> String {
        let end = foundation::random::id();
        self.server.command(&["ECHO", &end]);
        let mut recorded = String::new();
        while !recorded.contains(&end) {
            assert_ne!(
                self.lines.read_line(&mut recorded).unwrap(),
                0,
                "the recording ended"
            );
        }
        recorded
    }
}

impl Drop for RedisMonitor<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl RedisServer {
    /// Starts a server with its socket in this directory.
    pub fn launch(dir: &Path) -> Self {
        let server = Self {
            dir: dir.to_owned(),
            child: Mutex::default(),
        };
        server.start();
        server
    }

    /// Returns the URL over the Unix socket.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// Makes it listen on a free TCP port as well. Returns the URL with that port.
    pub fn listen(&self) -> String {
        loop {
            let port = 20_000 + u16::from_le_bytes(foundation::random::bytes()) % 10_000;
            let set = self.command(&["CONFIG", "SET", "port", &port.to_string()]);
            if set.trim() == "OK" {
                return format!("redis://127.0.0.1:{port}");
            }
        }
    }

    /// Starts it without data.
    pub fn start(&self) {
        self.start_with(&[]);
    }

    /// Starts it without data and with these further options.
    pub fn start_with(&self, options: &[&str]) {
        let _ = std::fs::remove_file(self.dir.join(SNAPSHOT));
        self.spawn(options);
    }

    /// Writes all data into the snapshot.
    pub fn save(&self) {
        assert_eq!(self.command(&["SAVE"]).trim(), "OK");
    }

    /// Starts it with the data of the snapshot, as after a crash.
    pub fn start_from_snapshot(&self) {
        assert!(self.dir.join(SNAPSHOT).exists(), "there is no snapshot");
        self.spawn(&[]);
        let began = Instant::now();
        while self.command(&["PING"]).trim() != "PONG" {
            assert!(began.elapsed() < TIMEOUT, "Redis did not load its snapshot");
        }
    }

    /// Makes it look as if it had run for long, so that it knows which DPoP proofs were used. Without that,
    /// proofs need nonces for half a minute after its start.
    pub fn look_old(&self) {
        let info = self.command(&["INFO", "server"]);
        let run_id = info.lines().find_map(|line| line.strip_prefix("run_id:"));
        let since = format!("{} 0", run_id.unwrap().trim());
        self.command(&["SET", "latchkey:{dpop}:since", &since]);
    }

    fn spawn(&self, options: &[&str]) {
        let _ = std::fs::remove_file(self.socket());
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(self.socket())
            .args(options)
            .current_dir(&self.dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("redis-server: {error}; {INSTALL_HINT}"));
        *self.child.lock().unwrap() = Some(child);
        let began = Instant::now();
        while std::os::unix::net::UnixStream::connect(self.socket()).is_err() {
            assert!(began.elapsed() < TIMEOUT, "Redis did not start listening");
            pause();
        }
    }

    /// Kills it with SIGKILL.
    pub fn kill(&self) {
        let child = self.child.lock().unwrap().take();
        if let Some(mut child) = child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Whether it is running.
    pub(crate) fn is_running(&self) -> bool {
        self.child.lock().unwrap().is_some()
    }

    /// Suspends the process with SIGSTOP. Its connections stay open and receive no responses.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Resumes the process after [`RedisServer::pause`].
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    /// Runs a Redis command. Returns its output.
    pub fn command(&self, words: &[&str]) -> String {
        let done = Command::new("redis-cli")
            .arg("-s")
            .arg(self.socket())
            .args(words)
            .output()
            .unwrap_or_else(|error| panic!("redis-cli: {error}; {INSTALL_HINT}"));
        assert!(done.status.success(), "redis-cli {words:?}: {done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Begins to record the commands that it receives.
    pub fn monitor(&self) -> RedisMonitor<'_> {
        let mut child = Command::new("redis-cli")
            .arg("-s")
            .arg(self.socket())
            .arg("MONITOR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut started = String::new();
        lines.read_line(&mut started).unwrap();
        assert_eq!(started.trim(), "OK");
        RedisMonitor {
            server: self,
            child,
            lines,
        }
    }

    /// Returns the whole content as text.
    pub fn dump(&self) -> String {
        self.command(&["EVAL", DUMP, "0"])
    }

    fn signal(&self, signal: &str) {
        let id = self.child.lock().unwrap().as_ref().unwrap().id().to_string();
        let status = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(status.success());
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
