//! The programs under test: builds them once per test process, runs their commands, and starts, terminates
//! and kills their servers.

use crate::clock;
use crate::polling::TIMEOUT;
use crate::repository::root;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, OnceLock, mpsc};
use std::time::{Duration, Instant};

/// The maximum shutdown time. The program drains for at most 20 s.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(25);

/// One of the programs under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Program {
    Latchkey,
    /// `latchkey` with an allocator that counts.
    LatchkeyCountingAllocations,
    AuthServer,
    ApiServer,
}

/// The program, its flags, its environment and its working directory.
#[derive(Clone, Debug)]
pub(crate) struct ProgramConfig {
    pub(crate) program: Program,
    /// The directory of the programs.
    pub(crate) programs: PathBuf,
    pub(crate) flags: Vec<OsString>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) dir: PathBuf,
    /// The largest size of a file that the program can write, in KiB.
    pub(crate) max_file_size: Option<u32>,
    /// The directories that the program can write to if its file system is read-only, as in a container. A
    /// signal reaches bubblewrap, which kills the program.
    pub(crate) writable: Option<Vec<PathBuf>>,
}

impl ProgramConfig {
    /// The program in this working directory, without any settings.
    pub(crate) fn bare(program: Program, dir: &Path) -> Self {
        Self {
            program,
            programs: programs_dir().to_owned(),
            flags: Vec::new(),
            environment: Vec::new(),
            dir: dir.to_owned(),
            max_file_size: None,
            writable: None,
        }
    }

    /// Adds a flag with its value. Does nothing if the program does not support the flag.
    pub(crate) fn flag(&mut self, name: &str, value: impl Into<OsString>) {
        if self.program.has(name) {
            self.flags.extend([name.into(), value.into()]);
        }
    }

    /// Replaces the values of flags. `None` removes a flag.
    pub(crate) fn replace_flags(&mut self, flags: &[(&str, Option<&str>)]) {
        for (name, value) in flags {
            self.replace_flag(name, *value);
        }
    }

    /// Replaces the value of a flag, or removes the flag.
    pub(crate) fn replace_flag(&mut self, name: &str, value: Option<&str>) {
        let others = self.flags.chunks_exact(2).filter(|flag| flag[0] != name);
        self.flags = others.flatten().cloned().collect();
        if let Some(value) = value {
            self.flag(name, value);
        }
    }

    /// The path of the program.
    fn file(&self) -> PathBuf {
        self.programs.join(self.program.name())
    }

    /// The program in its working directory with its environment.
    fn command(&self) -> Command {
        if let Some(writable) = &self.writable {
            return self.sandboxed(writable, self.file());
        }
        let Some(limit) = self.max_file_size else {
            return self.command_of(self.file());
        };
        // The program ignores the signal that the limit causes, so its writes fail instead.
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"");
        let mut command = self.command_of("bash");
        command.args(["-c", &script]).arg(self.file());
        command
    }

    /// An executable on a read-only file system, except for these directories and devices.
    fn sandboxed(&self, writable: &[PathBuf], executable: impl AsRef<OsStr>) -> Command {
        assert!(self.max_file_size.is_none(), "bubblewrap sets no limit of files");
        let mut command = self.command_of("bwrap");
        command.args(["--die-with-parent", "--unsetenv", "TMPDIR"]);
        command.args(["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]);
        // Temporary directories may be below `/dev`.
        command.arg("--ro-bind").args([&self.dir, &self.dir]);
        for directory in writable {
            command.arg("--bind").args([directory, directory]);
        }
        command.arg(executable);
        command
    }

    /// Whether the program can write to a directory, if it has [`writable`](Self::writable) ones.
    pub(crate) fn can_write(&self, directory: &Path) -> bool {
        let writable = self.writable.as_ref().unwrap();
        let mut touch = self.sandboxed(writable, "touch");
        let touched = touch.arg(directory.join("touched")).output().unwrap();
        touched.status.success()
    }

    /// An executable in the working directory and environment of the program, without the settings in the
    /// environment of the test process.
    fn command_of(&self, executable: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(executable);
        for (name, _) in std::env::vars_os() {
            let is_setting = name.to_str().is_some_and(|name| name.starts_with("LATCHKEY_"));
            if is_setting {
                command.env_remove(name);
            }
        }
        // No test calls a server whose certificate a public authority has issued, and reading the machine's
        // list takes a tenth of the processor time of a start.
        command.env("SSL_CERT_FILE", "/dev/null");
        command.current_dir(&self.dir);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Prepares a Bash script with `set -e`, with the programs on the PATH and the flags as environment
    /// variables.
    pub(crate) fn bash(&self, script: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&path));
        let settings = self.flags.chunks_exact(2).map(|flag| {
            let name = flag[0].to_str().unwrap().trim_start_matches("--");
            let name = name.to_uppercase().replace('-', "_");
            (format!("LATCHKEY_{name}"), &flag[1])
        });
        let mut command = self.command_of("timeout");
        command
            .args(["120", "bash", "-e", "-c", script])
            .env("PATH", std::env::join_paths(path).unwrap())
            .envs(settings)
            .stdin(Stdio::null());
        command
    }

    /// Runs a command of the program on a pseudo-terminal of this width. Returns the text that the terminal
    /// gets.
    pub(crate) fn run_on_terminal(&self, columns: u16, args: &[&str]) -> String {
        let script = format!("script -qec 'stty rows 24 cols {columns}; \"$PROGRAM\" $ARGUMENTS' /dev/null");
        let mut command = self.bash(&script);
        command
            .env("SHELL", "/bin/sh")
            .env("PROGRAM", self.file())
            .env("ARGUMENTS", args.join(" "));
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
    }

    /// Spawns a command of the program.
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

    /// Runs a command of the program to completion.
    pub(crate) fn run(&self, args: &[&str], stdin: &str) -> Output {
        let mut child = self.spawn(args);
        // A command that does not read its input may exit before all is written.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }
}

/// A running server process. Killed on drop.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) port: u16,
}

impl Running {
    /// Starts the program and waits until it listens. Appends its log to `log`.
    pub(crate) async fn start(config: &ProgramConfig, listen: &str, log: &Path) -> Self {
        let stderr = File::options().create(true).append(true).open(log).unwrap();
        let mut child = config
            .command()
            .args(["--listen", listen])
            .args(&config.flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, receiver) = mpsc::channel();
        // Reads to the end, so that the program never blocks on a full pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(url) = line.strip_prefix("listening on http://") {
                    let _ = sender.send(url.to_owned());
                }
            }
        });
        let received = tokio::task::spawn_blocking(move || receiver.recv_timeout(TIMEOUT))
            .await
            .unwrap();
        let port = received
            .ok()
            .and_then(|address| address.trim_end_matches('/').rsplit_once(':')?.1.parse().ok());
        match port {
            Some(port) => Self { child, port },
            None => {
                let _ = child.kill();
                let log = std::fs::read_to_string(log).unwrap_or_default();
                panic!("the program did not start listening: {:?}\n{log}", child.wait());
            }
        }
    }

    /// Waits for the process to exit after a termination request.
    pub(crate) async fn wait_for_exit(mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                began.elapsed() < SHUTDOWN_TIMEOUT,
                "the program did not exit {SHUTDOWN_TIMEOUT:?} after SIGTERM"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Sends SIGTERM without waiting.
    pub(crate) fn terminate(&self) {
        let killed = Command::new("kill").arg(self.id().to_string()).status().unwrap();
        assert!(killed.success());
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
        clock::remove_shared_memory(self.id());
    }
}

impl Program {
    /// The name of its file.
    fn name(self) -> &'static str {
        match self {
            Self::Latchkey => "latchkey",
            Self::LatchkeyCountingAllocations => "latchkey_counting_allocations",
            Self::AuthServer => "auth-server",
            Self::ApiServer => "api-server",
        }
    }

    /// Whether the program supports this flag.
    fn has(self, flag: &str) -> bool {
        static HELP: Mutex<BTreeMap<Program, String>> = Mutex::new(BTreeMap::new());
        let mut helps = HELP.lock().unwrap();
        let help = helps.entry(self).or_insert_with(|| {
            let output = Command::new(programs_dir().join(self.name()))
                .arg("--help")
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        });
        help.contains(&format!("{flag} "))
    }
}

/// The directory of the programs, which have the profile of this test binary. The first call builds them, so
/// that no test runs against outdated programs.
pub fn programs_dir() -> &'static Path {
    static PROGRAMS_DIR: OnceLock<PathBuf> = OnceLock::new();
    PROGRAMS_DIR.get_or_init(|| {
        let test_binary = std::env::current_exe().unwrap();
        // The path is TARGET/PROFILE/deps/black_box-….
        let [dir, target] = [2, 3].map(|level| test_binary.ancestors().nth(level).unwrap());
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--profile"])
            .arg(dir.file_name().unwrap())
            // The whole workspace, so that the dependencies have the same features as in the build of this
            // test.
            .args(["--workspace", "--bins", "--target-dir"])
            .arg(target)
            .current_dir(root())
            .status()
            .unwrap();
        assert!(built.success(), "cargo build --workspace --bins failed");
        dir.to_owned()
    })
}
