//! Lists in pages: what may be asked of every list, and how a page of it is read.
//!
//! A list is sorted by a key and then by id, and a page begins beyond the key and id of the item before it,
//! so that nothing shifts when items are made or deleted between two pages.

mod query;

pub(crate) use query::{Direction, Order, Query, Walk};
pub(crate) use shared::cursor::Cursor;

use shared::db::Error;
use std::fmt::Display;

/// Items on a page.
const PAGE: usize = 20;

/// What lists are made of.
pub(crate) trait Listed {
    /// Its place.
    fn cursor(&self) -> Cursor;
}

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page<T> {
    /// The items, in the list's order.
    pub(crate) items: Vec<T>,
    /// Whether nothing comes before it.
    pub(crate) is_first: bool,
}

/// What one statement reads of a list: a page and one item more, in this order, from the list's beginning
/// or from beyond an anchor, whose key and id are `$1` and `$2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    order: Order,
    is_anchored: bool,
}

impl<T> Page<T> {
    fn new(mut items: Vec<T>, is_first: bool) -> Self {
        items.truncate(PAGE);
        Self { items, is_first }
    }

    /// The one page of an empty list.
    pub(crate) fn empty() -> Self {
        Self::new(Vec::new(), true)
    }
}

impl<T: Listed> Page<T> {
    /// Where the next page begins: after the last item of a full page.
    pub(crate) fn next(&self) -> Option<Cursor> {
        let last = self.items.last().map(T::cursor);
        last.filter(|_| self.items.len() == PAGE)
    }
}

/// The page that lies in this direction from the anchor, or else the first. `fetch` runs the statement of a
/// stretch.
pub(crate) async fn read<T, A, F>(
    direction: Direction,
    order: Order,
    anchor: Option<A>,
    fetch: impl Fn(Stretch, Option<A>) -> F,
) -> Result<Page<T>, Error>
where
    F: Future<Output = Result<Vec<T>, Error>>,
{
    let is_back = direction == Direction::Prev;
    if let Some(anchor) = anchor {
        let order = if is_back { order.reversed() } else { order };
        let items = fetch(Stretch::of(order, true), Some(anchor)).await?;
        // With nothing before it, a page backwards is the first, and that is a whole one.
        if !is_back || items.len() > PAGE {
            let mut page = Page::new(items, false);
            if is_back {
                page.items.reverse();
            }
            return Ok(page);
        }
    }
    Ok(Page::new(fetch(Stretch::of(order, false), None).await?, true))
}

impl Stretch {
    /// Every stretch.
    pub(crate) const ALL: [Self; 4] = [
        Self::of(Order::Ascending, false),
        Self::of(Order::Ascending, true),
        Self::of(Order::Descending, false),
        Self::of(Order::Descending, true),
    ];

    const fn of(order: Order, is_anchored: bool) -> Self {
        Self { order, is_anchored }
    }

    /// The condition that an item of a list sorted by `key` is beyond the anchor, if there is one.
    pub(crate) fn beyond(self, key: impl Display) -> String {
        let beyond = match self.order {
            Order::Ascending => '>',
            Order::Descending => '<',
        };
        match self.is_anchored {
            true => format!(" AND ({key}, id) {beyond} ($1, $2)"),
            false => String::new(),
        }
    }

    /// The end of the statement, for a list sorted by `key`.
    pub(crate) fn end(self, key: impl Display) -> String {
        let (order, limit) = (self.order, PAGE + 1);
        format!("ORDER BY {key} {order}, id {order} LIMIT {limit}")
    }

    /// The `n`th parameter that the statement has beside the anchor, from 1 on.
    pub(crate) fn parameter(self, n: usize) -> String {
        format!("${}", if self.is_anchored { n + 2 } else { n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shared::clock::Timestamp;
    use std::future::ready;

    impl Listed for i64 {
        fn cursor(&self) -> Cursor {
            Cursor {
                created_at: Timestamp::from_micros(0),
                id: *self,
            }
        }
    }

    /// A page of the list of the numbers from 0 to `n` − 1.
    fn page(n: i64, order: Order, anchor: Option<i64>, direction: Direction) -> Page<i64> {
        let fetch = |stretch: Stretch, anchor: Option<i64>| {
            assert_eq!(stretch.is_anchored, anchor.is_some());
            let numbers: Vec<i64> = match stretch.order {
                Order::Ascending => (anchor.map_or(0, |at| at + 1)..n).collect(),
                Order::Descending => (0..anchor.unwrap_or(n).min(n)).rev().collect(),
            };
            ready(Ok(numbers.into_iter().take(PAGE + 1).collect()))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read(direction, order, anchor, fetch)).unwrap()
    }

    fn numbers(n: i64, order: Order) -> Vec<i64> {
        match order {
            Order::Ascending => (0..n).collect(),
            Order::Descending => (0..n).rev().collect(),
        }
    }

    fn orders() -> impl Strategy<Value = Order> {
        prop_oneof![Just(Order::Ascending), Just(Order::Descending)]
    }

    proptest! {
        #[test]
        fn a_walk_forward_meets_every_item_once(n in 0_i64..100, order in orders()) {
            let (mut met, mut anchor) = (Vec::<i64>::new(), None);
            loop {
                let page = page(n, order, anchor, Direction::Next);
                prop_assert_eq!(page.is_first, anchor.is_none());
                met.extend(&page.items);
                match page.next() {
                    Some(cursor) => anchor = Some(cursor.id),
                    None => break,
                }
            }
            prop_assert_eq!(met, numbers(n, order));
        }

        #[test]
        fn a_page_backwards_ends_before_its_anchor_or_is_the_first(n in 1_i64..100, at in 0_usize..100, order in orders()) {
            let all = numbers(n, order);
            let at = at % all.len();
            let page = page(n, order, Some(all[at]), Direction::Prev);
            let begin = at.saturating_sub(PAGE);
            prop_assert_eq!(page.is_first, begin == 0);
            prop_assert_eq!(&page.items, &all[begin..all.len().min(begin + PAGE)]);
        }
    }
}
