//! The holders of a budget in their networks, and which of them has to make room.

use super::Pace;
use futures_util::future::AbortHandle;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// The number of networks of the same weight, and of holders in a network, of which the slowest is looked
/// for: the oldest holders. It bounds the time of the search, in which the budget is locked.
const COMPARED: usize = 16;

/// Returns the two networks of an address, the outer one first. The outer one has a share, because one
/// attacker may own all of it: an IPv6 /48 is what a site gets, and an IPv4 /24 is the smallest network that
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
    pub(super) networks: [IpNet; 2],
}

/// A part of a budget: the whole, a network, or a network in it.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The sum of the amounts of its holders.
    pub(super) used: u64,
    /// The networks that hold something.
    networks: HashMap<IpNet, Part>,
    /// The same networks by what they hold.
    by_weight: BTreeSet<(u64, IpNet)>,
    /// The holders by number, if this is an innermost network. Numbers rise, so the oldest is first.
    holders: BTreeMap<u64, Holder>,
}

impl Part {
    /// Adds a holder to the innermost of these networks.
    pub(super) fn insert(&mut self, networks: &[IpNet], number: u64, holder: Holder) {
        self.change(networks, |innermost| {
            innermost.used += holder.amount;
            innermost.holders.insert(number, holder);
        });
    }

    /// Adds to what a holder has, if it is there.
    pub(super) fn grow(&mut self, networks: &[IpNet], number: u64, amount: u64) {
        self.change(networks, |innermost| {
            if let Some(holder) = innermost.holders.get_mut(&number) {
                holder.amount += amount;
                innermost.used += amount;
            }
        });
    }

    /// Removes and returns a holder, if it is there.
    pub(super) fn remove(&mut self, networks: &[IpNet], number: u64) -> Option<Holder> {
        let mut removed = None;
        self.change(networks, |innermost| {
            removed = innermost.holders.remove(&number);
            innermost.used -= removed.as_ref().map_or(0, |holder| holder.amount);
        });
        removed
    }

    /// Returns whether a holder is there.
    pub(super) fn holds(&self, networks: &[IpNet], number: u64) -> bool {
        match networks {
            [] => self.holders.contains_key(&number),
            [next, rest @ ..] => {
                let part = self.networks.get(next);
                part.is_some_and(|part| part.holds(rest, number))
            }
        }
    }

    /// Changes the innermost of these networks, and with it what the ones around it hold.
    fn change(&mut self, networks: &[IpNet], change: impl FnOnce(&mut Self)) {
        let [next, rest @ ..] = networks else {
            return change(self);
        };
        let part = self.networks.entry(*next).or_default();
        let before = part.used;
        part.change(rest, change);
        let after = part.used;
        if part.is_empty() {
            self.networks.remove(next);
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
        self.networks.is_empty() && self.holders.is_empty() && self.by_weight.is_empty()
    }

    /// Returns the number and the networks of the holder that has to make room for this amount more in these
    /// networks, if the whole is this part and may hold as much as `capacity`: the slowest one in the first
    /// of the networks, if that would exceed its share, or else in the heaviest one, if the whole would be
    /// more than full. Returns `None` if the amount fits, or if nobody is left. The holder of the number
    /// `growing` does not lose to itself because of the share, which one holder alone may exceed.
    pub(super) fn loser(
        &self,
        capacity: u64,
        networks: &[IpNet],
        amount: u64,
        growing: Option<u64>,
        now: Instant,
    ) -> Option<(u64, [IpNet; 2])> {
        let used = self.used + amount;
        let free = capacity.saturating_sub(used);
        let equal_part = capacity / (self.networks.len() as u64 + 1);
        let network = networks.first().and_then(|network| self.networks.get(network));
        let network = network.filter(|network| network.used + amount > free.max(equal_part));
        let of_network = network.and_then(|network| network.slowest(now));
        let loser = of_network.filter(|(_, number, _)| Some(*number) != growing);
        let is_full = used > capacity;
        let loser = loser.or_else(|| is_full.then(|| self.slowest(now)).flatten());
        loser.map(|(_, number, networks)| (number, networks))
    }

    /// Returns the speed, the number and the networks of the slowest holder in the heaviest network.
    fn slowest(&self, now: Instant) -> Option<(u64, u64, [IpNet; 2])> {
        let (heaviest, _) = self.by_weight.last().copied().unzip();
        let by_weight = self.by_weight.iter().rev();
        let of_networks = by_weight
            .take_while(|(weight, _)| Some(*weight) == heaviest)
            .take(COMPARED)
            .filter_map(|(_, network)| self.networks.get(network)?.slowest(now));
        let own = self.holders.iter().take(COMPARED).map(|(number, holder)| {
            let speed = holder.pace.bytes_per_second(now);
            (speed, *number, holder.networks)
        });
        of_networks.chain(own).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_a_network_in_a_network() {
        for (address, networks) in [
            ("192.0.2.7", ["192.0.2.0/24", "192.0.2.7/32"]),
            ("::ffff:192.0.2.7", ["192.0.2.0/24", "192.0.2.7/32"]),
            ("2001:db8:1:2:3::4", ["2001:db8:1::/48", "2001:db8:1:2::/64"]),
        ] {
            let found = of_address(address.parse().unwrap());
            assert_eq!(found.map(|network| network.to_string()), networks);
        }
    }
}
