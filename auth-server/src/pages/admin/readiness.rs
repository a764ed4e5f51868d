//! The parts of the page of the signing keys that tell who has the next key, and who refuses the tokens of a
//! compromised one.

use super::InTerminal;
use super::dashboard::milliseconds;
use crate::pages::text;
use crate::pages::text::Text;
use access_tokens::verifiers::{Kind, KnownVerifier};
use foundation::clock::Timestamp;
use issuer::keys::{Key, Readiness, Refusal, Share};
use std::time::Duration;

/// The largest number of verifiers that the page shows.
pub(super) const SHOWN: usize = 20;
/// The time from which on a refusal is not told in milliseconds.
const LONG: Duration = Duration::from_secs(10);

/// The part of the page that shows which verifiers have the staged key.
pub(super) struct ReadinessPart<'a> {
    pub(super) shares: Vec<Text<'a>>,
    pub(super) verifiers: Vec<VerifierItem<'a>>,
    /// The number of verifiers that are not shown.
    pub(super) further: u64,
    /// Whether the issuer may have forgotten a verifier that lacks the staged key.
    pub(super) may_miss_unready: bool,
    pub(super) in_terminal: InTerminal,
}

/// A verifier of tokens.
pub(super) struct VerifierItem<'a> {
    pub(super) name: &'a str,
    /// The user agent, or what the verifier is.
    pub(super) description: Text<'a>,
    pub(super) has_staged_key: bool,
    /// Whether it is a client that fetched the key set last with an `If-None-Match`, as a cache does.
    pub(super) revalidates: bool,
    /// The time since it was seen last.
    pub(super) seen: Text<'a>,
}

impl<'a> ReadinessPart<'a> {
    /// Describes the verifiers. `url` is that of the list of keys.
    pub(super) fn new(readiness: &'a Readiness, url: &str, now: Timestamp) -> Self {
        let share = |text: Text<'a>, share: Share| {
            text.count("ready", share.ready as u64)
                .count("all", share.all as u64)
        };
        let unready = readiness.unready().len();
        let verifiers = readiness.verifiers.iter().enumerate().take(SHOWN);
        Self {
            shares: match readiness.staged {
                None => vec![text::of("keys-none-staged")],
                Some(_) => vec![
                    share(text::of("verifiers-api"), readiness.api),
                    share(text::of("verifiers-clients"), readiness.clients),
                ],
            },
            verifiers: verifiers
                .map(|(n, verifier)| item(verifier, readiness.staged.is_some() && n >= unready, now))
                .collect(),
            further: readiness.verifiers.len().saturating_sub(SHOWN) as u64,
            may_miss_unready: readiness.may_miss_unready(),
            in_terminal: InTerminal::new("keys verifiers", &format!("{url}/verifiers")),
        }
    }
}

/// Describes the verifiers that lack the staged key, as many as the page shows.
pub(super) fn unready(readiness: &Readiness, now: Timestamp) -> Vec<VerifierItem<'_>> {
    let unready = readiness.unready().iter().take(SHOWN);
    unready.map(|verifier| item(verifier, false, now)).collect()
}

/// Tells what the retirement of a key as compromised touches. `live_tokens` is the text about their number.
pub(super) fn touched<'a>(readiness: &Readiness, key: &Key, live_tokens: &Text<'_>) -> Text<'a> {
    let holders = |kind| readiness.count_holders(kind, &key.kid) as u64;
    text::of("keys-touched")
        .with("tokens", live_tokens.plain())
        .count("api", holders(Kind::Api))
        .count("clients", holders(Kind::Client))
}

/// Tells whether the replicas of the API refuse the tokens of a key, if it is compromised.
pub(super) fn refusals<'a>(readiness: &'a Readiness, key: &Key) -> Vec<Text<'a>> {
    let refusals = readiness.refusals(key);
    let further = refusals.len().saturating_sub(SHOWN) as u64;
    let shown = refusals.into_iter().take(SHOWN).map(|(refusal, name)| {
        let text = match refusal {
            Refusal::Unconfirmed => text::of("key-refusal-unconfirmed"),
            Refusal::Within(time) if time < LONG => {
                let millis = time.as_micros().div_ceil(1_000);
                let millis = u64::try_from(millis).unwrap_or_default();
                text::of("key-refusal-within").with("time", milliseconds(millis))
            }
            Refusal::Within(time) => text::of("key-refusal-within").with("time", text::duration(time)),
            Refusal::WithoutKey => text::of("key-refusal-without-key"),
        };
        text.with("name", name)
    });
    let further = (further > 0).then(|| text::of("verifiers-further").count("n", further));
    shown.chain(further).collect()
}

fn item(verifier: &KnownVerifier, has_staged_key: bool, now: Timestamp) -> VerifierItem<'_> {
    let seen = match verifier.silent {
        true => text::of("verifier-silent"),
        false => text::of("ago"),
    };
    VerifierItem {
        name: &verifier.name,
        description: match (verifier.kind, verifier.user_agent.as_str()) {
            (Kind::Api, _) => text::of("verifier-api"),
            (Kind::Client, "") => text::of("verifier-without-user-agent"),
            (Kind::Client, user_agent) => text::of("verifier-client").with("agent", user_agent),
        },
        has_staged_key,
        revalidates: verifier.kind == Kind::Client && verifier.revalidates,
        seen: seen.since("time", verifier.seen_at, now),
    }
}
