//! Unmodified client libraries, each with a script in `tests/clients/`, which runs it against a started
//! issuer. That of a library in Rust is a program.
//!
//! A script gets its settings as JSON in the environment. It prints `OPEN` and a URL when a browser has to go
//! there, reads the URL at which the browser leaves the issuer, or that of the page on which the user has
//! decided about a device, and prints `DONE` at its end.

use crate::accounts::User;
use crate::browser::Browser;
use crate::installed_programs::{INSTALL_HINT, tool};
use crate::program::programs_dir;
use crate::repository::root;
use serde_json::Value;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

/// A client library: installed by `tests/run`, built with the programs under test, or our own.
#[derive(Clone, Copy, Debug)]
pub enum ClientLibrary {
    /// The npm package `openid-client`.
    OpenidClient,
    /// The same with DPoP.
    OpenidClientWithDpop,
    /// The npm package `oauth4webapi`.
    Oauth4webapi,
    /// The same with DPoP.
    Oauth4webapiWithDpop,
    /// The Python package `authlib`.
    Authlib,
    /// The Rust crate `openidconnect`.
    Openidconnect,
    /// The npm package `openid-client` on a device.
    OpenidClientOnDevice,
    /// The npm package `oauth4webapi` on a device.
    Oauth4webapiOnDevice,
    /// The Python package `authlib` on a device.
    AuthlibOnDevice,
    /// The npm package `openid-client`, which registers itself.
    OpenidClientThatRegisters,
    /// The npm package `oauth4webapi`, which registers itself.
    Oauth4webapiThatRegisters,
    /// The npm package `@modelcontextprotocol/sdk`.
    McpSdkForTypescript,
    /// The Python package `mcp`.
    McpSdkForPython,
    /// The Python package `fastmcp`.
    Fastmcp,
    /// The npm package `@modelcontextprotocol/conformance`.
    McpConformance,
    /// The module in `deploy/latchkey-auth`, which needs no package.
    LatchkeyAuth,
}

impl ClientLibrary {
    fn command(self) -> Command {
        let script = |program: &str, directory: &str, script: &str| {
            let mut command = Command::new(program);
            command.arg(tool(directory).join(script));
            command
        };
        let python = |directory: &str, name: &str| {
            let python = tool(directory).join("bin/python");
            script(python.to_str().unwrap(), directory, name)
        };
        match self {
            Self::OpenidClient => script("node", "openid-client", "client.mjs"),
            Self::OpenidClientWithDpop => script("node", "openid-client", "dpop.mjs"),
            Self::Oauth4webapi => script("node", "oauth4webapi", "client.mjs"),
            Self::Oauth4webapiWithDpop => script("node", "oauth4webapi", "dpop.mjs"),
            Self::Authlib => python("authlib", "client.py"),
            Self::Openidconnect => Command::new(programs_dir().join("openidconnect_client")),
            Self::OpenidClientOnDevice => script("node", "openid-client", "device.mjs"),
            Self::Oauth4webapiOnDevice => script("node", "oauth4webapi", "device.mjs"),
            Self::AuthlibOnDevice => python("authlib", "device.py"),
            Self::OpenidClientThatRegisters => script("node", "openid-client", "registration.mjs"),
            Self::Oauth4webapiThatRegisters => script("node", "oauth4webapi", "registration.mjs"),
            Self::McpSdkForTypescript => script("node", "modelcontextprotocol-sdk", "client.mjs"),
            Self::McpSdkForPython => python("mcp", "client.py"),
            Self::Fastmcp => python("fastmcp", "client.py"),
            Self::McpConformance => script("node", "modelcontextprotocol-conformance", "authorization.mjs"),
            Self::LatchkeyAuth => {
                let mut command = Command::new("node");
                command.arg(root().join("tests/clients/latchkey-auth/client.mjs"));
                command
            }
        }
    }

    /// Runs the script of the library with these settings. The browser belongs to `user`, who signs in and
    /// consents. Fails the test if the script does.
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
                    let left = match left {
                        Err(page) if page.url.path() == "/device/confirmation" => page.url,
                        left => left.unwrap_or_else(|page| panic!("{self:?}, {url}: {}", page.reply)),
                    };
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
    let read = |name| std::fs::read_to_string(directory.join(name)).unwrap();
    let library = read("node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js");
    read("page.html")
        .replace("/* LIBRARY */", &library)
        .replace("/* SETTINGS */ null", &settings.to_string())
}
