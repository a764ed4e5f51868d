//! The program under test: built once a test process, started, told to end, killed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

/// A first start makes keys and hashes a password; on a busy machine that takes its time.
const START: Duration = Duration::from_secs(60);
/// The program drains for 20 s at most.
const END: Duration = Duration::from_secs(25);

/// What a start of the program is given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub(crate) flags: Vec<OsString>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) dir: PathBuf,
}

impl Given {
    /// The program with nothing of our own environment that is a setting of its.
    fn command(&self) -> Command {
        let mut command = Command::new(program());
        for (name, _) in std::env::vars_os() {
            let setting = name.to_str().is_some_and(|name| name.starts_with("LATCHKEY_"));
            if setting {
                command.env_remove(name);
            }
        }
        command.current_dir(&self.dir);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Begins a command of the program.
    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.command()
            .args(args)
            .args(&self.flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs a command of the program to its end.
    pub(crate) fn run(&self, args: &[&str], stdin: &str) -> Output {
        let mut child = self.spawn(args);
        // A command that reads nothing may be gone before all is written.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }
}

/// A server that listens.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) port: u16,
}

impl Running {
    /// Starts it and waits until it listens. Its log is appended to `log`.
    pub(crate) async fn start(given: &Given, listen: &str, log: &Path) -> Self {
        let stderr = File::options().create(true).append(true).open(log).unwrap();
        let mut child = given
            .command()
            .args(["--listen", listen])
            .args(&given.flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (say, hear) = mpsc::channel();
        // Reads to the end, so that the program never waits for a reader.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(url) = line.strip_prefix("listening on http://") {
                    let _ = say.send(url.to_owned());
                }
            }
        });
        let heard = tokio::task::spawn_blocking(move || hear.recv_timeout(START))
            .await
            .unwrap();
        let port = heard
            .ok()
            .and_then(|address| address.trim_end_matches('/').rsplit_once(':')?.1.parse().ok());
        match port {
            Some(port) => Self { child, port },
            None => {
                let _ = child.kill();
                let log = std::fs::read_to_string(log).unwrap_or_default();
                panic!("the program never listened: {:?}\n{log}", child.wait());
            }
        }
    }

    /// Tells it to end, and gives how it did.
    pub(crate) async fn stop(mut self) -> ExitStatus {
        self.terminate();
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                began.elapsed() < END,
                "the program did not end {END:?} after SIGTERM"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Sends SIGTERM and does not wait.
    pub(crate) fn terminate(&self) {
        let told = Command::new("kill").arg(self.id().to_string()).status().unwrap();
        assert!(told.success());
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The release build of `latchkey`, brought up to date once: a test never runs against an old one.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        // TARGET/PROFILE/deps/black_box-…
        let target = test.ancestors().nth(3).unwrap();
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        // Of the whole workspace, so that the dependencies are those that were built with this test.
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "--release",
                "--quiet",
                "--workspace",
                "--bin",
                "latchkey",
                "--target-dir",
            ])
            .arg(target)
            .current_dir(workspace)
            .status()
            .unwrap();
        assert!(
            built.success(),
            "cargo build --release --workspace --bin latchkey failed"
        );
        target.join("release/latchkey")
    })
}
