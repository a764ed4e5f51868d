//! The pages for administrators.

mod signing_keys;
mod time_line;

pub(crate) use signing_keys::{SigningKeysPage, signing_keys};

/// A command of an operator, and a call with an access token, that do the same as a part of a page.
struct Same {
    command: String,
    call: String,
}

impl Same {
    /// Returns the command with these arguments, and the call by `curl` with these, which name its URL.
    fn new(command: &str, call: &str) -> Self {
        Self {
            command: format!("latchkey {command}"),
            call: format!("curl -H \"Authorization: Bearer $TOKEN\" {call}"),
        }
    }
}
