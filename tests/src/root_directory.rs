//! Programs in a root directory that is not this machine's, such as that of an image. They run by bubblewrap,
//! which needs neither root nor a container engine.

use crate::polling::eventually;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The directory in which a server stores its data.
const DATA: &str = "var/lib/latchkey";
/// The seconds that each check of a server has.
const CHECK_TIMEOUT: &str = "2";

/// A root directory. Programs run in it as a user without privileges, with the network of this machine.
#[derive(Debug)]
pub struct RootDirectory {
    /// Its path on this machine.
    pub path: PathBuf,
    /// The number of the user, and of the group.
    pub user: u32,
    /// The directories of this machine that it has too.
    pub shared: &'static [&'static str],
    /// The environment of the programs.
    pub environment: Vec<(String, String)>,
}

/// A server and its log. Killed on drop.
#[derive(Debug)]
struct Server {
    process: Child,
    log: PathBuf,
}

impl RootDirectory {
    /// Prepares a Bash script with `set -e` on this machine, in which `inside` runs a program in the root
    /// directory.
    pub fn bash(&self, script: &str) -> Command {
        let sandbox = self.sandbox();
        let script = format!("sandbox=(\"$@\")\ninside() {{ \"${{sandbox[@]}}\" \"$@\"; }}\n{script}");
        let mut command = Command::new("timeout");
        command.args(["120", "bash", "-e", "-c", script.as_str(), "bash"]);
        command.arg(sandbox.get_program()).args(sandbox.get_args());
        command.stdin(Stdio::null());
        command
    }

    /// Prepares a program, which is the next argument. It can write only to its data directory and to `/tmp`.
    fn sandbox(&self) -> Command {
        let user = self.user.to_string();
        let user = user.as_str();
        let mut command = Command::new("bwrap");
        if is_root() {
            command = Command::new("setpriv");
            command.args(["--reuid", user, "--regid", user, "--clear-groups", "bwrap"]);
        }
        command.args(["--unshare-all", "--share-net", "--die-with-parent", "--clearenv"]);
        command.args(["--unshare-user", "--uid", user, "--gid", user]);
        command.arg("--ro-bind").arg(&self.path).arg("/");
        for &directory in self.shared {
            command.args(["--ro-bind-try", directory, directory]);
        }
        command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind"]);
        command.arg(self.path.join(DATA)).arg(Path::new("/").join(DATA));
        for (name, value) in &self.environment {
            command.args(["--setenv", name.as_str(), value.as_str()]);
        }
        command
    }

    /// Starts a server with a data directory of its user, and waits until a `healthcheck --ready` succeeds
    /// within two seconds. Dropping the result kills the server.
    pub async fn serve(&self, program: &str) -> impl Drop + use<> {
        let data = self.path.join(DATA);
        fs::create_dir_all(&data).unwrap();
        fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
        if is_root() {
            chown(&data, Some(self.user), Some(self.user)).unwrap();
        }
        let log = self.path.with_extension("log");
        let process = self
            .sandbox()
            .arg(program)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let server = Server { process, log };
        eventually("the server is not ready", async || {
            let check = self.sandbox();
            let status = Command::new("timeout")
                .arg(CHECK_TIMEOUT)
                .arg(check.get_program())
                .args(check.get_args())
                .args([program, "healthcheck", "--ready"])
                .stderr(Stdio::null())
                .status();
            status.unwrap().success()
        })
        .await;
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            eprintln!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        }
    }
}

/// Prepares a program that runs as root, or as the root of a namespace that has no other user.
pub fn as_root(program: &str) -> Command {
    if is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", program]);
    command
}

/// Creates a temporary directory whose content other users can read.
pub fn public_directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    directory
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}
