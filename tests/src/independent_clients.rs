//! Unmodified client libraries in other languages, each with a script in `tests/clients/`, which runs it against a
//! started issuer.
//!
//! A script gets its settings as JSON in the environment. It prints `OPEN` and a URL when a browser has to go there,
//! reads the URL at which the browser leaves the issuer, and prints `DONE` at its end.

use crate::accounts::User;
use crate::browser::Browser;
use crate::installed_programs::INSTALL_HINT;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

/// A client library, installed by `tests/run`.
#[derive(Clone, Copy, Debug)]
pub enum ClientLibrary {
    /// The npm package `openid-client`.
    OpenidClient,
    /// The npm package `oauth4webapi`.
    Oauth4webapi,
    /// The Python package `authlib`.
    Authlib,
}

impl ClientLibrary {
    fn command(self) -> Command {
        let script = |program: &str, directory: &str, script: &str| {
            let mut command = Command::new(program);
            command.arg(tool(directory).join(script));
            command
        };
        match self {
            Self::OpenidClient => script("node", "openid-client", "client.mjs"),
            Self::Oauth4webapi => script("node", "oauth4webapi", "client.mjs"),
            Self::Authlib => {
                let python = tool("authlib").join("bin/python");
                script(python.to_str().unwrap(), "authlib", "client.py")
            }
        }
    }

    /// Runs the script of the library with these settings. The browser belongs to `user`, who signs in and consents.
    /// Fails the test if the script does.
    pub async fn run(self, settings: &Value, browser: &mut Browser, user: &User) {
        let mut command = self.command();
        command.env("SETTINGS", settings.to_string()).kill_on_drop(true);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut script = command
            .spawn()
            .unwrap_or_else(|error| panic!("{self:?}: {error}; {INSTALL_HINT}"));
        let mut answers = script.stdin.take().unwrap();
        let mut lines = BufReader::new(script.stdout.take().unwrap()).lines();
        let mut is_done = false;
        while let Some(line) = lines.next_line().await.unwrap() {
            match line.strip_prefix("OPEN ") {
                Some(url) => {
                    let left = browser.complete_flow(url, user, "allow").await;
                    let left = left.unwrap_or_else(|page| panic!("{self:?}, {url}: {}", page.reply));
                    answers.write_all(format!("{left}\n").as_bytes()).await.unwrap();
                }
                None => is_done = line == "DONE",
            }
        }
        let output = script.wait_with_output().await.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && is_done,
            "{self:?}: {}\n{errors}",
            output.status
        );
    }
}

/// The page of the npm package `oidc-client-ts`, a single-page app, with these settings.
pub fn single_page_app(settings: &Value) -> String {
    let directory = tool("oidc-client-ts");
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; {INSTALL_HINT}", path.display()))
    };
    let library = directory.join("node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js");
    read(directory.join("page.html"))
        .replace("/* LIBRARY */", &read(library))
        .replace("/* SETTINGS */ null", &settings.to_string())
}

fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/tools")
        .join(name)
}
