//! The paths of `docs/operate/install.md` from a clone to the first token of an app: by the Debian package, by
//! bubblewrap in the root directory of an image, and by Compose. The commands that build run as on the page, on
//! this machine. All paths have the same build, so it runs once, and its time counts for each.

use super::debian_package::{self, Machine};
use super::{compose, first_token, read, run};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tests::{Shape, eventually, free_port, on_shapes, print_figure, root};

/// Prepares a Bash script with `set -e` in the clone.
fn bash(clone: &Path, script: &str) -> Command {
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).current_dir(clone);
    // The page expects the programs in `target` of the clone.
    command.env_remove("CARGO_TARGET_DIR").stdin(Stdio::null());
    command
}

async fn a_stranger_gets_first_tokens(_: Shape) {
    // On a disk, because TMPDIR may be in memory and a build takes gigabytes. The users of the services read it.
    let directory = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o755))
        .tempdir_in("/var/tmp")
        .unwrap();
    let clone = directory.path().join("latchkey");
    let began = Instant::now();
    run(Command::new("git")
        .args(["clone", "--quiet"])
        .arg(root())
        .arg(&clone));
    let commands = first_token::documented_end("Debian package");
    let (build, commands) = commands.split_once('\n').unwrap();
    run(&mut bash(&clone, build));
    let built = began.elapsed();
    print_figure(&format!("A build from a clone: {built:.1?}."));

    let began = since(built);
    let (package, _) = commands.split_once("sudo apt install \"$package\"\n").unwrap();
    let printed = run(&mut bash(&clone, &format!("{package}echo \"$package\"")));
    let package = Path::new(printed.trim_end());
    let machine = Machine::with_dependencies_of(package, directory.path().join("machine"));
    machine.dpkg("--install", package);
    debian_package::expect_first_token(&machine, "the Debian package, from a clone", began).await;

    expect_first_token_by_bubblewrap(&clone, build, since(built)).await;

    assert!(
        read("deploy/Dockerfile").contains(build),
        "deploy/Dockerfile builds with another command than the page"
    );
    let began = since(built);
    let (world, _nginx) = compose::start(Shape::Split, &clone.join("target/dist")).await;
    compose::expect_first_token(&world, "Compose, from a clone", began);
}

/// Returns the time at which a path began, as if its build, which took so long, had just ended.
fn since(built: Duration) -> Instant {
    Instant::now().checked_sub(built).unwrap()
}

/// The programs of the clone are built by this command.
async fn expect_first_token_by_bubblewrap(clone: &Path, build: &str, began: Instant) {
    let commands = first_token::documented("Container images", "\nbwrap ");
    let commands = commands.strip_prefix(build).unwrap();
    let (layout, start) = commands.split_once("\nbwrap ").unwrap();
    run(&mut bash(clone, layout));
    let port = free_port();
    let settings = format!("--clearenv --die-with-parent --setenv LATCHKEY_LISTEN 127.0.0.1:{port}");
    let start = start.trim_end().replace("--clearenv", &settings);
    let inside = |script: &str| bash(clone, &format!("inside() {{ bwrap {start} \"$@\"; }}\n{script}"));
    let mut server = inside("inside >/dev/null").spawn().unwrap();
    eventually("the server is not ready", async || {
        let check = inside("inside healthcheck --ready 2>/dev/null").status();
        check.unwrap().success()
    })
    .await;
    let commands = first_token::documented_end("Container images");
    let (_, commands) = commands.split_once('\n').unwrap();
    let commands = commands.replace(":8080", &format!(":{port}"));
    let path = "bubblewrap, from a clone";
    first_token::expect(path, began, &commands, |script| {
        inside(&format!("docker() {{ shift 3; inside \"$@\"; }}\n{script}"))
    });
    server.kill().unwrap();
    server.wait().unwrap();
}

on_shapes!(a_stranger_gets_first_tokens: ; long: sqlite Sqlite);
