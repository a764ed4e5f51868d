//! The pages for administrators.

mod readiness;
mod security_events;
mod signing_keys;
mod time_line;
mod users;

pub(crate) use security_events::{SecurityEventsPage, security_events};
pub(crate) use signing_keys::{Keys, SigningKeysPage, signing_keys};
pub(crate) use users::{UserChange, UserPage, UsersPage, initial_password, user, users};

use std::path::{Path, PathBuf};

/// A command, and a call by `curl` with an access token, that do the same as a part of a page.
pub(super) struct InTerminal {
    pub(super) command: String,
    pub(super) call: String,
}

impl InTerminal {
    /// Returns the command of this program with these arguments, and the call with these, which name its URL.
    pub(super) fn new(command: &str, call: &str) -> Self {
        Self {
            command: format!("{} {command}", program()),
            call: format!("curl -H \"Authorization: Bearer $TOKEN\" {call}"),
        }
    }
}

/// Returns the name of the running program: `latchkey`, or `auth-server` where the issuer has processes of its own.
fn program() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or_else(
        || "latchkey".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Returns a text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_word_of_the_shell() {
        assert_eq!(quoted("authn_login_fail"), "authn_login_fail");
        assert_eq!(quoted("network 7"), "'network 7'");
        assert_eq!(quoted("it's; rm"), r"'it'\''s; rm'");
    }
}
