//! The texts about a signing key.

use crate::pages::text;
use crate::pages::text::Text;
use foundation::clock::Timestamp;
use issuer::keys::life::Life;
use issuer::keys::{Key, State};
use std::collections::HashMap;

/// Returns the state of a key.
pub(super) fn in_words(key: &Key) -> String {
    let text = match key.state {
        State::Staged => text::of("key-staged"),
        State::Active => text::of("key-active"),
        State::Retired => text::of("key-retired"),
        State::Deleted if key.compromised => text::of("key-compromised"),
        State::Deleted => text::of("key-deleted"),
    };
    text.plain()
}

/// Returns the next change of a key, or the last one.
pub(super) fn next<'a>(key: &Key, life: &Life, now: Timestamp) -> Text<'a> {
    let in_time = |text: Text<'a>, at: Timestamp| text.until("time", at, now);
    match (key.state, life.activated_at, life.retired_at, life.deleted_at) {
        (State::Staged, ..) if key.sign_after > now => in_time(text::of("key-next-waits"), key.sign_after),
        (State::Staged, Some(at), ..) => in_time(text::of("key-next-signs"), at),
        (State::Staged, None, ..) => text::of("key-next-may-sign"),
        (State::Active, ..) if key.sign_after > now => in_time(text::of("key-next-known"), key.sign_after),
        (State::Active, _, Some(at), _) => in_time(text::of("key-next-retires"), at),
        (State::Active, _, None, _) => text::of("key-next-none"),
        (State::Retired, .., Some(at)) => in_time(text::of("key-next-deleted"), at),
        (State::Deleted, .., Some(at)) => text::of("key-deleted-at").since("time", at, now),
        (State::Retired | State::Deleted, .., None) => text::of("key-signed"),
    }
}

/// Returns when a key is planned to be deleted, if [`next`] does not tell it.
pub(super) fn deletion<'a>(key: &Key, life: &Life, now: Timestamp) -> Option<Text<'a>> {
    let at = life
        .deleted_at
        .filter(|_| matches!(key.state, State::Staged | State::Active))?;
    Some(text::of("key-deletion-planned").until("time", at, now))
}

/// Returns the number of access tokens of a key that have not expired.
pub(super) fn live_tokens<'a>(key: &Key, live_tokens: &HashMap<String, u64>) -> Text<'a> {
    match live_tokens.get(&key.kid) {
        Some(n) if key.compromised => text::of("key-tokens-revoked").count("n", n),
        Some(n) => text::of("key-tokens-about").count("n", n),
        None => text::of("key-tokens-none"),
    }
}
