//! The counts of a time, and what they tell of durations.

/// The columns of the table: those of [`Figure`] in its order, and those of the durations of each [`Timing`].
pub(super) const COLUMNS: [&str; 31] = [
    "requests",
    "client_errors",
    "server_errors",
    "sign_ins",
    "failed_sign_ins",
    "code_grants",
    "refresh_grants",
    "service_grants",
    "device_grants",
    "reuse_alerts",
    "refused_hashes",
    "lag_5ms",
    "lag_10ms",
    "lag_25ms",
    "lag_50ms",
    "lag_100ms",
    "lag_250ms",
    "lag_500ms",
    "lag_1s",
    "lag_5s",
    "lag_longer",
    "wait_5ms",
    "wait_10ms",
    "wait_25ms",
    "wait_50ms",
    "wait_100ms",
    "wait_250ms",
    "wait_500ms",
    "wait_1s",
    "wait_5s",
    "wait_longer",
];

/// The longest durations of the columns of a timing but the last, in milliseconds.
const BOUNDS: [u64; 9] = [5, 10, 25, 50, 100, 250, 500, 1_000, 5_000];
/// The number of columns of a timing.
const BUCKETS: usize = BOUNDS.len() + 1;

/// Something that is counted. The value of each is the position of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Responses, without those to health checks.
    Requests,
    /// Responses with a status of 400 to 499 among them.
    ClientErrors,
    /// Responses with a status of 500 or above among them.
    ServerErrors,
    /// Sign-ins of users.
    SignIns,
    /// Sign-ins that failed.
    FailedSignIns,
    /// Exchanges of authorization codes.
    CodeGrants,
    /// Refreshes of tokens.
    RefreshGrants,
    /// Grants of client credentials.
    ServiceGrants,
    /// Exchanges of device codes.
    DeviceGrants,
    /// Uses of a code or a refresh token that was used before, each of which raises an alert or repeats one.
    ReuseAlerts,
    /// Passwords that were not hashed, because too many others were.
    RefusedHashes,
}

/// Something whose durations are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// From the request that revokes until the revocation takes effect in a process, once for each process.
    RevocationLag,
    /// The time for which a password waits to be hashed.
    HashingWait,
}

/// A count for each column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(pub(super) [u64; COLUMNS.len()]);

impl Figure {
    /// Returns the position of the column.
    pub(super) const fn column(self) -> usize {
        self as usize
    }
}

impl Timing {
    /// Returns the position of the first column.
    const fn first_column(self) -> usize {
        let figures = Figure::RefusedHashes.column() + 1;
        figures + self as usize * BUCKETS
    }

    /// Returns the position of the column of a duration in milliseconds.
    pub(super) fn column(self, duration: u64) -> usize {
        self.first_column() + BOUNDS.partition_point(|bound| *bound < duration)
    }
}

impl Counts {
    /// Makes the counts of the values that `read` returns for the positions of the columns. A negative value
    /// counts as 0.
    pub(super) fn read<E>(read: impl Fn(usize) -> Result<i64, E>) -> Result<Self, E> {
        let mut counts = Self::default();
        for (column, count) in counts.0.iter_mut().enumerate() {
            *count = u64::try_from(read(column)?).unwrap_or_default();
        }
        Ok(counts)
    }

    /// Returns the values of the columns.
    pub(super) fn for_database(&self) -> impl Iterator<Item = i64> {
        self.0
            .iter()
            .map(|count| i64::try_from(*count).unwrap_or(i64::MAX))
    }

    /// Returns whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// Adds the counts of another time.
    pub fn add(&mut self, other: &Self) {
        for (count, further) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(further);
        }
    }

    /// Returns the count of this figure.
    pub fn of(&self, figure: Figure) -> u64 {
        self.0[figure.column()]
    }

    /// Returns the number of durations of this timing.
    pub fn timed(&self, timing: Timing) -> u64 {
        self.buckets(timing).iter().sum()
    }

    /// Returns the time in milliseconds within which `percent` of a hundred durations were, or `None` if
    /// there is none. Within a column it interpolates, as `histogram_quantile` of Prometheus does. 5,000
    /// stands for all longer durations.
    pub fn percentile(&self, timing: Timing, percent: u64) -> Option<u64> {
        let rank = (self.timed(timing) * percent).div_ceil(100);
        if rank == 0 {
            return None;
        }
        let (mut before, mut lower) = (0, 0);
        for (count, upper) in self.buckets(timing).iter().zip(BOUNDS) {
            if before + count >= rank {
                return Some(lower + (upper - lower) * (rank - before) / count);
            }
            before += count;
            lower = upper;
        }
        Some(lower)
    }

    fn buckets(&self, timing: Timing) -> &[u64] {
        let first = timing.first_column();
        &self.0[first..first + BUCKETS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lags(durations: &[u64]) -> Counts {
        let mut counts = Counts::default();
        for duration in durations {
            counts.0[Timing::RevocationLag.column(*duration)] += 1;
        }
        counts
    }

    #[test]
    fn each_duration_is_in_the_column_with_its_name() {
        for (duration, column) in [
            (0, "lag_5ms"),
            (5, "lag_5ms"),
            (6, "lag_10ms"),
            (1_000, "lag_1s"),
            (5_000, "lag_5s"),
            (5_001, "lag_longer"),
            (u64::MAX, "lag_longer"),
        ] {
            assert_eq!(
                COLUMNS[Timing::RevocationLag.column(duration)],
                column,
                "{duration}"
            );
        }
        assert_eq!(COLUMNS[Timing::HashingWait.column(0)], "wait_5ms");
        assert_eq!(Timing::HashingWait.column(u64::MAX), COLUMNS.len() - 1);
        assert_eq!(COLUMNS[Figure::RefusedHashes.column()], "refused_hashes");
    }

    #[test]
    fn a_percentile_is_interpolated_within_its_column() {
        let percentiles = |durations: &[u64]| {
            let counts = lags(durations);
            [50, 99].map(|percent| counts.percentile(Timing::RevocationLag, percent))
        };
        assert_eq!(percentiles(&[]), [None, None]);
        assert_eq!(percentiles(&[3]), [Some(5), Some(5)]);
        // Two of four between 50 and 100 ms: the second is at the end of the first column, the fourth at that
        // of the other.
        assert_eq!(percentiles(&[1, 1, 60, 60]), [Some(5), Some(100)]);
        assert_eq!(percentiles(&[60, 60, 60, 60]), [Some(75), Some(100)]);
        assert_eq!(percentiles(&[9_000]), [Some(5_000), Some(5_000)]);
        assert_eq!(lags(&[1]).percentile(Timing::HashingWait, 50), None);
        let mut hundred = lags(&[1; 99]);
        hundred.add(&lags(&[400]));
        assert_eq!(hundred.percentile(Timing::RevocationLag, 99), Some(5));
        assert_eq!(hundred.percentile(Timing::RevocationLag, 100), Some(500));
        assert_eq!(hundred.timed(Timing::RevocationLag), 100);
    }
}
