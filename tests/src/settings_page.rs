//! The reference page of all settings, rendered from the definitions of the command line.

use clap::{Arg, Args, Command};
use std::fmt::Write as _;

const INTRODUCTION: &str = r#"# Settings

Every setting is a flag, an environment variable, and a key of the [settings file](#the-settings-file). The flag takes precedence over
the variable, and the variable over the file. A `*_FILE` variable names a file that holds the value. Durations are numbers with a
unit: `s`, `m`, `h` or `d`, and sizes with `KiB`, `MiB`, `GiB` or `TiB`.

Two features have no setting and are always on: the port of a redirect URI on a loopback address may differ from the registered one
(RFC 8252), and `resource` is accepted in requests (RFC 8707), with the value of `AUDIENCE` or of the issuer's `BASE_URL`.

A token has one audience. Codes, refresh tokens and device codes have none: after a change of `AUDIENCE`, also those from before it give
access tokens for the new audience. Access tokens from before it are refused.

This page is generated from the command line definitions. Renew it with
`UPDATE_DOCS=1 tests/run documentation`.

## The settings file

`--config` or `LATCHKEY_CONFIG` names a TOML file; no program looks for one elsewhere. An empty `LATCHKEY_CONFIG` is an error; leave it
unset. The keys of the file are the names of the flags, with hyphens and without sections:

```toml
base-url = "https://id.example.org"
trusted-proxies = ["10.0.0.0/28", "fd00::/124"]
database-url-file = "/run/secrets/database-url"
session-idle = "2h"
max-connections = 20000
```

Numbers without a unit are numbers in TOML, and all other values are strings. `trusted-proxies`, `allowed-origins` and `captcha-sources` may
also be arrays. Paths are relative to the directory in which the program starts, as those of flags are. A setting and its `-file` form exclude
each other, wherever the two are set.

One file can serve `latchkey`, `auth-server` and `api-server`: each of the latter two ignores the settings that only the other one has. Every
program that reads the file can read all its secrets. So give each secret by its `-file` setting. Only the user of the issuer may read the files
of `master-key-file` and `master-key-previous-file`, not that of the API.

A program does not start if every user has access to a settings file that holds one of its secrets. URLs of the database, Redis and the SMTP
server are secrets if they have a password, and the URL of the webhook always is. Such a file has the mode 0600 and belongs to the user of the
service, or the mode 0640 and the group of the service. Where no such user or group is known, only `-file` settings remain: for the units of
`deploy/systemd`, whose users exist as long as the services; for services of the Debian package that share the file; and for the ConfigMaps of
Kubernetes, which all users in a pod can read. Their [examples](install.md#two-services) use `-file` settings.

An unknown key, or a value that the flag would not accept, keeps the program from starting, also if a flag or a variable overrides it. The
error names the file, the line and, for an unknown key, the most similar setting.

Every program has two commands for its settings, which take the flags, variables and file of the server:

```console
latchkey config check --config /etc/latchkey.toml
latchkey config show --config /etc/latchkey.toml
```

`config check` ends with code 0 if the settings are valid, and otherwise with the error of the server's start. It reads the files that they
name, writes nothing and connects to nothing, so it does not notice a port in use, a directory that cannot be written or a database that does
not answer. `config show` prints each setting, its value and the origin of the value: a flag, the environment, a line of the file, or the
default. Secrets are redacted, and so are URLs that may contain a password.

## Changes without a restart

A server that was started with a settings file reads it again at SIGHUP. It takes over `trusted-proxies`, `allowed-origins`,
`rate-limit-reads`, `rate-limit-writes`, `rate-limit-address`, `rate-limit-client` and `log-level` for all further requests and log lines, and
logs the names of those that changed. A warning names the changed settings that take effect at the next start, until this has happened.

Flags and variables keep the values of the start, and precede the file. If `config check` would fail, all settings stay as they were, and an
error in the log names the line. The content of files that settings name, such as those of secrets, is not compared: restart the
server after you replace one. Without a settings file, SIGHUP ends the server at once.
"#;

/// The Markdown text of the page: a table of flags, variables, defaults and meanings for every program, the
/// issuer and the API.
pub fn settings_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    section::<runtime::settings::CommonSettings>(&mut page, "Every program");
    section::<auth_server::settings::IssuerSettings>(&mut page, "Issuer: `latchkey` and `auth-server`");
    section::<api_server::settings::ApiSettings>(&mut page, "API: `latchkey` and `api-server`");
    page
}

fn section<A: Args>(page: &mut String, title: &str) {
    let command = A::augment_args(Command::new("latchkey"));
    write!(page, "\n## {title}\n\n").unwrap();
    page.push_str("| Flag | Variable | Default | Meaning |\n|---|---|---|---|\n");
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        page.push_str(&row(arg));
    }
}

fn row(arg: &Arg) -> String {
    let flag = format!("`--{}`", arg.get_long().unwrap());
    let variable = arg
        .get_env()
        .map_or_else(String::new, |name| format!("`{}`", name.display()));
    let help = arg.get_long_help().or(arg.get_help()).unwrap().to_string();
    let (meaning, default) = split_default(&help);
    let default = match (arg.get_default_values(), default) {
        ([], Some(default)) => default.to_owned(),
        ([], None) => String::new(),
        (values, _) => {
            let values: Vec<_> = values.iter().map(|value| value.to_string_lossy()).collect();
            format!("`{}`", values.join(","))
        }
    };
    let mut meaning = meaning.trim_end_matches('.').to_owned() + ".";
    let choices = arg.get_possible_values();
    if arg.get_action().takes_values() && !choices.is_empty() {
        let choices: Vec<_> = choices
            .iter()
            .map(|choice| format!("`{}`", choice.get_name()))
            .collect();
        write!(meaning, " One of {}.", choices.join(", ")).unwrap();
    }
    let cells = [flag, variable, default, meaning].map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

/// Splits a help text into the meaning on one line, and the default in a final `[default: …]` if it has one.
fn split_default(help: &str) -> (String, Option<String>) {
    let words: Vec<&str> = help.split_whitespace().collect();
    let text = words.join(" ");
    let text = text.trim_end_matches('.');
    match text.split_once(" [default: ") {
        Some((meaning, default)) => (meaning.to_owned(), Some(default.trim_end_matches(']').to_owned())),
        None => (text.to_owned(), None),
    }
}
