//! The result of a drill.

use crate::endpoint::{Endpoint, Failure, Kind};
use crate::load::{Load, SEEN_TIMEOUT};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The percentage of the calls at the rate of the drill that each API must answer.
const LEAST_PERCENTAGE_ANSWERED: u64 = 90;

/// The report of a drill.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Whether no problem was found.
    passed: bool,
    /// The problems, each in a sentence that names the endpoint.
    pub problems: Vec<String>,
    /// The length of the drill in seconds.
    seconds: u64,
    /// The rotations, in order.
    rotations: Vec<Rotation>,
    /// The endpoints of the replicas.
    endpoints: Vec<EndpointReport>,
}

/// One rotation.
#[derive(Debug, Serialize)]
pub(crate) struct Rotation {
    /// The key that was active before.
    from: Option<String>,
    /// The key that is active since.
    to: String,
    /// For each endpoint, the time in milliseconds from the rotation until it showed the new key: until an
    /// issuer signed with it, or until an API accepted a token that it signed. Negative for a key set that
    /// contained it before. Null if the key was not shown in time.
    shown_after_ms: BTreeMap<String, Option<i64>>,
}

/// The counts of one endpoint.
#[derive(Debug, Serialize)]
struct EndpointReport {
    endpoint: String,
    requests: u64,
    ok: u64,
    false_401: u64,
    /// The number of other failures by kind.
    failures: BTreeMap<Failure, u64>,
    /// The reason of the last failure of any kind.
    last_failure: Option<String>,
    /// The keys that the endpoint showed.
    kids: Vec<String>,
    /// The median latency of successful requests, rounded up by an eighth at most.
    p50_ms: Option<f64>,
    /// The latency that 99 % of the successful requests did not exceed, rounded up by an eighth at most.
    p99_ms: Option<f64>,
}

impl Report {
    /// Builds the report of a load that ran for the time `took`. `ended_early` says why there were fewer
    /// rotations than wanted, if the reason is not a refused token.
    pub(crate) fn new(
        load: &Load,
        rotations: Vec<Rotation>,
        took: Duration,
        ended_early: Option<String>,
    ) -> Self {
        let wanted = u64::from(load.requests_per_second) * took.as_secs();
        let wanted = wanted / u64::try_from(load.apis.len()).unwrap_or(u64::MAX).max(1);
        let mut problems: Vec<String> = ended_early.into_iter().collect();
        let mut endpoints = Vec::new();
        for endpoint in load.endpoints() {
            let report = EndpointReport::new(endpoint);
            problems.extend(report.problems(&rotations));
            let least = wanted * LEAST_PERCENTAGE_ANSWERED / 100;
            if endpoint.kind() == Kind::Api && report.ok < least {
                problems.push(format!(
                    "{} answered {} calls with 200, of at least {least} at the rate of this drill",
                    report.endpoint, report.ok
                ));
            }
            endpoints.push(report);
        }
        Self {
            passed: problems.is_empty(),
            problems,
            seconds: took.as_secs(),
            rotations,
            endpoints,
        }
    }

    /// Returns the report as a table, for people.
    pub fn lines(&self) -> Vec<String> {
        let width = self.endpoints.iter().map(|report| report.endpoint.len()).max();
        let width = width.unwrap_or_default();
        let mut lines = vec![format!(
            "{:width$}  requests        ok  false 401  other failures  keys   p50 ms   p99 ms",
            "endpoint"
        )];
        for report in &self.endpoints {
            lines.push(report.line(width));
            let failures = report.last_failure.as_ref();
            lines.extend(failures.map(|reason| format!("{:width$}  last failure: {reason}", "")));
        }
        let result = if self.passed { "passed" } else { "FAILED" };
        let rotations = self.rotations.len();
        lines.push(format!("{result}: {rotations} rotations in {} s", self.seconds));
        lines
    }
}

impl Rotation {
    /// Describes the rotation from one key to another, after every endpoint had time to show the new key.
    pub(crate) fn new(load: &Load, from: Option<String>, to: String, rotated_at: Instant) -> Self {
        let shown_after_ms = load
            .endpoints()
            .map(|endpoint| {
                let shown_at = endpoint.counts().kids.get(&to).copied();
                (endpoint.name(), shown_at.map(|at| millis_between(rotated_at, at)))
            })
            .collect();
        Self {
            from,
            to,
            shown_after_ms,
        }
    }

    /// Returns the rotation in one line.
    pub(crate) fn line(&self) -> String {
        let shown = self.shown_after_ms.iter().map(|(endpoint, after)| match after {
            Some(after) => format!("{endpoint} {after} ms"),
            None => format!("{endpoint} never"),
        });
        let shown: Vec<String> = shown.collect();
        let from = self.from.as_deref().unwrap_or("no key");
        format!("{from} -> {}; shown by {}", self.to, shown.join(", "))
    }
}

impl EndpointReport {
    fn new(endpoint: &Endpoint) -> Self {
        let counts = endpoint.counts();
        let mut failures = counts.failures.clone();
        let false_401 = match endpoint.kind() {
            Kind::Api => failures.remove(&Failure::Unauthorized).unwrap_or_default(),
            Kind::Token | Kind::KeySet => 0,
        };
        let millis = |percent| {
            let latency = counts.latencies.percentile(percent);
            latency.map(|latency| latency.as_secs_f64() * 1_000.0)
        };
        Self {
            endpoint: endpoint.name(),
            requests: counts.requests(),
            ok: counts.ok,
            false_401,
            failures,
            last_failure: counts.last_failure.clone(),
            kids: counts.kids.keys().cloned().collect(),
            p50_ms: millis(50),
            p99_ms: millis(99),
        }
    }

    /// Returns the problems of this endpoint.
    fn problems(&self, rotations: &[Rotation]) -> Vec<String> {
        let mut problems = Vec::new();
        let name = &self.endpoint;
        if self.false_401 > 0 {
            problems.push(format!("{name} refused {} valid tokens with 401", self.false_401));
        }
        if let Some(limited) = self.failures.get(&Failure::RateLimited) {
            problems.push(format!(
                "{name} refused {limited} requests with 429: lower --requests-per-second, or raise RATE_LIMIT_READS and \
                 RATE_LIMIT_ADDRESS for the drill"
            ));
        }
        let never = |rotation: &&Rotation| matches!(rotation.shown_after_ms.get(name), Some(None));
        if let Some(rotation) = rotations.iter().find(never) {
            problems.push(format!(
                "{name} did not show the key {} within {} s",
                rotation.to,
                SEEN_TIMEOUT.as_secs()
            ));
        }
        problems
    }

    /// Returns the counts as a line of the table.
    fn line(&self, width: usize) -> String {
        let millis = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
        format!(
            "{:width$}  {:>8}  {:>8}  {:>9}  {:>14}  {:>4}  {:>7}  {:>7}",
            self.endpoint,
            self.requests,
            self.ok,
            self.false_401,
            self.failures.values().sum::<u64>(),
            self.kids.len(),
            millis(self.p50_ms),
            millis(self.p99_ms)
        )
    }
}

/// Returns the time from `start` to `end` in milliseconds, negative if `end` is earlier.
fn millis_between(start: Instant, end: Instant) -> i64 {
    let millis = |length: Duration| i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
    match end.checked_duration_since(start) {
        Some(after) => millis(after),
        None => -millis(start.duration_since(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ServiceClient;
    use crate::token::Pool;
    use foundation::secret::Secret;
    use std::sync::Arc;
    use url::Url;

    /// A load of two APIs, each of which has answered all calls.
    fn answered_load() -> Load {
        let api = |url: &str| {
            let api = Endpoint::new(Kind::Api, &Url::parse(url).unwrap()).unwrap();
            api.counts().ok = 1_000;
            Arc::new(api)
        };
        Load {
            tokens_of: Vec::new(),
            key_sets_of: Vec::new(),
            apis: vec![api("http://127.0.0.1:1"), api("http://127.0.0.1:2")],
            requests_per_second: 100,
            pool: Pool::default(),
            client: ServiceClient {
                id: "drill".to_owned(),
                secret: Secret::new("secret"),
            },
            is_over: true.into(),
        }
    }

    fn report(load: &Load) -> Report {
        Report::new(load, Vec::new(), Duration::from_secs(10), None)
    }

    #[test]
    fn one_false_401_fails_a_drill() {
        let load = answered_load();
        assert!(report(&load).passed);
        let failures = [(Failure::Unauthorized, 1)];
        load.apis[1].counts().failures.extend(failures);
        let failed = report(&load);
        assert!(!failed.passed);
        assert_eq!(
            failed.problems,
            ["GET http://127.0.0.1:2/protected refused 1 valid tokens with 401"]
        );
    }
}
