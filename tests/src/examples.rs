//! The programs in `docs/apps/examples/`, which run where they are, with the packages of `tests/clients/`.

use crate::accounts::User;
use crate::browser::Browser;
use crate::installed_programs::tool;
use crate::polling::TIMEOUT;
use crate::repository::root;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;
use tokio::time::timeout;

/// A running program. Killed on drop.
#[derive(Debug)]
pub struct Example {
    process: Child,
    /// The lines of standard output and of standard error, in one pipe: of two, one could fill while a test
    /// waits for the other.
    lines: Lines<BufReader<Receiver>>,
    printed: String,
    /// The folder in which it found its packages.
    _packages: Option<TempDir>,
}

impl Example {
    /// Starts a program with these environment variables.
    pub fn start(file: &str, settings: &[(&str, &str)]) -> Self {
        let packages = tempfile::tempdir().unwrap();
        for folder in ["docs", "deploy"] {
            symlink(root().join(folder), packages.path().join(folder)).unwrap();
        }
        let modules = tool("openid-client/node_modules");
        symlink(modules, packages.path().join("node_modules")).unwrap();
        let mut command = if file.ends_with(".py") {
            Command::new(tool("authlib/bin/python"))
        } else {
            let mut node = Command::new("node");
            // Node.js then looks for packages beside the link, and not beside the file.
            node.arg("--preserve-symlinks-main");
            node
        };
        command.arg(packages.path().join("docs/apps/examples").join(file));
        command.envs(settings.iter().copied());
        Self {
            _packages: Some(packages),
            ..Self::spawn(command)
        }
    }

    /// Starts a command that runs such programs.
    pub fn spawn(command: Command) -> Self {
        let (output, input) = std::io::pipe().unwrap();
        let mut command = tokio::process::Command::from(command);
        command
            // Opens no page: the test does.
            .env("BROWSER", "true")
            .stdin(Stdio::null())
            .stdout(input.try_clone().unwrap())
            .stderr(input)
            .kill_on_drop(true);
        let output = Receiver::from_owned_fd(output.into()).unwrap();
        Self {
            process: command.spawn().unwrap(),
            lines: BufReader::new(output).lines(),
            printed: String::new(),
            _packages: None,
        }
    }

    /// The next URL that it prints and that contains this text. Fails the test if the program ends before.
    pub async fn url(&mut self, part: &str) -> String {
        while let Some(line) = self.line().await {
            let mut words = line.split_whitespace();
            if let Some(url) = words.find(|word| word.starts_with("http") && word.contains(part)) {
                return url.to_owned();
            }
        }
        panic!("the program ended without a URL with {part}:\n{}", self.printed);
    }

    /// Waits for its end. Returns all that it printed. Fails the test unless it succeeds.
    pub async fn end(mut self) -> String {
        while self.line().await.is_some() {}
        let status = self.process.wait().await.unwrap();
        assert!(status.success(), "{status}\n{}", self.printed);
        self.printed
    }

    async fn line(&mut self) -> Option<String> {
        let line = timeout(TIMEOUT, self.lines.next_line()).await;
        let Ok(line) = line else {
            panic!("the program printed nothing for {TIMEOUT:?}:\n{}", self.printed);
        };
        let line = line.unwrap()?;
        self.printed.push_str(&line);
        self.printed.push('\n');
        Some(line)
    }
}

impl Browser {
    /// Completes a flow, which the user allows, and loads the page of the redirect URI.
    pub async fn return_to_app(&mut self, start: &str, user: &User) {
        let left = self.complete_flow(start, user, "allow").await;
        let left = left.unwrap_or_else(|page| panic!("{start}: {}", page.reply));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let reply = client.get(left.as_str()).send().await.unwrap();
        assert!(reply.status().is_success(), "{reply:?}");
    }
}
