//! The pages for administrators.

mod client;
mod client_settings;
mod clients;
mod consents;
mod dashboard;
mod event_row;
mod filter;
mod history;
mod key_texts;
mod new_client;
mod plot;
mod readiness;
mod security_events;
mod sessions;
mod signing_keys;
mod time_line;
mod token_preview;
mod user;
mod user_change;
mod users;

pub(crate) use client::{ClientChange, ClientPage, client};
pub(crate) use clients::{ClientsPage, clients};
pub(crate) use consents::{ConsentsPage, consents};
pub(crate) use dashboard::{DashboardPage, dashboard};
pub(crate) use event_row::EventWords;
pub(super) use filter::{Condition, refusal};
pub(super) use history::EventItem;
pub(crate) use new_client::{EnteredClient, client_created, client_review, client_secret, new_client};
pub(super) use plot::{Line, Plot};
pub(crate) use security_events::{LiveEvents, REFUSALS_VIEW, SecurityEventsPage, security_events};
pub(crate) use sessions::{SessionsPage, sessions};
pub(crate) use signing_keys::{Keys, SigningKeysPage, signing_keys};
pub(super) use time_line::{Lane, TimeLine};
pub(crate) use token_preview::{TokenPreviewPage, token_preview};
pub(crate) use user::{UserPage, initial_password, user};
pub(crate) use user_change::UserChange;
pub(crate) use users::{UsersPage, users};

use crate::pages::text::{self, Text};
use foundation::list_query::Order;
use identity::refresh_families::FamilyCount;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use storage::paging::PAGE_SIZE;
use web::Links;

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

/// A value of a field with a few values.
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) label: String,
    pub(super) is_chosen: bool,
}

/// Returns the orders of a list, of which this one is chosen.
pub(super) fn orders(chosen: Order, in_words: fn(Order) -> Text<'static>) -> [Choice; 2] {
    Order::ALL.map(|order| Choice {
        value: order.as_str(),
        label: in_words(order).plain(),
        is_chosen: order == chosen,
    })
}

/// Returns the order of a list by time in words.
pub(super) fn by_time(order: Order) -> Text<'static> {
    match order {
        Order::Ascending => text::of("order-oldest-first"),
        Order::Descending => text::of("order-newest-first"),
    }
}

/// Returns the order of a list by id in words.
fn by_id(order: Order) -> Text<'static> {
    match order {
        Order::Ascending => text::of("order-by-id"),
        Order::Descending => text::of("order-by-id-descending"),
    }
}

/// Returns the order of a list by name or address in words.
fn by_name(order: Order) -> Text<'static> {
    match order {
        Order::Ascending => text::of("order-by-name"),
        Order::Descending => text::of("order-by-name-descending"),
    }
}

/// Returns the sentence of a page of a list that shows nothing: this one, unless other pages may show
/// something.
fn none<'a>(links: &Links, sentence: Text<'a>) -> Text<'a> {
    match (&links.next, &links.prev) {
        (Some(_), _) => text::of("list-none-yet"),
        (None, Some(_)) => text::of("list-end"),
        (None, None) => sentence,
    }
}

/// A change that an administrator can make.
pub(super) struct ChangeItem {
    /// The name of the change in the form.
    pub(super) name: &'static str,
    pub(super) label: String,
    pub(super) effect: Text<'static>,
    pub(super) is_dangerous: bool,
    pub(super) in_terminal: InTerminal,
}

/// Returns the address of the user with this id, or the id in words if the account was deleted.
fn person(id: i64, emails: &HashMap<i64, String>) -> String {
    let email = emails.get(&id).cloned();
    email.unwrap_or_else(|| text::of("event-person").with("id", id).plain())
}

/// Returns the number of items of a first page in words, which may be fewer than there are.
fn counted(n: usize) -> String {
    match n < PAGE_SIZE {
        true => n.to_string(),
        false => text::of("more-than").count("n", n as u64 - 1).plain(),
    }
}

/// A number of things, of which more may exist.
#[derive(Clone, Copy)]
pub(super) struct Count {
    n: u64,
    may_lack_some: bool,
}

impl Count {
    /// Returns the number of all.
    pub(super) const fn all(n: u64) -> Self {
        Self {
            n,
            may_lack_some: false,
        }
    }

    fn in_words(self) -> String {
        match self.may_lack_some {
            true => text::of("at-least").count("n", self.n).plain(),
            false => self.n.to_string(),
        }
    }
}

impl From<FamilyCount> for Count {
    fn from(families: FamilyCount) -> Self {
        Self {
            n: families.live.unsigned_abs(),
            may_lack_some: families.may_lack_some(),
        }
    }
}

/// Returns the name of the running program: `latchkey`, or `auth-server` where the issuer has processes of
/// its own.
fn program() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or_else(
        || "latchkey".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Returns parameters of a list as options of the command that lists the same: `--first-party=true` for
/// `first_party`, and `--user=1` for `user_id`.
fn options<'a>(parameters: impl IntoIterator<Item = &'a (&'static str, String)>) -> String {
    let options = parameters.into_iter().map(|(name, value)| {
        let option = name.trim_end_matches("_id").replace('_', "-");
        format!(" --{option}={}", quoted(value))
    });
    options.collect()
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
