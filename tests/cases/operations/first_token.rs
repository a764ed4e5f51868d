//! The paths of `docs/operate/install.md` to the first token of an app.
//!
//! The tests of the image, of the Debian package and of Compose go them from the built programs on, and
//! `from_a_clone` from the beginning. In place of the commands that need a container engine, apt or a running
//! systemd, a test starts the installation as it does for its other expectations. The commands after that run
//! as on the page, with functions in place of the programs that reach into a container or become another user.

use super::{read, run};
use serde_json::Value;
use std::process::Command;
use std::time::Instant;
use tests::{print_figure, programs_dir};

/// Stands for the terminal at which curl asks for the secret.
const ANSWER: &str = "curl() { setsid --wait curl \"$@\" <<<\"$SECRET\"; }";

/// The commands of the first block with this text in a section of the page.
pub(super) fn documented(section: &str, text: &str) -> String {
    let page = read("docs/operate/install.md");
    let (_, section) = page.split_once(&format!("\n## {section}\n")).unwrap();
    let blocks = section.split("```console\n").skip(1);
    let mut commands = blocks.map(|block| block.split("```").next().unwrap());
    commands
        .find(|commands| commands.contains(text))
        .unwrap()
        .to_owned()
}

/// The block that ends with the first token.
pub(super) fn documented_end(section: &str) -> String {
    documented(section, " clients create ")
}

/// The time at which a path from the built programs begins.
pub(super) fn begin() -> Instant {
    programs_dir();
    Instant::now()
}

/// Runs commands that create an app, and the last one, by which curl gets its token. `bash` prepares a
/// script. Prints the time since `began`.
pub(super) fn expect(path: &str, began: Instant, commands: &str, bash: impl Fn(&str) -> Command) {
    let (create, call) = commands.split_at(commands.find("\ncurl ").unwrap());
    let created = run(&mut bash(create));
    let (_, secret) = created.split_once("new secret (printed only once): ").unwrap();
    let secret = secret.lines().next().unwrap();
    let mut call = bash(&format!("{ANSWER}{call}"));
    let answer = run(call.env("SECRET", secret).env("no_proxy", "*"));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert!(answer["access_token"].is_string(), "{answer}");
    let time = began.elapsed();
    print_figure(&format!("A first token by {path}: {time:.1?}."));
}
