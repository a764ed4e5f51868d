//! The rules of tokens, without the product.

use foundation::clock::Timestamp;
use std::time::Duration;

const ACCESS_TOKEN: Duration = Duration::from_secs(600);
const IDLE: Duration = Duration::from_secs(14 * 24 * 3600);
const ABSOLUTE: Duration = Duration::from_secs(30 * 24 * 3600);
/// The retry window of the app that has one.
pub(super) const RETRY_WINDOW: Duration = Duration::from_secs(60);
/// The model has no opinion so close to the end of a lifetime, because the clocks of both sides run on.
const MARGIN: Duration = Duration::from_secs(20);
/// The number of access tokens to compare.
const RECENT: usize = 8;

/// The state of a token in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Live,
    Dead,
    Unknown,
}

/// Everything that was issued.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) families: Vec<Family>,
    access_tokens: Vec<AccessToken>,
}

/// A family of refresh tokens.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) number: usize,
    pub(super) app: usize,
    pub(super) session: usize,
    /// By generation.
    pub(super) refresh_tokens: Vec<String>,
    begun_at: Timestamp,
    pub(super) refreshed_at: Timestamp,
    is_revoked: bool,
}

/// An access token.
#[derive(Debug)]
pub(super) struct AccessToken {
    pub(super) number: usize,
    pub(super) text: String,
    family: usize,
    issued_at: Timestamp,
    is_revoked: bool,
}

impl Model {
    /// A code was exchanged. Returns the number of the family.
    pub(super) fn begin(
        &mut self,
        app: usize,
        session: usize,
        refresh_token: String,
        now: Timestamp,
    ) -> usize {
        let number = self.families.len();
        self.families.push(Family {
            number,
            app,
            session,
            refresh_tokens: vec![refresh_token],
            begun_at: now,
            refreshed_at: now,
            is_revoked: false,
        });
        number
    }

    pub(super) fn issue(&mut self, family: usize, text: String, now: Timestamp) {
        let number = self.access_tokens.len();
        self.access_tokens.push(AccessToken {
            number,
            text,
            family,
            issued_at: now,
            is_revoked: false,
        });
    }

    /// A refresh token was used.
    pub(super) fn rotate(&mut self, family: usize, refresh_token: String, now: Timestamp) {
        let family = &mut self.families[family];
        family.refresh_tokens.push(refresh_token);
        family.refreshed_at = now;
    }

    /// Ends the families with a condition, and their access tokens.
    pub(super) fn end_families(&mut self, condition: impl Fn(&Family) -> bool) {
        let families = self.families.iter_mut().filter(|family| condition(family));
        families.for_each(|family| family.is_revoked = true);
    }

    /// Ends the latest access token alone. Returns it.
    pub(super) fn end_latest_access_token(&mut self) -> Option<String> {
        let token = self.access_tokens.last_mut()?;
        token.is_revoked = true;
        Some(token.text.clone())
    }

    /// The app to which the latest access token was issued.
    pub(super) fn app_of_latest_access_token(&self) -> Option<usize> {
        Some(self.families[self.access_tokens.last()?.family].app)
    }

    pub(super) fn recent_access_tokens(&self) -> impl Iterator<Item = &AccessToken> {
        self.access_tokens.iter().rev().take(RECENT)
    }

    pub(super) fn verdict(&self, token: &AccessToken, now: Timestamp) -> Verdict {
        match token.is_revoked || self.families[token.family].is_revoked {
            true => Verdict::Dead,
            false => lifetime(token.issued_at, ACCESS_TOKEN, now),
        }
    }

    pub(super) fn verdict_on_refresh(&self, family: &Family, now: Timestamp) -> Verdict {
        if family.is_revoked {
            return Verdict::Dead;
        }
        let ends = [(family.refreshed_at, IDLE), (family.begun_at, ABSOLUTE)];
        let verdicts = ends.map(|(since, length)| lifetime(since, length, now));
        match verdicts {
            [Verdict::Live, Verdict::Live] => Verdict::Live,
            verdicts if verdicts.contains(&Verdict::Dead) => Verdict::Dead,
            _ => Verdict::Unknown,
        }
    }

    /// The numbers of the families with a condition.
    pub(super) fn numbers_of(&self, condition: impl Fn(&Family) -> bool) -> Vec<usize> {
        let families = self.families.iter().filter(|family| condition(family));
        families.map(|family| family.number).collect()
    }

    pub(super) fn is_live(&self, family: &Family, now: Timestamp) -> bool {
        self.verdict_on_refresh(family, now) == Verdict::Live
    }

    /// Whether a family is live and has a former refresh token.
    pub(super) fn is_retry(&self, family: &Family, now: Timestamp) -> bool {
        family.refresh_tokens.len() > 1 && self.is_live(family, now)
    }

    /// Whether the former refresh token of a family gets its successor again; `None` close to the end of the
    /// window.
    pub(super) fn may_retry(&self, family: &Family, now: Timestamp) -> Option<bool> {
        match lifetime(family.refreshed_at, RETRY_WINDOW, now) {
            Verdict::Live => Some(true),
            Verdict::Dead => Some(false),
            Verdict::Unknown => None,
        }
    }
}

fn lifetime(since: Timestamp, length: Duration, now: Timestamp) -> Verdict {
    let age = now.since(since);
    if age + MARGIN < length {
        Verdict::Live
    } else if age > length + MARGIN {
        Verdict::Dead
    } else {
        Verdict::Unknown
    }
}
