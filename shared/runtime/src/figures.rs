//! Counts the figures of administrators, which the processes store together: a layer of the log, like the metrics, but one that every server
//! has. It sees every request, so it allocates nothing and looks up no label.

use audit::alerts::AlertKind;
use audit::events::EventName;
use audit::figures::{Counters, Figure, Timing};
use foundation::log::{ACCESS, ALERT, GRANT, HASHING, REVOCATION, SECURITY, field};
use std::fmt::Debug;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::Context;
use web::health;

/// The targets of the lines that are counted.
const TARGETS: [&str; 6] = [ACCESS, SECURITY, ALERT, GRANT, REVOCATION, HASHING];
/// The greatest detail of these lines.
pub(crate) const LEVEL: LevelFilter = LevelFilter::DEBUG;

const SIGNED_IN: &str = EventName::LoginSuccess.as_str();
const SIGN_IN_FAILED: &str = EventName::LoginFail.as_str();
const REFRESH_REUSE: &str = AlertKind::RefreshReuse.as_str();
const CODE_REUSE: &str = AlertKind::CodeReuse.as_str();
/// The grant type of RFC 8628 §3.4.
const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The layer that counts.
#[derive(Clone, Debug)]
pub(crate) struct FigureLayer(pub(crate) Counters);

/// Returns whether the lines of a place in the code are counted.
pub(crate) fn is_counted(metadata: &Metadata<'_>) -> bool {
    TARGETS.contains(&metadata.target())
}

impl<S: Subscriber> Layer<S> for FigureLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        line.count(&self.0);
    }
}

/// What a line tells.
#[derive(Default)]
struct Line {
    figure: Option<Figure>,
    /// The number of security events, if it is more than one.
    count: Option<u64>,
    /// The status of a response.
    status: Option<u64>,
    is_health_check: bool,
    lag: Option<Duration>,
    wait: Option<Duration>,
    is_refused: bool,
}

impl Line {
    fn count(&self, counters: &Counters) {
        if let Some(figure) = self.figure {
            counters.count(figure, self.count.unwrap_or(1));
        }
        if let Some(status) = self.status.filter(|_| !self.is_health_check) {
            counters.count(Figure::Requests, 1);
            match status {
                400..500 => counters.count(Figure::ClientErrors, 1),
                500.. => counters.count(Figure::ServerErrors, 1),
                _ => {}
            }
        }
        if let Some(lag) = self.lag {
            counters.time(Timing::RevocationLag, lag);
        }
        match self.wait {
            Some(_) if self.is_refused => counters.count(Figure::RefusedHashes, 1),
            Some(wait) => counters.time(Timing::HashingWait, wait),
            None => {}
        }
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        let figure = match (field.name(), value) {
            (field::EVENT, SIGNED_IN) => Figure::SignIns,
            (field::EVENT, SIGN_IN_FAILED) => Figure::FailedSignIns,
            (field::KIND, REFRESH_REUSE | CODE_REUSE) => Figure::ReuseAlerts,
            (field::GRANT_TYPE, "authorization_code") => Figure::CodeGrants,
            (field::GRANT_TYPE, "refresh_token") => Figure::RefreshGrants,
            (field::GRANT_TYPE, "client_credentials") => Figure::ServiceGrants,
            (field::GRANT_TYPE, DEVICE_CODE) => Figure::DeviceGrants,
            (field::ROUTE, route) => {
                self.is_health_check = health::PATHS.contains(&route);
                return;
            }
            _ => return,
        };
        self.figure = Some(figure);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        if field.name() == field::COUNT {
            self.count = u64::try_from(value).ok();
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            field::STATUS => self.status = Some(value),
            field::LAG_US => self.lag = Some(Duration::from_micros(value)),
            field::WAIT_US => self.wait = Some(Duration::from_micros(value)),
            _ => {}
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if field.name() == field::REFUSED {
            self.is_refused = value;
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::filter::filter_fn;
    use tracing_subscriber::layer::SubscriberExt as _;

    #[test]
    fn lines_are_counted_by_their_fields() {
        let counters = Counters::default();
        let log = tracing_subscriber::registry();
        let log = log.with(FigureLayer(counters.clone()).with_filter(filter_fn(is_counted)));
        tracing::subscriber::with_default(log, || {
            for (route, status) in [
                (Some("/posts"), 200_u16),
                (Some("/posts/{id}"), 404),
                (None, 404),
                (Some("/token"), 503),
                (Some("/livez"), 200),
                (Some("/readyz"), 503),
            ] {
                tracing::info!(target: ACCESS, method = "GET", route, status, duration_us = 1_500_u64);
            }
            tracing::info!(target: SECURITY, event = SIGNED_IN, outcome = "success", user_id = 7);
            tracing::info!(target: SECURITY, event = SIGN_IN_FAILED, outcome = "failure", count = Some(41_i64));
            tracing::info!(target: SECURITY, event = "authz_fail", outcome = "failure", count = Some(9_i64));
            tracing::error!(target: ALERT, kind = String::from(CODE_REUSE));
            tracing::error!(target: ALERT, kind = String::from("lockout_burst"));
            for grant_type in ["refresh_token", "refresh_token", DEVICE_CODE, "other"] {
                tracing::debug!(target: GRANT, grant_type);
            }
            tracing::debug!(target: REVOCATION, lag_us = 7_000_u64);
            tracing::debug!(target: HASHING, wait_us = 1_u64, refused = false);
            tracing::debug!(target: HASHING, wait_us = 1_000_000_u64, refused = true);
            tracing::error!(event = SIGNED_IN, "a security event is lost");
        });
        let counts = counters.take();
        for (figure, expected) in [
            (Figure::Requests, 4),
            (Figure::ClientErrors, 2),
            (Figure::ServerErrors, 1),
            (Figure::SignIns, 1),
            (Figure::FailedSignIns, 41),
            (Figure::ReuseAlerts, 1),
            (Figure::CodeGrants, 0),
            (Figure::RefreshGrants, 2),
            (Figure::ServiceGrants, 0),
            (Figure::DeviceGrants, 1),
            (Figure::RefusedHashes, 1),
        ] {
            assert_eq!(counts.of(figure), expected, "{figure:?}");
        }
        assert_eq!(counts.percentile(Timing::RevocationLag, 50), Some(10));
        assert_eq!(counts.timed(Timing::HashingWait), 1);
        assert!(counters.take().is_empty());
    }
}
