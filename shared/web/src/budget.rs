//! Budgets that all clients use together: memory, or connections.
//!
//! Each block of addresses has a share: as much as it leaves free, so the share shrinks as the whole fills,
//! but never less than an equal part. In a block that exceeds its share, and in the heaviest block when the
//! whole is full, the slowest holder has to make room: it is aborted. A newcomer is always admitted, because
//! what fills a budget is an attack, and honest clients come after it.

mod blocks;
mod pace;
mod share;

pub use pace::Pace;
pub use share::Share;

use blocks::{Holder, Part};
use foundation::sync::lock;
use futures_util::future::AbortHandle;
use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A budget. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    capacity: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    whole: Part,
    /// The number of the next holder.
    next: u64,
}

impl Budget {
    /// Creates a budget of this size.
    pub fn new(capacity: u64) -> Self {
        Self(Arc::new(Inner {
            capacity,
            state: Mutex::default(),
        }))
    }

    /// Gives a client at this address a part of the budget. Other holders are aborted to make room for it,
    /// and it is aborted itself to make room for others later. `pace` tells how slow it is.
    pub fn take(&self, address: IpAddr, amount: u64, pace: &Arc<Pace>, abort: AbortHandle) -> Share {
        let blocks = blocks::of_address(address);
        let holder = Holder {
            amount,
            pace: Arc::clone(pace),
            abort,
            blocks,
        };
        let mut state = lock(&self.0.state);
        let losers = self.make_room(&mut state, &blocks, amount, None);
        let number = state.next;
        state.next += 1;
        state.whole.insert(&blocks, number, holder);
        drop(state);
        abort_all(&losers);
        Share::of_holder(self.clone(), blocks, number)
    }

    /// Gives a part of the budget to a holder that never has to make room and belongs to no block.
    pub fn take_unlimited(&self, amount: u64) -> Share {
        let mut state = lock(&self.0.state);
        let losers = self.make_room(&mut state, &[], amount, None);
        state.whole.used += amount;
        drop(state);
        abort_all(&losers);
        Share::unlimited(self.clone(), amount)
    }

    /// Removes holders until this amount fits into the share of the first of these blocks and into the
    /// whole, or nobody is left. Returns the removed ones, which must be aborted when the lock is released,
    /// because that wakes tasks. `growing` is the number of the holder that needs the room, unless it is a
    /// newcomer. If it is removed itself, nobody else needs to be.
    fn make_room(
        &self,
        state: &mut State,
        blocks: &[IpNet],
        amount: u64,
        growing: Option<u64>,
    ) -> Vec<Holder> {
        let (capacity, now) = (self.0.capacity, Instant::now());
        let mut losers = Vec::new();
        while let Some((number, of_loser)) = state.whole.loser(capacity, blocks, amount, growing, now) {
            losers.extend(state.whole.remove(&of_loser, number));
            if growing == Some(number) {
                break;
            }
        }
        losers
    }
}

fn abort_all(losers: &[Holder]) {
    for loser in losers {
        loser.abort.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    const CAPACITY: u64 = 100;

    /// A holder whose client has moved nothing for this number of seconds.
    struct Client {
        share: Share,
        abort: AbortHandle,
    }

    fn client(budget: &Budget, address: &str, amount: u64, seconds: u64) -> Client {
        let pace = Pace::since(Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap());
        let (abort, _) = AbortHandle::new_pair();
        let share = budget.take(address.parse().unwrap(), amount, &Arc::new(pace), abort.clone());
        Client { share, abort }
    }

    /// The positions of the clients that were aborted.
    fn lost(clients: &[Client]) -> Vec<usize> {
        let lost = clients.iter().enumerate();
        lost.filter(|(_, client)| client.abort.is_aborted())
            .map(|(position, _)| position)
            .collect()
    }

    fn used(budget: &Budget) -> u64 {
        lock(&budget.0.state).whole.used
    }

    /// Takes these amounts, one after the other. Later ones are slower.
    fn take_all(budget: &Budget, holders: &[(&str, u64)]) -> Vec<Client> {
        let numbered = (1..).zip(holders);
        numbered
            .map(|(seconds, (address, amount))| client(budget, address, *amount, seconds))
            .collect()
    }

    #[test]
    fn the_slowest_holder_of_the_heaviest_block_makes_room() {
        for (holders, loser) in [
            // The address that holds the most, and in it the slowest.
            (["198.51.100.1", "192.0.2.1", "192.0.2.1", "203.0.113.1"], 2),
            // An IPv4 /24, and an IPv6 /48.
            (["198.51.100.1", "192.0.2.1", "192.0.2.2", "203.0.113.1"], 2),
            (
                [
                    "198.51.100.1",
                    "2001:db8:7:1::1",
                    "2001:db8:7:2::1",
                    "203.0.113.1",
                ],
                2,
            ),
            // Of the blocks in it, the heaviest.
            (["192.0.2.1", "192.0.2.1", "192.0.2.2", "203.0.113.1"], 1),
            // Of blocks that hold as much, the slowest.
            (["198.51.100.1", "192.0.2.1", "203.0.113.1", "2001:db8::1"], 3),
        ] {
            let budget = Budget::new(CAPACITY);
            let mut clients = take_all(&budget, &holders.map(|address| (address, 15)));
            assert!(lost(&clients).is_empty(), "{holders:?}");
            clients.push(client(&budget, "198.18.0.1", 55, 100));
            assert_eq!(lost(&clients), [loser], "{holders:?}");
            assert_eq!(used(&budget), CAPACITY);
        }
    }

    #[test]
    fn a_block_alone_holds_half_of_a_budget() {
        let count = |address: fn(usize) -> String| {
            let budget = Budget::new(CAPACITY);
            let clients: Vec<_> = (0..200).map(|n| client(&budget, &address(n), 1, 1)).collect();
            let lost = lost(&clients).len();
            assert_eq!(used(&budget), 200 - lost as u64);
            used(&budget)
        };
        assert_eq!(count(|_| "192.0.2.1".to_owned()), 50);
        assert_eq!(count(|n| format!("192.0.2.{n}")), 50);
        assert_eq!(count(|n| format!("2001:db8:0:{n}::1")), 50);
        assert_eq!(count(|n| format!("2001:db8:{n}::1")), 100);
    }

    #[test]
    fn who_exceeds_a_share_does_not_touch_others() {
        let budget = Budget::new(CAPACITY);
        let others = take_all(&budget, &[("198.51.100.1", 30), ("203.0.113.1", 30)]);
        let own: Vec<_> = (0..50).map(|_| client(&budget, "192.0.2.1", 5, 1)).collect();
        assert!(lost(&others).is_empty());
        assert_eq!(
            own.len() - lost(&own).len(),
            5,
            "a quarter of the whole is its part"
        );
    }

    #[test]
    fn a_growing_holder_makes_room_for_itself_and_may_lose() {
        let budget = Budget::new(CAPACITY);
        let clients = take_all(
            &budget,
            &[("198.51.100.1", 1), ("192.0.2.1", 40), ("203.0.113.1", 40)],
        );
        clients[0].share.grow(24);
        assert_eq!(lost(&clients), [2]);
        assert_eq!(used(&budget), 65);
        clients[1].share.grow(60);
        assert_eq!(lost(&clients), [1, 2]);
        // It holds nothing any more.
        clients[1].share.grow(60);
        clients[2].share.grow(60);
        assert_eq!(used(&budget), 25);
        drop(clients);
        assert_eq!(used(&budget), 0);
    }

    #[test]
    fn an_unlimited_holder_counts_and_never_loses() {
        let budget = Budget::new(CAPACITY);
        let unlimited: Vec<_> = (0..90).map(|_| budget.take_unlimited(1)).collect();
        let clients: Vec<_> = (0..40)
            .map(|n| client(&budget, &format!("10.0.{n}.1"), 1, 1))
            .collect();
        assert_eq!(lost(&clients).len(), 30);
        let more: Vec<_> = (0..20).map(|_| budget.take_unlimited(1)).collect();
        assert_eq!(lost(&clients).len(), 40);
        assert_eq!(used(&budget), 110);
        drop((unlimited, more, clients));
        assert_eq!(used(&budget), 0);
    }

    #[test]
    fn more_than_the_whole_is_admitted_alone() {
        let budget = Budget::new(CAPACITY);
        let clients = take_all(&budget, &[("198.51.100.1", 10), ("192.0.2.1", 2 * CAPACITY)]);
        assert_eq!(lost(&clients), [0]);
    }

    proptest! {
        #[test]
        fn the_budget_holds_and_only_the_heaviest_block_or_the_own_one_loses(
            steps in prop::collection::vec((0_u8..6, 0_u8..3, 1_u64..40, any::<bool>()), 1..80),
        ) {
            let budget = Budget::new(CAPACITY);
            let mut clients: Vec<(u8, u64, Client)> = Vec::new();
            for (block, host, amount, ends) in steps {
                let of = |clients: &[(u8, u64, Client)], block: u8| -> u64 {
                    clients.iter().filter(|(of, ..)| *of == block).map(|(_, amount, _)| amount).sum()
                };
                let heaviest = (0..6).map(|block| of(&clients, block)).max().unwrap_or_default();
                let weights: Vec<u64> = (0..6).map(|block| of(&clients, block)).collect();
                let newcomer = client(&budget, &format!("10.0.{block}.{host}"), amount, 1);
                prop_assert!(!newcomer.abort.is_aborted());
                let (gone, mut left): (Vec<_>, Vec<_>) =
                    clients.into_iter().partition(|(_, _, client)| client.abort.is_aborted());
                if let Some((of_first, ..)) = gone.first() && gone.len() == 1 {
                    let is_heaviest = weights[usize::from(*of_first)] == heaviest;
                    prop_assert!(is_heaviest || *of_first == block);
                }
                left.push((block, amount, newcomer));
                if ends {
                    left.remove(0);
                }
                clients = left;
                let held: u64 = clients.iter().map(|(_, amount, _)| amount).sum();
                prop_assert_eq!(used(&budget), held);
                prop_assert!(held <= CAPACITY);
            }
            drop(clients);
            let state = lock(&budget.0.state);
            prop_assert!(state.whole.is_empty());
        }
    }
}
