//! Statistics of times, and their output.

use crate::http::Caller;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// The number of samples of which one must show that calls are not delayed.
const MAX_SAMPLES: usize = 3;
/// The time up to which the scheduler of a busy machine delays some calls.
const NEGLIGIBLE: Duration = Duration::from_millis(25);

/// Returns the two-sided p-value of the Mann–Whitney U test (normal approximation with tie and continuity
/// correction): the probability that two samples of one distribution differ in rank at least this much. Each
/// sample needs at least twenty values.
pub fn rank_test(left: &[Duration], right: &[Duration]) -> f64 {
    let mut all: Vec<(Duration, bool)> = left.iter().map(|value| (*value, true)).collect();
    all.extend(right.iter().map(|value| (*value, false)));
    all.sort();
    let (mut rank_sum, mut ties, mut below) = (0.0, 0.0, 0.0);
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let size = count(group.len());
        // Equal values share the mean of their ranks.
        let rank = below + (size + 1.0) / 2.0;
        rank_sum += rank * count(group.iter().filter(|(_, is_left)| *is_left).count());
        ties += size.powi(3) - size;
        below += size;
    }
    let (n, m) = (count(left.len()), count(right.len()));
    let u = rank_sum - n * (n + 1.0) / 2.0;
    let variance = n * m / 12.0 * ((n + m + 1.0) - ties / ((n + m) * (n + m - 1.0)));
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    complementary_error(z / std::f64::consts::SQRT_2)
}

/// The median, or the upper one of the two middle values. The sample must not be empty.
pub fn median(sample: &[Duration]) -> Duration {
    let mut sorted = sample.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2]
}

/// The 99th percentile. The sample must not be empty.
pub fn p99(sample: &[Duration]) -> Duration {
    let mut sorted = sample.to_vec();
    sorted.sort();
    sorted[sorted.len() * 99 / 100]
}

/// Calls a path 500 times, one call after the other. Fails the test if one is refused. Returns the 99th
/// percentile of the times.
pub async fn p99_of_calls(caller: &Caller, path: &str) -> Duration {
    let mut times = Vec::new();
    for _ in 0..500 {
        let began = Instant::now();
        caller.get(path).await.expect(200);
        times.push(began.elapsed());
    }
    p99(&times)
}

/// Expects that the 99th percentile of a client's calls is at most twice as long beside something else as
/// alone. `sample` measures both: alone, and beside `what`. A sample that is slower is repeated twice,
/// because another program may have slowed it down. Times under 25 ms count as equal.
pub async fn expect_p99_within_twice(what: &str, sample: impl AsyncFn() -> (Duration, Duration)) {
    let mut samples = Vec::new();
    while samples.len() < MAX_SAMPLES {
        let (alone, beside) = sample().await;
        print_figure(&format!(
            "p99 of calls: {alone:?} alone, {beside:?} beside {what}"
        ));
        if beside <= 2 * alone.max(NEGLIGIBLE) {
            return;
        }
        samples.push((alone, beside));
    }
    panic!("calls beside {what} take more than twice as long: p99 alone and beside {samples:?}");
}

/// Prints a figure that a test measured. The test runner captures the output of `eprintln!`, but not this
/// one.
pub fn print_figure(figure: &str) {
    let mut out = std::io::stderr();
    writeln!(out, "{figure}").unwrap();
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap())
}

/// erfc for x ≥ 0, to seven digits (Abramowitz and Stegun, 7.1.26).
fn complementary_error(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let factors = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let sum = factors.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    sum * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: u64, from: u64, step: u64) -> Vec<Duration> {
        (0..n).map(|i| Duration::from_micros(from + i * step)).collect()
    }

    #[test]
    fn equal_samples_do_not_differ_and_shifted_ones_do() {
        let even = sample(500, 0, 20);
        assert!(rank_test(&even, &sample(500, 10, 20)) > 0.5);
        assert!(rank_test(&even, &even) > 0.99);
        // A shift of a tenth of the range.
        assert!(rank_test(&even, &sample(500, 1_000, 20)) < 0.000_1);
        assert!(rank_test(&sample(30, 1_000_000, 1), &sample(30, 0, 1)) < 1e-9);
    }

    #[test]
    fn p_values_match_published_tables() {
        for (z, p) in [
            (0.0, 1.0),
            (1.0, 0.317_310_5),
            (1.959_964, 0.05),
            (2.575_829, 0.01),
        ] {
            let found: f64 = complementary_error(z / std::f64::consts::SQRT_2);
            assert!((found - p).abs() < 1e-6, "{z}: {found}");
        }
    }
}
