//! Latencies in bounded memory.

use std::collections::BTreeMap;
use std::time::Duration;

/// The smallest latency that is recorded, in microseconds. Smaller ones are recorded as this one.
const LEAST: u64 = 8;

/// The number of latencies in each class. A class is an eighth of a doubling, so a percentile is at most an
/// eighth too high.
#[derive(Debug, Default)]
pub(crate) struct Latencies(BTreeMap<u32, u64>);

impl Latencies {
    /// Counts a latency.
    pub(crate) fn add(&mut self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        *self.0.entry(class_of(micros)).or_default() += 1;
    }

    /// Returns an upper bound of the least latency that at least `percent` of all latencies do not exceed, or
    /// `None` if there are none.
    pub(crate) fn percentile(&self, percent: u64) -> Option<Duration> {
        let rank = (self.0.values().sum::<u64>() * percent).div_ceil(100);
        let mut counted = 0;
        let mut classes = self.0.iter();
        let reached = classes.find(|(_, count)| {
            counted += **count;
            counted >= rank
        });
        reached.map(|(class, _)| Duration::from_micros(end_of(*class)))
    }
}

/// Returns the class of a latency: its power of two, and the three bits below the highest one.
fn class_of(micros: u64) -> u32 {
    let micros = micros.max(LEAST);
    let power = micros.ilog2();
    let eighth = u32::try_from((micros >> (power - 3)) & 7).unwrap_or_default();
    power * 8 + eighth
}

/// Returns the latency in microseconds at which the next class begins.
fn end_of(class: u32) -> u64 {
    (u64::from(class % 8) + 9) << (class / 8 - 3).min(59)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentiles_are_at_most_an_eighth_too_high() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.percentile(50), None);
        for millis in 1..=100 {
            latencies.add(Duration::from_millis(millis));
        }
        for percent in [1, 50, 99, 100] {
            let exact = Duration::from_millis(percent);
            let bound = latencies.percentile(percent).unwrap();
            assert!(
                exact < bound && bound <= exact + exact / 8,
                "{percent}: {bound:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_latency_is_below_the_end_of_its_class(micros in LEAST..1 << 62) {
            let end = end_of(class_of(micros));
            prop_assert!(micros < end && end - micros <= micros / 8 + 1);
        }
    }
}
