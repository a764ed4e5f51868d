//! Keyset pagination: the query parameters of every list, and the reading of one page.
//!
//! A list is sorted by a key and then by id. A page begins after an anchor, the key and id of the last item before the
//! page, so that creating or deleting items between two requests does not shift the pages.

mod query;

pub use foundation::cursor::Cursor;
pub use query::{Direction, Order, PageRequest, Query};

use std::fmt::Display;
use storage::db::Error;

/// The number of items on a full page.
const PAGE_SIZE: usize = 20;

/// An item of a paginated list.
pub trait HasCursor {
    /// Returns the item's position in its list.
    fn cursor(&self) -> Cursor;
}

/// A page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Whether the page was read from the beginning of the list. If not, there may be items before it.
    pub is_first: bool,
}

/// The part of a list that one statement reads: a page and one more item in this order, from the beginning of the list
/// or after an anchor. The statement's parameters `$1` and `$2` are then the key and id of the anchor.
#[derive(Clone, Copy, Debug)]
pub struct PageSlice {
    order: Order,
    is_anchored: bool,
}

impl<T> Page<T> {
    fn new(mut items: Vec<T>, is_first: bool) -> Self {
        items.truncate(PAGE_SIZE);
        Self { items, is_first }
    }

    /// Returns the only page of an empty list.
    pub fn empty() -> Self {
        Self::new(Vec::new(), true)
    }
}

impl<T: HasCursor> Page<T> {
    /// Returns the cursor of the next page, which is that of the last item; `None` if this page is not full, because no
    /// items follow it.
    pub fn next(&self) -> Option<Cursor> {
        let last = self.items.last().map(T::cursor);
        last.filter(|_| self.items.len() == PAGE_SIZE)
    }
}

/// Reads the page in this direction from the anchor, or the first page if there is no anchor. `fetch` reads the items
/// of a slice, after the anchor that it gets if the slice has one.
pub async fn read_page<T, A, F>(
    direction: Direction,
    order: Order,
    anchor: Option<A>,
    fetch: impl Fn(PageSlice, Option<A>) -> F,
) -> Result<Page<T>, Error>
where
    F: Future<Output = Result<Vec<T>, Error>>,
{
    let is_backward = direction == Direction::Prev;
    if let Some(anchor) = anchor {
        let order = if is_backward { order.reversed() } else { order };
        let items = fetch(PageSlice::of(order, true), Some(anchor)).await?;
        // A backward page with nothing before it is the first page, which is read forward so that it is full.
        if !is_backward || items.len() > PAGE_SIZE {
            let mut page = Page::new(items, false);
            if is_backward {
                page.items.reverse();
            }
            return Ok(page);
        }
    }
    Ok(Page::new(fetch(PageSlice::of(order, false), None).await?, true))
}

impl PageSlice {
    /// All slices.
    pub const ALL: [Self; 4] = [
        Self::of(Order::Ascending, false),
        Self::of(Order::Ascending, true),
        Self::of(Order::Descending, false),
        Self::of(Order::Descending, true),
    ];

    /// Returns the slice in this order, after an anchor or from the beginning of the list.
    pub const fn of(order: Order, is_anchored: bool) -> Self {
        Self { order, is_anchored }
    }

    /// Returns the conditions and the `ORDER BY` and `LIMIT` clauses that read this slice of the rows in whose `column` is
    /// `value`, sorted by `key`. An index has the column, the key and the id in this order, perhaps after columns for
    /// which the statement has other conditions.
    ///
    /// The condition on the column is a range. For an equality with a parameter, PostgreSQL expects the rows of an
    /// average user. If these are fewer than a page, it reads all rows of the user and sorts them, or it reads the rows
    /// of all users in the order of another index, although some user may have 100,000 rows. For the comparison of rows
    /// it expects a third of the table, and no index without the column has the order.
    pub fn of_value(self, column: &str, value: &str, key: impl Display) -> String {
        let (order, limit) = (self.order, PAGE_SIZE + 1);
        let (after, until, outermost_id) = match order {
            Order::Ascending => (">", "<=", 0),
            Order::Descending => ("<", ">=", i64::MAX),
        };
        let begin = match self.is_anchored {
            true => format!("({column}, {key}, id) {after} ({value}, $1, $2)"),
            false => format!("({column}, id) {after} ({value}, {outermost_id})"),
        };
        format!(
            "{begin} AND {column} {until} {value}
             ORDER BY {column} {order}, {key} {order}, id {order} LIMIT {limit}"
        )
    }

    /// Returns ` AND` and the SQL condition that an item of a list sorted by `key` comes after the anchor, or an empty
    /// string if there is no anchor.
    pub fn anchor_condition(self, key: impl Display) -> String {
        let comparison = match self.order {
            Order::Ascending => '>',
            Order::Descending => '<',
        };
        match self.is_anchored {
            true => format!(" AND ({key}, id) {comparison} ($1, $2)"),
            false => String::new(),
        }
    }

    /// Returns the `ORDER BY` and `LIMIT` clauses for a list sorted by `key`.
    pub fn order_and_limit(self, key: impl Display) -> String {
        let (order, limit) = (self.order, PAGE_SIZE + 1);
        format!("ORDER BY {key} {order}, id {order} LIMIT {limit}")
    }

    /// Returns the placeholder of the statement's `n`th parameter after those of the anchor, counted from 1.
    pub fn parameter(self, n: usize) -> String {
        format!("${}", if self.is_anchored { n + 2 } else { n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foundation::clock::Timestamp;
    use proptest::prelude::*;
    use std::future::ready;

    impl HasCursor for i64 {
        fn cursor(&self) -> Cursor {
            Cursor {
                created_at: Timestamp::from_micros(0),
                id: *self,
            }
        }
    }

    /// Returns a page of the list of the numbers from 0 to `n` − 1.
    fn page(n: i64, order: Order, anchor: Option<i64>, direction: Direction) -> Page<i64> {
        let fetch = |slice: PageSlice, anchor: Option<i64>| {
            assert_eq!(slice.is_anchored, anchor.is_some());
            let numbers: Vec<i64> = match slice.order {
                Order::Ascending => (anchor.map_or(0, |at| at + 1)..n).collect(),
                Order::Descending => (0..anchor.unwrap_or(n).min(n)).rev().collect(),
            };
            ready(Ok(numbers.into_iter().take(PAGE_SIZE + 1).collect()))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime
            .block_on(read_page(direction, order, anchor, fetch))
            .unwrap()
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
        fn paging_forward_returns_every_item_once(n in 0_i64..100, order in orders()) {
            let (mut seen, mut anchor) = (Vec::<i64>::new(), None);
            loop {
                let page = page(n, order, anchor, Direction::Next);
                prop_assert_eq!(page.is_first, anchor.is_none());
                seen.extend(&page.items);
                match page.next() {
                    Some(cursor) => anchor = Some(cursor.id),
                    None => break,
                }
            }
            prop_assert_eq!(seen, numbers(n, order));
        }

        #[test]
        fn a_backward_page_ends_before_its_anchor_or_is_the_first_page(n in 1_i64..100, at in 0_usize..100, order in orders()) {
            let all = numbers(n, order);
            let at = at % all.len();
            let page = page(n, order, Some(all[at]), Direction::Prev);
            let begin = at.saturating_sub(PAGE_SIZE);
            prop_assert_eq!(page.is_first, begin == 0);
            prop_assert_eq!(&page.items, &all[begin..all.len().min(begin + PAGE_SIZE)]);
        }
    }
}
