//! The page of the signing keys.

use super::key_texts::{deletion, in_words, live_tokens, next};
use super::readiness::{self, ReadinessPart, VerifierItem};
use super::time_line::{Lane, TimeLine};
use super::{Choice, InTerminal, by_time, orders, quoted};
use crate::pages::text::Text;
use crate::pages::{FormState, render_in_tab, text};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::list_query::Direction;
use issuer::keys::life::Life;
use issuer::keys::list::ListQuery;
use issuer::keys::{self, Key, Readiness, State};
use std::collections::HashMap;
use std::time::Duration;
use web::Links;

/// The time for which the page reports a change.
const NEWS_LIFETIME: Duration = Duration::from_mins(2);
/// The time for which the page reports that a key was retired as compromised. Its tokens have expired then.
const REFUSALS_LIFETIME: Duration = Duration::from_mins(10);
/// The number of deleted keys on the time line.
const DELETED_ON_LINE: usize = 3;

/// The signing keys.
pub(crate) struct SigningKeysPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The keys that are not deleted, the oldest first.
    pub(crate) published: Keys<'a>,
    /// The newest keys that are deleted, the newest first.
    pub(crate) deleted: Keys<'a>,
    /// A page of all keys.
    pub(crate) listed: Keys<'a>,
    /// The condition on the listed keys, and their order.
    pub(crate) query: &'a ListQuery,
    /// The number of live tokens of each key that has any, by its `kid`.
    pub(crate) live_tokens: &'a HashMap<String, u64>,
    pub(crate) links: Links,
    /// The verifiers, and whether they have the staged key.
    pub(crate) readiness: &'a Readiness,
    /// The path of the sign-in page; `None` if the last sign-in is recent enough for changes.
    pub(crate) sign_in: Option<String>,
    /// Whether the clock of the issuer differs from that of the database.
    pub(crate) clock_differs: bool,
    /// The time for which clients may cache the JWKS.
    pub(crate) max_age: Duration,
    /// The time for which a key signs.
    pub(crate) lifetime: Duration,
    /// The URL of the list.
    pub(crate) url: &'a str,
    /// The URL of the JWKS.
    pub(crate) jwks_url: &'a str,
    pub(crate) now: Timestamp,
}

/// Keys with their lives.
pub(crate) struct Keys<'a> {
    keys: &'a [Key],
    lives: Vec<Life>,
}

impl<'a> Keys<'a> {
    /// Joins keys with their lives, which are in the same order.
    pub(crate) fn new(keys: &'a [Key], lives: Vec<Life>) -> Self {
        Self { keys, lives }
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = (&'a Key, Life)> {
        self.keys.iter().zip(self.lives.iter().copied())
    }
}

#[derive(Template)]
#[template(path = "signing_keys.html")]
struct SigningKeysTemplate<'a> {
    form: FormState<'a>,
    news: Vec<News<'a>>,
    line: TimeLine,
    lanes: Vec<Lane<'a>>,
    rotation: Rotation<'a>,
    readiness: ReadinessPart<'a>,
    /// The state that the listed keys have, if one was asked for.
    state: Option<&'static str>,
    orders: [Choice; 2],
    keys: Vec<KeyItem<'a>>,
    links: &'a Links,
    sign_in: Option<&'a str>,
    settings: Text<'a>,
    jwks_url: &'a str,
    in_terminal: InTerminal,
    now: Timestamp,
}

/// A change that happened just now.
struct News<'a> {
    text: Text<'a>,
    /// Whether a key was compromised.
    is_warning: bool,
    /// The replicas of the API and whether they refuse the tokens of the key, if it is compromised.
    refusals: Vec<Text<'a>>,
}

/// Whether the keys can be rotated now.
enum Rotation<'a> {
    Possible {
        /// The kid of the staged key.
        staged: &'a str,
        effect: Text<'a>,
        /// The verifiers that lack the staged key.
        unready: Vec<VerifierItem<'a>>,
        /// The number of those that are not shown.
        further_unready: u64,
        /// The hash of the verifiers that lack the staged key, if the rotation needs a confirmation.
        to_confirm: Option<String>,
        in_terminal: InTerminal,
    },
    NotYet(Text<'a>),
}

impl SigningKeysTemplate<'_> {
    /// Returns the headings of the table of keys, the last of which is that of the changes.
    fn key_headings(&self) -> Vec<Text<'static>> {
        let facts = [text::of("key"), text::of("key-created"), text::of("key-next")];
        let tokens = [text::of("key-tokens")];
        let changes = self.sign_in.is_none().then(|| text::of("action"));
        facts.into_iter().chain(tokens).chain(changes).collect()
    }

    /// Returns the rows of a table: an action, and whether the tokens of the staged, the active and the
    /// retired keys are accepted after it.
    fn effects(&self) -> [[Text<'static>; 4]; 4] {
        let expires = || text::of("keys-until-expiry");
        let keeps = || text::of("keys-keeps-signing");
        let signs = || text::of("keys-signs");
        let refused = || text::of("keys-refused");
        [
            [text::of("keys-rotate"), signs(), expires(), expires()],
            [text::of("keys-retire-staged"), refused(), keeps(), expires()],
            [text::of("keys-retire-active"), signs(), refused(), expires()],
            [
                text::of("keys-retire-retired"),
                text::of("keys-not-yet"),
                keeps(),
                refused(),
            ],
        ]
    }
}

struct KeyItem<'a> {
    kid: &'a str,
    state: &'static str,
    state_in_words: String,
    created_at: Timestamp,
    /// The next change of the key, or the last one.
    next: Text<'a>,
    /// The planned time of its deletion, if that is not the next change.
    deletion: Option<Text<'a>>,
    live_tokens: Text<'a>,
    /// The effect of its retirement as compromised; `None` if that has happened.
    retirement: Option<Text<'a>>,
    /// The number of access tokens and verifiers that the retirement affects, in words.
    touched: Text<'a>,
    in_terminal: InTerminal,
}

/// Renders the signing keys.
pub(crate) fn signing_keys(page: &SigningKeysPage<'_>) -> Response {
    let tokens = |key: &Key| live_tokens(key, page.live_tokens);
    let items = page.listed.iter().map(|(key, life)| KeyItem {
        kid: &key.kid,
        state: key.state.as_str(),
        state_in_words: in_words(key),
        created_at: key.created_at,
        next: next(key, &life, page.now),
        deletion: deletion(key, &life, page.now),
        live_tokens: tokens(key),
        retirement: (!key.compromised).then(|| retirement(key, page)),
        touched: readiness::touched(page.readiness, key, &tokens(key)),
        in_terminal: InTerminal::new(
            &format!("keys retire --compromised {}", quoted(&key.kid)),
            &format!(
                r#"--json '{{"compromised": true}}' {}"#,
                quoted(&format!("{}/{}/retirements", page.url, key.kid))
            ),
        ),
    });
    let deleted = page.deleted.iter().take(DELETED_ON_LINE);
    let on_line: Vec<_> = page.published.iter().rev().chain(deleted).collect();
    let lives: Vec<_> = on_line
        .iter()
        .map(|(key, life)| (*life, key.compromised))
        .collect();
    let (line, bars) = TimeLine::draw(&lives, page.now);
    let lanes = on_line.into_iter().zip(bars).map(|((key, _), bars)| Lane {
        kid: &key.kid,
        state: in_words(key),
        bars,
    });
    let settings = text::of("keys-settings")
        .with("lifetime", text::duration(page.lifetime))
        .with("cached", text::duration(page.max_age));
    // The command lists the oldest key first by default.
    let order = ("order", page.query.order().as_str().to_owned());
    let state = page.query.state.map(|state| ("state", state.as_str().to_owned()));
    let list_command = format!("keys list{}", super::options(state.iter().chain([&order])));
    let list_url = page.query.page.url(page.url, None, Direction::Next);
    let template = SigningKeysTemplate {
        form: page.form,
        news: news(page),
        line,
        lanes: lanes.collect(),
        rotation: rotation(page),
        readiness: ReadinessPart::new(page.readiness, page.url, page.now),
        state: page.query.state.map(State::as_str),
        orders: orders(page.query.order(), by_time),
        keys: items.collect(),
        links: &page.links,
        sign_in: page.sign_in.as_deref(),
        settings,
        jwks_url: page.jwks_url,
        in_terminal: InTerminal::new(&list_command, &quoted(&list_url)),
        now: page.now,
    };
    render_in_tab("keys", &text::of("keys").plain(), &template)
}

/// Returns the changes that happened just now.
fn news<'a>(page: &SigningKeysPage<'a>) -> Vec<News<'a>> {
    let keys = page.published.iter().chain(page.deleted.iter());
    let changes = keys.filter_map(|(key, _)| {
        let (text, at, lifetime) = match key.state {
            State::Deleted if key.compromised => (
                text::of("keys-news-compromised"),
                key.deleted_at?,
                REFUSALS_LIFETIME,
            ),
            State::Active => (text::of("keys-news-active"), key.activated_at?, NEWS_LIFETIME),
            State::Staged | State::Retired | State::Deleted => return None,
        };
        (page.now.since(at) < lifetime).then(|| News {
            text: text.with("kid", &key.kid).since("time", at, page.now),
            is_warning: key.compromised,
            refusals: readiness::refusals(page.readiness, key),
        })
    });
    changes.collect()
}

/// Returns the effect of the retirement of a compromised key.
fn retirement<'a>(key: &'a Key, page: &SigningKeysPage<'_>) -> Text<'a> {
    let staged = keys::in_state(page.published.keys, State::Staged);
    let is_known = staged.is_some_and(|staged| staged.sign_after <= page.now);
    let text = match key.state {
        State::Staged => text::of("keys-effect-staged"),
        State::Active if is_known => text::of("keys-effect-active"),
        State::Active => text::of("keys-effect-active-early"),
        State::Retired => text::of("keys-effect-retired"),
        State::Deleted => text::of("keys-effect-deleted"),
    };
    text.with("kid", &key.kid)
        .with("wait", text::duration(page.max_age))
}

fn rotation<'a>(page: &SigningKeysPage<'a>) -> Rotation<'a> {
    let in_state = |state| keys::in_state(page.published.keys, state);
    let staged = match in_state(State::Staged) {
        _ if page.clock_differs => return Rotation::NotYet(text::of("keys-clock-differs")),
        None => return Rotation::NotYet(text::of("keys-none-staged")),
        Some(staged) if staged.sign_after > page.now => {
            let text = text::of("keys-rotation-later");
            return Rotation::NotYet(text.until("time", staged.sign_after, page.now));
        }
        Some(staged) => staged,
    };
    let effect = match in_state(State::Active) {
        Some(active) => text::of("keys-effect-rotation").with("active", &active.kid),
        None => text::of("keys-effect-first-rotation"),
    };
    let is_risky = page.readiness.require_all().is_err();
    let to_confirm = is_risky.then(|| page.readiness.unready_hash());
    let command = match is_risky {
        false => "keys rotate",
        true => "keys rotate --yes",
    };
    Rotation::Possible {
        staged: &staged.kid,
        effect: effect.with("staged", &staged.kid),
        unready: readiness::unready(page.readiness, page.now),
        further_unready: page.readiness.unready().len().saturating_sub(readiness::SHOWN) as u64,
        to_confirm,
        in_terminal: InTerminal::new(command, &format!("-X POST {}/rotations", page.url)),
    }
}
