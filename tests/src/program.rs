//! The programs under test: built once a test process, started, told to end, killed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, OnceLock, mpsc};
use std::time::{Duration, Instant};

/// A first start makes keys and hashes a password; on a busy machine that takes its time.
const START: Duration = Duration::from_secs(60);
/// The program drains for 20 s at most.
const END: Duration = Duration::from_secs(25);

/// One of the programs, by its file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Program {
    Latchkey,
    AuthServer,
    ApiServer,
}

/// What a start of a program is given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) program: Program,
    pub(crate) flags: Vec<OsString>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) dir: PathBuf,
}

impl Given {
    /// This program without any setting.
    pub(crate) fn bare(program: Program, dir: &Path) -> Self {
        Self {
            program,
            flags: Vec::new(),
            environment: Vec::new(),
            dir: dir.to_owned(),
        }
    }

    /// Adds a flag, where the program has it.
    pub(crate) fn flag(&mut self, name: &str, value: impl Into<OsString>) {
        if self.program.has(name) {
            self.flags.extend([name.into(), value.into()]);
        }
    }

    /// The program with nothing of our own environment that is a setting of its.
    fn command(&self) -> Command {
        let mut command = Command::new(self.program.file());
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

    /// Waits until it has ended, having been told to, and gives how it did.
    pub(crate) async fn ended(mut self) -> ExitStatus {
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

impl Program {
    /// Its release build.
    fn file(self) -> PathBuf {
        built().join(match self {
            Self::Latchkey => "latchkey",
            Self::AuthServer => "auth-server",
            Self::ApiServer => "api-server",
        })
    }

    /// Whether it has this flag.
    fn has(self, flag: &str) -> bool {
        static HELP: Mutex<BTreeMap<Program, String>> = Mutex::new(BTreeMap::new());
        let mut helps = HELP.lock().unwrap();
        let help = helps.entry(self).or_insert_with(|| {
            let shown = Command::new(self.file()).arg("--help").output().unwrap();
            String::from_utf8(shown.stdout).unwrap()
        });
        help.contains(&format!("{flag} "))
    }
}

/// Where the release builds are, brought up to date once: a test never runs against old ones.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        // TARGET/PROFILE/deps/black_box-…
        let target = test.ancestors().nth(3).unwrap();
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        // Of the whole workspace, so that the dependencies are those that were built with this test.
        let build = [
            "build",
            "--release",
            "--quiet",
            "--workspace",
            "--bins",
            "--target-dir",
        ];
        let built = Command::new(env!("CARGO"))
            .args(build)
            .arg(target)
            .current_dir(workspace)
            .status()
            .unwrap();
        assert!(built.success(), "cargo build --release --workspace --bins failed");
        target.join("release")
    })
}
