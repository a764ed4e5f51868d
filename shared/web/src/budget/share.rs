//! The part of a budget that one holder has.

use super::{Budget, abort_all};
use foundation::sync::lock;
use ipnet::IpNet;

/// The part of a budget that one holder has. Dropping it returns that part.
#[derive(Debug)]
pub struct Share {
    budget: Budget,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The holder of this number in these blocks.
    Holder([IpNet; 2], u64),
    /// Counts in the whole only, and never ends.
    Unlimited(u64),
}

impl Share {
    /// Returns the part of the holder with this number in these blocks.
    pub(super) const fn of_holder(budget: Budget, blocks: [IpNet; 2], number: u64) -> Self {
        Self {
            budget,
            kind: Kind::Holder(blocks, number),
        }
    }

    /// Returns a part of this size that belongs to no block and is never taken away.
    pub(super) const fn unlimited(budget: Budget, amount: u64) -> Self {
        Self {
            budget,
            kind: Kind::Unlimited(amount),
        }
    }

    /// Adds to the part that the holder has. A holder that has to make room itself is aborted, and holds
    /// nothing from then on.
    pub fn grow(&self, amount: u64) {
        let Kind::Holder(blocks, number) = &self.kind else {
            return;
        };
        let mut state = lock(&self.budget.0.state);
        if state.whole.holds(blocks, *number) {
            let losers = self.budget.make_room(&mut state, blocks, amount, Some(*number));
            state.whole.grow(blocks, *number, amount);
            drop(state);
            abort_all(&losers);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = lock(&self.budget.0.state);
        match &self.kind {
            // A holder that was aborted is not there any more.
            Kind::Holder(blocks, number) => drop(state.whole.remove(blocks, *number)),
            Kind::Unlimited(amount) => state.whole.used -= amount,
        }
    }
}
