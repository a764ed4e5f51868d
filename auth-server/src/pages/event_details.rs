//! The details of security events in words.

use super::text::{self, Text};
use askama::filters::{Escaper as _, Html, HtmlSafe};
use audit::events::EventName;
use audit::events::list::SecurityEvent;
use std::fmt;
use std::time::Duration;

/// The language in which programs store details.
const STORED_IN: &str = "en";

/// The detail of an event. Displayed as HTML.
pub(super) struct Detail {
    pub(super) text: String,
    /// The language of the text, if it may not be that of the page.
    pub(super) language: Option<&'static str>,
}

impl fmt::Display for Detail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(language) = self.language else {
            return Html.write_escaped_str(formatter, &self.text);
        };
        write!(formatter, "<span lang=\"{language}\">")?;
        Html.write_escaped_str(&mut *formatter, &self.text)?;
        formatter.write_str("</span>")
    }
}

impl HtmlSafe for Detail {}

/// Returns the words of a detail.
type Words = fn() -> Text<'static>;

/// The stored details that have words, with these words. A name in braces stands for a value. An earlier line
/// precedes a later one that matches too. The value `seconds` is a duration.
const WORDS: &[(&str, Words)] = &[
    ("passkey", || text::of("event-detail-passkey")),
    ("all passkeys", || text::of("event-detail-all-passkeys")),
    ("passkey {id}", || text::of("event-detail-passkey-id")),
    ("passkey: its counter did not grow", || {
        text::of("event-detail-passkey-counter")
    }),
    (
        "passkey: it answered this challenge or a later one before, or the challenge has expired",
        || text::of("event-detail-passkey-stale"),
    ),
    ("{n} left", || text::of("event-detail-codes-left")),
    ("older than the first proof of the mailbox", || {
        text::of("event-detail-before-mailbox")
    }),
    ("by an administrator", || {
        text::of("event-detail-by-administrator")
    }),
    ("all sessions", || text::of("event-detail-all-sessions")),
    ("session {id}: an administrator signed the user out", || {
        text::of("event-detail-session-by-administrator")
    }),
    (
        "session {id}: the user ended the session on another device",
        || text::of("event-detail-session-elsewhere"),
    ),
    ("session {id}: the user signed out", || {
        text::of("event-detail-session-signed-out")
    }),
    ("session {id}: the user has too many newer sign-ins", || {
        text::of("event-detail-session-newer")
    }),
    ("all grants", || text::of("event-detail-all-grants")),
    ("{n} grants that began with the redirect URI {uri}", || {
        text::of("event-detail-grants-of-uri")
    }),
    ("grants {ids}", || text::of("event-detail-grants")),
    ("access token {id}", || text::of("event-detail-access-token")),
    ("initial access token {id} for {n} clients", || {
        text::of("event-detail-initial-token-for")
    }),
    ("initial access token {id}", || {
        text::of("event-detail-initial-token")
    }),
    ("with the initial access token {id}", || {
        text::of("event-detail-with-initial-token")
    }),
    ("without a token", || text::of("event-detail-without-token")),
    ("its document", || text::of("event-detail-document")),
    ("its document changed: {members}", || {
        text::of("event-detail-document-changed")
    }),
    ("the former secret is valid for {seconds} s", || {
        text::of("event-detail-former-secret")
    }),
    ("the former secret ended at once", || {
        text::of("event-detail-former-secret-ended")
    }),
    ("device code", || text::of("event-detail-device-code")),
    ("{n} rows", || text::of("event-detail-rows")),
    (
        "The anti-forgery token is missing or wrong, or the origin is not allowed. Get a token from /csrf, \
         and send it in the x-csrf-token header together with the csrf cookie.",
        || text::of("event-detail-csrf"),
    ),
    (
        "This call needs the scope {scope}, which the access token or its user does not have.",
        || text::of("event-detail-scope"),
    ),
    (
        "This call needs a user, and the access token was issued to a client on its own behalf.",
        || text::of("event-detail-needs-user"),
    ),
    (
        "This call needs a session: sign in at /login. An access token is not enough.",
        || text::of("event-detail-needs-session"),
    ),
    ("Only administrators may call this.", || {
        text::of("event-detail-administrators-call")
    }),
    ("Only administrators may see this page.", || {
        text::of("event-detail-administrators-see")
    }),
    (
        "This is the last administrator. Make another user an administrator first.",
        || text::of("event-detail-last-administrator"),
    ),
    (
        "Only the author of the post, an editor or an administrator may change it.",
        || text::of("event-detail-post-author"),
    ),
    (
        "Only the author of the comment, an editor or an administrator may delete it.",
        || text::of("event-detail-comment-author"),
    ),
    (
        "This idempotency key was used with another body. Send a call with a new body under a new key.",
        || text::of("event-detail-idempotency-key"),
    ),
    (
        "No account was created: sign-up is turned off; ask an administrator for an account.",
        || text::of("event-detail-sign-up-off"),
    ),
    (
        "An administrator has disabled this client. Its registration cannot be read or changed.",
        || text::of("event-detail-client-disabled"),
    ),
];

/// Returns the detail of an event in words. One without words, such as a scope, is as it is stored, also one
/// that only another version of the program knows.
pub(super) fn in_words(event: &SecurityEvent) -> Option<Detail> {
    let detail = event.detail.as_deref()?;
    let words = match EventName::named(&event.name) {
        Some(EventName::UserCreated) => {
            role(detail).map(|role| text::of("event-detail-role").with("role", role.plain()))
        }
        Some(EventName::RoleChange) => change_of_role(detail),
        Some(EventName::EmailChange) => change_of_address(detail),
        Some(EventName::Consent | EventName::AccessRenewed) => None,
        _ => of_pattern(detail),
    };
    let language = words.is_none().then_some(STORED_IN);
    let text = words.map_or_else(|| detail.to_owned(), |words| words.plain());
    Some(Detail { text, language })
}

fn role(name: &str) -> Option<Text<'static>> {
    match name {
        "user" => Some(text::of("role-user")),
        "editor" => Some(text::of("role-editor")),
        "admin" => Some(text::of("role-admin")),
        _ => None,
    }
}

fn change_of_role(detail: &str) -> Option<Text<'static>> {
    let (former, present) = detail.split_once(" to ")?;
    let text = text::of("event-detail-change").with("former", role(former)?.plain());
    Some(text.with("present", role(present)?.plain()))
}

fn change_of_address(detail: &str) -> Option<Text<'static>> {
    let (former, present) = detail.split_once(" to ")?;
    let text = text::of("event-detail-change").with("former", former);
    Some(text.with("present", present))
}

/// Returns the words of a detail that fits one of [`WORDS`].
fn of_pattern(detail: &str) -> Option<Text<'static>> {
    WORDS.iter().find_map(|(pattern, words)| {
        let values = values(pattern, detail)?.into_iter();
        Some(values.fold(words(), |text, (name, value)| {
            match (name, value.parse::<u64>()) {
                ("seconds", Ok(seconds)) => text.with(name, text::duration(Duration::from_secs(seconds))),
                _ => text.with(name, value),
            }
        }))
    })
}

/// Returns the values of a detail that fits the pattern, with their names.
fn values<'a>(pattern: &'static str, detail: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let mut parts = pattern.split(['{', '}']);
    let mut rest = detail.strip_prefix(parts.next()?)?;
    let mut values = Vec::new();
    while let (Some(name), Some(end)) = (parts.next(), parts.next()) {
        let (value, after) = match end {
            "" => (rest, ""),
            _ => rest.split_once(end)?,
        };
        values.push((name, value));
        rest = after;
    }
    rest.is_empty().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use identity::end_reason::EndReason;

    #[test]
    fn each_pattern_has_its_own_words_with_all_values() {
        for (pattern, words) in WORDS {
            let found = of_pattern(pattern).map(|text| text.plain());
            let expected = pattern.replace("{seconds} s", "{seconds}");
            assert_eq!(found, Some(expected), "{:?}", words());
        }
    }

    #[test]
    fn each_end_of_one_session_has_words() {
        for reason in [
            EndReason::SignedOutByAdministrator,
            EndReason::SignedOutElsewhere,
            EndReason::SignedOut,
            EndReason::NewerSignIns,
        ] {
            let detail = format!("session 7: {}", reason.in_words());
            assert!(of_pattern(&detail).is_some(), "{detail}");
        }
    }

    #[test]
    fn a_detail_without_words_is_english() {
        let detail = Detail {
            text: "a <b>".to_owned(),
            language: Some(STORED_IN),
        };
        assert_eq!(detail.to_string(), "<span lang=\"en\">a &#60;b&#62;</span>");
    }

    #[test]
    fn a_duration_has_its_unit() {
        let found = of_pattern("the former secret is valid for 86400 s").map(|text| text.plain());
        let expected = "the former secret is valid for 24\u{a0}hours";
        assert_eq!(found.as_deref(), Some(expected));
    }

    #[test]
    fn only_a_whole_detail_fits() {
        assert_eq!(
            values("a {x} b {y}", "a 1 b 2"),
            Some(vec![("x", "1"), ("y", "2")])
        );
        assert_eq!(values("a {x} b", "a 1 b 2"), None);
        assert_eq!(values("a", "ab"), None);
        assert!(of_pattern("passkeys").is_none());
    }
}
