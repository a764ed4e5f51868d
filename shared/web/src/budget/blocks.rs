//! The holders of a budget in their blocks of addresses, and which of them has to make room.

use super::Pace;
use futures_util::future::AbortHandle;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// The number of blocks of the same weight, and of holders in a block, of which the slowest is looked
/// for: the oldest holders. It bounds the time of the search, in which the budget is locked.
const COMPARED: usize = 16;

/// Returns the two blocks of an address, the outer one first. The outer one has a share, because one
/// attacker may own all of it: an IPv6 /48 is what a site gets, and an IPv4 /24 is the smallest block that
/// is routed, and is rented as one. The inner one divides it, because its addresses may also belong to
/// strangers: an IPv6 /64 is what a subscriber has at least, and in IPv4 it is the address. An IPv4-mapped
/// IPv6 address counts as IPv4.
pub(super) fn of_address(address: IpAddr) -> [IpNet; 2] {
    match address.to_canonical() {
        IpAddr::V4(address) => [24, 32].map(|length| Ipv4Net::new_assert(address, length).trunc().into()),
        IpAddr::V6(address) => [48, 64].map(|length| Ipv6Net::new_assert(address, length).trunc().into()),
    }
}

/// Something of one client that counts in a budget.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) amount: u64,
    pub(super) pace: Arc<Pace>,
    pub(super) abort: AbortHandle,
    pub(super) blocks: [IpNet; 2],
}

/// A part of a budget: the whole, a block, or a block in it.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The sum of the amounts of its holders.
    pub(super) used: u64,
    /// The blocks that hold something.
    blocks: HashMap<IpNet, Part>,
    /// The same blocks by what they hold.
    by_weight: BTreeSet<(u64, IpNet)>,
    /// The holders by number, if this is an innermost block. Numbers rise, so the oldest is first.
    holders: BTreeMap<u64, Holder>,
}

impl Part {
    /// Adds a holder to the innermost of these blocks.
    pub(super) fn insert(&mut self, blocks: &[IpNet], number: u64, holder: Holder) {
        self.change(blocks, |innermost| {
            innermost.used += holder.amount;
            innermost.holders.insert(number, holder);
        });
    }

    /// Adds to what a holder has, if it is there.
    pub(super) fn grow(&mut self, blocks: &[IpNet], number: u64, amount: u64) {
        self.change(blocks, |innermost| {
            if let Some(holder) = innermost.holders.get_mut(&number) {
                holder.amount += amount;
                innermost.used += amount;
            }
        });
    }

    /// Removes and returns a holder, if it is there.
    pub(super) fn remove(&mut self, blocks: &[IpNet], number: u64) -> Option<Holder> {
        let mut removed = None;
        self.change(blocks, |innermost| {
            removed = innermost.holders.remove(&number);
            innermost.used -= removed.as_ref().map_or(0, |holder| holder.amount);
        });
        removed
    }

    /// Returns whether a holder is there.
    pub(super) fn holds(&self, blocks: &[IpNet], number: u64) -> bool {
        match blocks {
            [] => self.holders.contains_key(&number),
            [next, rest @ ..] => {
                let part = self.blocks.get(next);
                part.is_some_and(|part| part.holds(rest, number))
            }
        }
    }

    /// Changes the innermost of these blocks, and with it what the ones around it hold.
    fn change(&mut self, blocks: &[IpNet], change: impl FnOnce(&mut Self)) {
        let [next, rest @ ..] = blocks else {
            return change(self);
        };
        let part = self.blocks.entry(*next).or_default();
        let before = part.used;
        part.change(rest, change);
        let after = part.used;
        if part.is_empty() {
            self.blocks.remove(next);
        }
        if before != after {
            self.by_weight.remove(&(before, *next));
            if after > 0 {
                self.by_weight.insert((after, *next));
            }
            self.used = self.used - before + after;
        }
    }

    /// Returns whether it has no holder.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.holders.is_empty() && self.by_weight.is_empty()
    }

    /// Returns the number and the blocks of the holder that has to make room for this amount more in these
    /// blocks, if the whole is this part and may hold as much as `capacity`: the slowest one in the first
    /// of the blocks, if that would exceed its share, or else in the heaviest one, if the whole would be
    /// more than full. Returns `None` if the amount fits, or if nobody is left. The holder of the number
    /// `growing` does not lose to itself because of the share, which one holder alone may exceed.
    pub(super) fn loser(
        &self,
        capacity: u64,
        blocks: &[IpNet],
        amount: u64,
        growing: Option<u64>,
        now: Instant,
    ) -> Option<(u64, [IpNet; 2])> {
        let used = self.used + amount;
        let free = capacity.saturating_sub(used);
        let equal_part = capacity / (self.blocks.len() as u64 + 1);
        let block = blocks.first().and_then(|block| self.blocks.get(block));
        let block = block.filter(|block| block.used + amount > free.max(equal_part));
        let of_block = block.and_then(|block| block.slowest(now));
        let loser = of_block.filter(|(_, number, _)| Some(*number) != growing);
        let is_full = used > capacity;
        let loser = loser.or_else(|| is_full.then(|| self.slowest(now)).flatten());
        loser.map(|(_, number, blocks)| (number, blocks))
    }

    /// Returns the speed, the number and the blocks of the slowest holder in the heaviest block.
    fn slowest(&self, now: Instant) -> Option<(u64, u64, [IpNet; 2])> {
        let (heaviest, _) = self.by_weight.last().copied().unzip();
        let by_weight = self.by_weight.iter().rev();
        let of_blocks = by_weight
            .take_while(|(weight, _)| Some(*weight) == heaviest)
            .take(COMPARED)
            .filter_map(|(_, block)| self.blocks.get(block)?.slowest(now));
        let own = self.holders.iter().take(COMPARED).map(|(number, holder)| {
            let speed = holder.pace.bytes_per_second(now);
            (speed, *number, holder.blocks)
        });
        of_blocks.chain(own).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_a_block_in_a_block() {
        for (address, blocks) in [
            ("192.0.2.7", ["192.0.2.0/24", "192.0.2.7/32"]),
            ("::ffff:192.0.2.7", ["192.0.2.0/24", "192.0.2.7/32"]),
            ("2001:db8:1:2:3::4", ["2001:db8:1::/48", "2001:db8:1:2::/64"]),
        ] {
            let found = of_address(address.parse().unwrap());
            assert_eq!(found.map(|block| block.to_string()), blocks);
        }
    }
}
