//! The page of the signing keys.

use super::Same;
use super::time_line::{Bar, TimeLine};
use crate::pages::text::Text;
use crate::pages::{FormState, render, text};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use issuer::keys::life::Life;
use issuer::keys::{Key, State};
use std::time::Duration;

/// The time for which the page reports a change.
const NEWS_LIFETIME: Duration = Duration::from_mins(2);
/// The number of deleted keys on the time line.
const DELETED_ON_LINE: usize = 3;

/// A page of the signing keys.
pub(crate) struct SigningKeysPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The keys, the newest first.
    pub(crate) keys: &'a [Key],
    /// Their lives.
    pub(crate) lives: &'a [Life],
    /// Whether these are the newest keys, so that those which are not deleted are among them.
    pub(crate) has_newest: bool,
    /// The path of the page with newer keys.
    pub(crate) newer: Option<String>,
    /// The path of the page with older keys.
    pub(crate) older: Option<String>,
    /// The path of the sign-in page; `None` if the last sign-in is recent enough for changes.
    pub(crate) sign_in: Option<String>,
    /// The time for which clients may cache the JWKS.
    pub(crate) max_age: Duration,
    /// The URL of the list.
    pub(crate) url: &'a str,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "signing_keys.html")]
struct SigningKeysTemplate<'a> {
    form: FormState<'a>,
    news: Vec<Text<'a>>,
    /// `None` if these are not the newest keys.
    current: Option<Current<'a>>,
    keys: Vec<KeyItem<'a>>,
    newer: Option<&'a str>,
    older: Option<&'a str>,
    sign_in: Option<&'a str>,
    same: Same,
    now: Timestamp,
}

/// The parts of the page that are about the present.
struct Current<'a> {
    begin: Timestamp,
    end: Timestamp,
    /// The position of the present on the time line.
    present: u64,
    lanes: Vec<Lane<'a>>,
    can_rotate: bool,
    /// The effect of a rotation, or the reason why the keys cannot be rotated yet.
    rotation: Text<'a>,
    same: Same,
}

struct Lane<'a> {
    kid: &'a str,
    state: String,
    next: String,
    bars: Vec<Bar>,
}

struct KeyItem<'a> {
    kid: &'a str,
    state: String,
    created_at: Timestamp,
    /// The next change of the key, or the last one.
    next: Text<'a>,
    /// The effect of its retirement as compromised; `None` if that has happened.
    retirement: Option<Text<'a>>,
    same: Same,
}

/// Renders a page of the signing keys.
pub(crate) fn signing_keys(page: &SigningKeysPage<'_>) -> Response {
    let items = page.keys.iter().zip(page.lives).map(|(key, life)| KeyItem {
        kid: &key.kid,
        state: state(key),
        created_at: key.created_at,
        next: next(key, life, page.now),
        retirement: (!key.compromised).then(|| retirement(key, page.max_age)),
        same: Same::new(
            &format!("keys retire --compromised {}", key.kid),
            &format!(
                r#"--json '{{"compromised": true}}' {}/{}/retirements"#,
                page.url, key.kid
            ),
        ),
    });
    let template = SigningKeysTemplate {
        form: page.form,
        news: news(page.keys, page.now),
        current: page.has_newest.then(|| current(page)),
        keys: items.collect(),
        newer: page.newer.as_deref(),
        older: page.older.as_deref(),
        sign_in: page.sign_in.as_deref(),
        same: Same::new("keys list", page.url),
        now: page.now,
    };
    render(&text::of("keys").plain(), &template)
}

fn current<'a>(page: &SigningKeysPage<'a>) -> Current<'a> {
    let keys = page.keys.iter().zip(page.lives);
    let (deleted, published): (Vec<_>, Vec<_>) = keys.partition(|(key, _)| key.state == State::Deleted);
    let on_line = published
        .into_iter()
        .chain(deleted.into_iter().take(DELETED_ON_LINE));
    let on_line: Vec<_> = on_line.collect();
    let lives: Vec<_> = on_line
        .iter()
        .map(|(key, life)| (**life, key.compromised))
        .collect();
    let line = TimeLine::draw(&lives, page.now);
    let lanes = on_line
        .into_iter()
        .zip(line.lanes)
        .map(|((key, life), bars)| Lane {
            kid: &key.kid,
            state: state(key),
            next: next(key, life, page.now).plain(),
            bars,
        });
    let staged = in_state(page.keys, State::Staged);
    Current {
        begin: line.begin,
        end: line.end,
        present: line.now,
        lanes: lanes.collect(),
        can_rotate: staged.is_some_and(|staged| staged.sign_after <= page.now),
        same: Same::new("keys rotate", &format!("-X POST {}/rotations", page.url)),
        rotation: rotation(staged, in_state(page.keys, State::Active), page.now),
    }
}

fn in_state(keys: &[Key], state: State) -> Option<&Key> {
    keys.iter().find(|key| key.state == state)
}

/// Returns the changes that happened just now.
fn news<'a>(keys: &'a [Key], now: Timestamp) -> Vec<Text<'a>> {
    let report = |text: Text<'a>, key: &'a Key, at: Option<Timestamp>| {
        let at = at.filter(|at| now.since(*at) < NEWS_LIFETIME)?;
        Some(text.with("kid", &key.kid).since("time", at, now))
    };
    let changes = keys.iter().filter_map(|key| match key.state {
        State::Deleted if key.compromised => report(text::of("keys-news-compromised"), key, key.deleted_at),
        State::Active => report(text::of("keys-news-active"), key, key.activated_at),
        State::Staged | State::Retired | State::Deleted => None,
    });
    changes.collect()
}

fn state(key: &Key) -> String {
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
fn next<'a>(key: &Key, life: &Life, now: Timestamp) -> Text<'a> {
    let in_time = |text: Text<'a>, at: Timestamp| text.until("time", at, now);
    match (key.state, life.activated_at, life.retired_at, life.deleted_at) {
        (State::Staged, ..) if key.sign_after > now => in_time(text::of("key-staged-until"), key.sign_after),
        (State::Staged, Some(at), ..) => in_time(text::of("key-staged-next"), at),
        (State::Staged, None, ..) => text::of("key-staged-alone"),
        (State::Active, ..) if key.sign_after > now => in_time(text::of("key-active-early"), key.sign_after),
        (State::Active, _, Some(at), _) => in_time(text::of("key-active-next"), at),
        (State::Active, _, None, _) => text::of("key-active-alone"),
        (State::Retired, .., Some(at)) => in_time(text::of("key-retired-next"), at),
        (State::Deleted, .., Some(at)) => text::of("key-deleted-at").since("time", at, now),
        (State::Retired | State::Deleted, .., None) => text::of("key-retired-alone"),
    }
}

/// Returns the effect of the retirement of a compromised key.
fn retirement<'a>(key: &'a Key, max_age: Duration) -> Text<'a> {
    let text = match key.state {
        State::Staged => text::of("keys-retirement-staged"),
        State::Active => text::of("keys-retirement-active"),
        State::Retired => text::of("keys-retirement-retired"),
        State::Deleted => text::of("keys-retirement-deleted"),
    };
    text.with("kid", &key.kid).with("wait", text::duration(max_age))
}

/// Returns the effect of a rotation, or the reason why the keys cannot be rotated yet.
fn rotation<'a>(staged: Option<&'a Key>, active: Option<&'a Key>, now: Timestamp) -> Text<'a> {
    match (staged, active) {
        (None, _) => text::of("keys-none-staged"),
        (Some(staged), _) if staged.sign_after > now => {
            text::of("keys-rotation-later").until("time", staged.sign_after, now)
        }
        (Some(staged), Some(active)) => text::of("keys-rotation")
            .with("staged", &staged.kid)
            .with("active", &active.kid),
        (Some(staged), None) => text::of("keys-first-rotation").with("staged", &staged.kid),
    }
}
