//! The figures for administrators: what all processes counted, and the age of the signing key.

use crate::keys::life::{self, SigningTime};
use audit::figures::{self, Counts, Figure, Series, Timing, Window};
use foundation::clock::Timestamp;
use serde::Serialize;
use storage::db::{Db, Error};
use utoipa::ToSchema;

/// The figures of a window, which ends with the last minute that has ended.
#[derive(Debug, Serialize, ToSchema)]
pub struct Figures {
    /// The window.
    pub window: Window,
    /// The length of a period in seconds.
    pub step: u64,
    /// The figures of all periods together.
    pub total: Values,
    /// The periods, the oldest first.
    pub periods: Vec<Period>,
    /// The end of the last period.
    #[serde(skip)]
    pub end: Timestamp,
    /// The seconds for which the key that signs now has signed; `None` if none does.
    #[serde(skip)]
    pub key_age: Option<u64>,
    /// Whether nothing was counted.
    #[serde(skip)]
    pub is_empty: bool,
}

/// A period of a window.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FiguresPeriod)]
pub struct Period {
    /// The begin of the period.
    pub at: Timestamp,
    /// The figures.
    pub values: Values,
    /// The seconds for which the key that signed at the end of the period had signed by then; null if none
    /// signed.
    #[schema(required)]
    pub key_age: Option<u64>,
}

/// The counts of all processes in a time.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FiguresValues)]
pub struct Values {
    /// Responses, without those to health checks.
    pub requests: u64,
    /// Those among them with a status of 400 to 499.
    pub client_errors: u64,
    /// Those among them with a status of 500 or above.
    pub server_errors: u64,
    /// Sign-ins of users.
    pub sign_ins: u64,
    /// Sign-ins that failed. Failures that repeat are counted when their minute has ended.
    pub failed_sign_ins: u64,
    /// Token responses by grant type.
    pub grants: GrantCounts,
    /// Uses of a code or a refresh token that was used before, each of which raises an alert or repeats one.
    pub reuse_alerts: u64,
    /// The time from the request that revokes until a process refuses the tokens, measured in each process.
    pub revocation_lag: Durations,
    /// The time for which passwords waited to be hashed.
    pub hashing_wait: Durations,
    /// Passwords that were not hashed, because too many others were.
    pub refused_hashes: u64,
}

/// The token responses by grant type.
#[derive(Debug, Serialize, ToSchema)]
pub struct GrantCounts {
    /// Exchanges of authorization codes.
    pub authorization_code: u64,
    /// Refreshes.
    pub refresh_token: u64,
    /// Grants of client credentials to services.
    pub client_credentials: u64,
    /// Exchanges of device codes.
    pub device_code: u64,
}

/// The durations of something that was measured several times.
#[derive(Debug, Serialize, ToSchema)]
pub struct Durations {
    /// The number of measurements.
    pub count: u64,
    /// The milliseconds within which half of them were; null if there is none. Interpolated; 5000 stands for
    /// all longer times.
    #[schema(required)]
    pub p50: Option<u64>,
    /// The milliseconds within which 99 of 100 were.
    #[schema(required)]
    pub p99: Option<u64>,
}

impl Figures {
    fn of(window: Window, series: &Series, signing: &[SigningTime], now: Timestamp) -> Self {
        let mut total = Counts::default();
        let key_age = |at| life::signed_for(signing, at).map(|age| age.as_secs());
        let mut begin = series.begin;
        let mut periods = Vec::with_capacity(series.periods.len());
        for counts in &series.periods {
            let end = begin.after(window.step());
            periods.push(Period {
                at: begin,
                values: Values::of(counts),
                key_age: key_age(end),
            });
            total.add(counts);
            begin = end;
        }
        Self {
            window,
            step: window.step().as_secs(),
            total: Values::of(&total),
            periods,
            end: begin,
            key_age: key_age(now),
            is_empty: total.is_empty(),
        }
    }
}

impl Values {
    fn of(counts: &Counts) -> Self {
        Self {
            requests: counts.of(Figure::Requests),
            client_errors: counts.of(Figure::ClientErrors),
            server_errors: counts.of(Figure::ServerErrors),
            sign_ins: counts.of(Figure::SignIns),
            failed_sign_ins: counts.of(Figure::FailedSignIns),
            grants: GrantCounts {
                authorization_code: counts.of(Figure::CodeGrants),
                refresh_token: counts.of(Figure::RefreshGrants),
                client_credentials: counts.of(Figure::ServiceGrants),
                device_code: counts.of(Figure::DeviceGrants),
            },
            reuse_alerts: counts.of(Figure::ReuseAlerts),
            revocation_lag: Durations::of(counts, Timing::RevocationLag),
            hashing_wait: Durations::of(counts, Timing::HashingWait),
            refused_hashes: counts.of(Figure::RefusedHashes),
        }
    }
}

impl Durations {
    fn of(counts: &Counts, timing: Timing) -> Self {
        Self {
            count: counts.timed(timing),
            p50: counts.percentile(timing, 50),
            p99: counts.percentile(timing, 99),
        }
    }
}

/// Returns the figures of a window. Fails if the database does.
pub async fn read(db: &Db, window: Window, now: Timestamp) -> Result<Figures, Error> {
    let series = figures::read(db, window, now).await?;
    let signing = life::signing_times(db, series.begin).await?;
    Ok(Figures::of(window, &series, &signing, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foundation::duration;
    use std::time::Duration;

    #[test]
    fn a_window_is_as_long_as_its_periods_and_a_new_key_has_an_age() {
        let now = Timestamp::from_micros(1_000_000_000);
        let signing = [SigningTime {
            began: now.before(Duration::from_secs(20)),
            ended: None,
        }];
        for (window, words) in [
            (Window::Hour, "1 hour"),
            (Window::Day, "24 hours"),
            (Window::Week, "7 days"),
        ] {
            let series = Series {
                begin: Timestamp::from_micros(0),
                periods: vec![Counts::default(); usize::from(window.periods())],
            };
            let figures = Figures::of(window, &series, &signing, now);
            let length = figures.end.since(figures.periods[0].at);
            assert_eq!(duration::in_words(length), words);
            assert_eq!(figures.key_age, Some(20));
        }
    }
}
