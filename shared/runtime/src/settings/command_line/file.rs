//! The settings file: a TOML file whose keys are the names of the flags.

use super::message;
use clap::{Arg, Command};
use foundation::settings::InvalidSetting;
use mail::SmtpUrl;
use std::any::TypeId;
use std::collections::HashMap;
use std::error::Error as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use storage::db::DatabaseUrl;
use storage::redis::RedisUrl;
use toml_edit::{Document, Item, Key, Value};
use url::Url;

/// The settings that only the issuer or only the API has. As one file serves both, each program accepts the
/// keys of the other one, although it has no definition of them.
pub const SETTINGS_OF_ONE_SERVICE: [&str; 34] = [
    "master-key",
    "master-key-file",
    "master-key-previous",
    "master-key-previous-file",
    "access-token-lifetime",
    "code-lifetime",
    "refresh-token-idle",
    "refresh-token-max",
    "max-refresh-families",
    "jwks-max-age",
    "signing-key-lifetime",
    "key-bits",
    "events-kept",
    "alert-webhook-url",
    "alert-webhook-url-file",
    "alert-webhook-secret",
    "alert-webhook-secret-file",
    "smtp-url",
    "smtp-url-file",
    "mail-from",
    "brand-name",
    "brand-logo",
    "brand-accent",
    "help-url",
    "terms-url",
    "privacy-url",
    "pushed-authorization-requests",
    "device-authorization",
    "client-registration",
    "client-assertion-audience",
    "client-id-metadata-documents",
    "jwks-url",
    "idempotency-key-lifetime",
    "storage-quota",
];

/// The largest file, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The bits of a mode that give users access who are neither the owner nor in the group.
const ACCESS_OF_OTHERS: u32 = 0o007;

/// The similarity from which a key is proposed in place of an unknown one, as clap proposes flags.
const SIMILAR: f64 = 0.7;

/// A key of the file.
pub(super) struct Entry {
    /// The values, as texts for the flag.
    pub(super) texts: Vec<String>,
    /// The number of its line.
    pub(super) line: usize,
}

/// Reads the file and returns its entries by the names of the flags of `command`. Fails if the file cannot be
/// read, is too large or is not TOML, if no program has a key, if `command` refuses a value, or if every user
/// has access to a secret in it.
pub(super) fn read(path: &Path, command: &Command) -> Result<HashMap<String, Entry>, InvalidSetting> {
    let read = read_text(path);
    let read = read.map_err(|error| InvalidSetting(format!("CONFIG {}: {error}", path.display())));
    let (text, mode) = read?;
    let place = |line: usize| format!("{}, line {line}", path.display());
    let document = Document::parse(text.as_str()).map_err(|error| {
        // The whole error repeats the line, which may contain a password.
        let (place, cause) = (place(line(&text, error.span())), error.message());
        InvalidSetting(format!("syntax error in {place}: {cause}"))
    })?;
    let is_open = mode & ACCESS_OF_OTHERS != 0;
    let mut entries = HashMap::new();
    for (key, item) in document.iter() {
        let line = line(&text, document.key(key).and_then(Key::span));
        let place = place(line);
        match settings(command).find(|(name, _)| *name == key) {
            Some((name, arg)) => {
                let texts = texts(arg, item).and_then(|texts| check(arg, name, texts));
                let texts = texts.and_then(|texts| match is_open && is_secret(arg, &texts) {
                    true => Err(open_to_all(name, path)),
                    false => Ok(texts),
                });
                let texts = texts.map_err(|cause| InvalidSetting(format!("`{key}` in {place}: {cause}")))?;
                entries.insert(name.to_owned(), Entry { texts, line });
            }
            None if SETTINGS_OF_ONE_SERVICE.contains(&key) => {}
            None => {
                let proposal = nearest(key, command).map(|name| format!(": did you mean `{name}`?"));
                let proposal = proposal.unwrap_or_default();
                let key = key.escape_debug();
                return Err(InvalidSetting(format!(
                    "unknown key `{key}` in {place}{proposal}"
                )));
            }
        }
    }
    Ok(entries)
}

/// Describes why a file that every user has access to may not have a setting.
fn open_to_all(name: &str, path: &Path) -> String {
    let path = path.display();
    format!(
        "every user has access to the file: set `{name}-file` instead, or run `chgrp GROUP {path} && \
         chmod 640 {path}` with the group of the service"
    )
}

/// Returns whether the values of a setting are secret. The URL of a server is, if it has a password. That of a
/// webhook always is, because its path may be a token.
fn is_secret(arg: &Arg, texts: &[String]) -> bool {
    let id = arg.get_value_parser().type_id();
    let servers = [
        TypeId::of::<DatabaseUrl>(),
        TypeId::of::<RedisUrl>(),
        TypeId::of::<SmtpUrl>(),
    ];
    let is_server = servers.iter().any(|server| id == *server);
    arg.is_hide_env_values_set() && (!is_server || texts.iter().any(|text| has_password(text)))
}

/// Returns whether a URL has a password, also in its query, as those of PostgreSQL (`password`) and of the
/// socket of Redis (`pass`) may.
fn has_password(url: &str) -> bool {
    Url::parse(url).ok().is_none_or(|url| {
        let mut query = url.query_pairs();
        url.password().is_some() || query.any(|(name, _)| matches!(&*name, "password" | "pass"))
    })
}

/// Reads the text of the file, which is UTF-8 and at most [`MAX_FILE`] long. Returns also its mode.
fn read_text(path: &Path) -> io::Result<(String, u32)> {
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode();
    let mut file = file.take(MAX_FILE + 1);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    match file.limit() {
        0 => Err(io::Error::other("the file is larger than 1 MiB")),
        _ => {
            let text = String::from_utf8(bytes).map_err(|_| io::Error::other("the file is not UTF-8"))?;
            Ok((text, mode))
        }
    }
}

/// Returns the settings that the file may contain, with their names.
fn settings(command: &Command) -> impl Iterator<Item = (&str, &Arg)> {
    let named = command
        .get_arguments()
        .filter_map(|arg| Some((arg.get_long()?, arg)));
    named.filter(|(name, _)| *name != "config")
}

/// Returns the number of the line at the beginning of `span`.
fn line(text: &str, span: Option<Range<usize>>) -> usize {
    let start = span.map_or(0, |span| span.start);
    1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count()
}

/// Returns the values of a key as the flag would have them. Fails with the expected type.
fn texts(arg: &Arg, item: &Item) -> Result<Vec<String>, String> {
    let (is_number, is_list) = (is_number(arg), arg.get_value_delimiter().is_some());
    let texts = match item.as_value() {
        Some(Value::Integer(number)) if is_number => Some(vec![number.value().to_string()]),
        Some(Value::String(text)) if !is_number => Some(vec![text.value().clone()]),
        Some(Value::Array(items)) if is_list => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect()
        }
        _ => None,
    };
    texts.ok_or_else(|| {
        let choices = arg.get_possible_values();
        let choices: Vec<String> = choices
            .iter()
            .map(|choice| format!("{:?}", choice.get_name()))
            .collect();
        match (is_number, is_list) {
            (true, _) => "expected a number".to_owned(),
            (_, true) => "expected a string or an array of strings".to_owned(),
            _ if choices.is_empty() => "expected a string".to_owned(),
            _ => format!("expected one of {}", choices.join(", ")),
        }
    })
}

/// Returns whether the value of a setting is a number without a unit.
fn is_number(arg: &Arg) -> bool {
    let id = arg.get_value_parser().type_id();
    let numbers = [TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()];
    numbers.iter().any(|number| id == *number)
}

/// Returns the values, or the reason why the flag does not accept one of them.
fn check(arg: &Arg, name: &str, texts: Vec<String>) -> Result<Vec<String>, String> {
    let flags = texts.iter().map(|text| format!("--{name}={text}"));
    let command = Command::new("settings").no_binary_name(true).arg(arg.clone());
    match command.try_get_matches_from(flags) {
        Ok(_) => Ok(texts),
        Err(error) => Err(error
            .source()
            .map_or_else(|| message(&error), ToString::to_string)),
    }
}

/// Returns the name that is most similar to an unknown key, if one is similar. The key may be the name of a
/// variable.
fn nearest<'a>(key: &str, command: &'a Command) -> Option<&'a str> {
    let key = key.to_lowercase().replace('_', "-");
    let key = key.strip_prefix("latchkey-").unwrap_or(&key);
    let names = settings(command)
        .map(|(name, _)| name)
        .chain(SETTINGS_OF_ONE_SERVICE);
    let rated = names.map(|name| (strsim::jaro(key, name), name));
    let similar = rated.filter(|(similarity, _)| *similarity > SIMILAR);
    similar
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}
