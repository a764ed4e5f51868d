//! Eviction from in-memory maps of bounded size.

use std::collections::HashMap;

/// Makes room for one more entry in a map of at most `capacity` entries. Returns whether there is room.
///
/// A full map first loses its expired entries. If more than nine tenths remain, it also loses those with the
/// lowest weights, so that a flood of new keys does not displace keys that matter. An entry without a weight
/// is evicted only when it has expired.
pub(crate) fn make_room<V>(
    map: &mut HashMap<String, V>,
    capacity: usize,
    mut is_expired: impl FnMut(&mut V) -> bool,
    weight: impl Fn(&V) -> Option<usize>,
) -> bool {
    if map.len() < capacity {
        return true;
    }
    map.retain(|_, entry| !is_expired(entry));
    // The threshold doubles, so that few passes are enough.
    let mut threshold: usize = 0;
    while map.len() > capacity / 10 * 9 && map.values().any(|entry| weight(entry).is_some()) {
        map.retain(|_, entry| weight(entry).is_none_or(|weight| weight > threshold));
        threshold = threshold.saturating_mul(2).saturating_add(1);
    }
    map.len() < capacity
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: usize = 20;

    fn full_map(value: impl Fn(usize) -> usize) -> HashMap<String, usize> {
        (0..CAPACITY).map(|n| (n.to_string(), value(n))).collect()
    }

    #[test]
    fn a_map_below_its_capacity_keeps_every_entry() {
        let mut map = full_map(|_| 0);
        map.remove("0");
        assert!(make_room(&mut map, CAPACITY, |_| true, |_| Some(0)));
        assert_eq!(map.len(), CAPACITY - 1);
    }

    #[test]
    fn expired_entries_go_before_light_ones() {
        let mut map = full_map(|n| n);
        assert!(make_room(&mut map, CAPACITY, |n| *n >= 15, |n| Some(*n)));
        assert_eq!(map.len(), 15);
        assert!(map.contains_key("0"));
    }

    #[test]
    fn the_heaviest_entries_stay() {
        let mut map = full_map(|n| n);
        assert!(make_room(&mut map, CAPACITY, |_| false, |n| Some(*n)));
        assert!(!map.contains_key("0") && map.contains_key("19"));
    }

    #[test]
    fn entries_without_a_weight_are_never_evicted() {
        let mut map = full_map(|n| n);
        assert!(!make_room(&mut map, CAPACITY, |_| false, |_| None));
        assert_eq!(map.len(), CAPACITY);
    }
}
