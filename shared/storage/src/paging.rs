//! Keyset pagination: the query parameters of every list, and the reading of one page.
//!
//! A list is sorted by a key, one or more columns that are unique together. A page begins after an anchor, the key of the last
//! item before the page, so that creating or deleting items between two requests does not shift the pages.

mod query;

pub use foundation::cursor::Cursor;
pub use query::{Direction, Order, PageRequest, Query};

use crate::db::Error;
use foundation::clock::Timestamp;
use std::fmt::{self, Display, Write as _};

/// The number of items on a full page.
const PAGE_SIZE: usize = 20;
/// The capacity of the text of a slice, in bytes, which most texts do not exceed.
const CAPACITY: usize = 160;

/// An item of a paginated list.
pub trait HasCursor {
    /// The form of the positions in the list.
    type Cursor;

    /// Returns the item's position in its list.
    fn cursor(&self) -> Self::Cursor;
}

/// A page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Whether the page was read from the beginning of the list. If not, there may be items before it.
    pub is_first: bool,
}

/// The columns by which a list is sorted, and the order.
#[derive(Clone, Copy, Debug)]
pub struct Sorting {
    /// The columns. They are unique together.
    pub key: &'static [&'static str],
    /// The order.
    pub order: Order,
}

/// The part of a list that one statement reads: a page and one more item in this sorting, from the beginning of the list
/// or after an anchor. The first parameters of the statement are then the values of the anchor, in the order of the key.
#[derive(Clone, Copy, Debug)]
pub struct PageSlice {
    sorting: Sorting,
    is_anchored: bool,
    limit: usize,
}

/// A value of a parameter of a statement, for statements whose number of parameters varies: see
/// [`fetch_all_with!`](crate::fetch_all_with).
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// A text.
    Text(String),
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
    pub fn next(&self) -> Option<T::Cursor> {
        let last = self.items.last().map(T::cursor);
        last.filter(|_| self.items.len() == PAGE_SIZE)
    }
}

/// Reads the page in this direction from the anchor, or the first page if there is no anchor. `fetch` reads the items
/// of a slice, after the anchor that it gets if the slice has one.
pub async fn read_page<T, A, F>(
    direction: Direction,
    sorting: Sorting,
    anchor: Option<A>,
    fetch: impl Fn(PageSlice, Option<A>) -> F,
) -> Result<Page<T>, Error>
where
    F: Future<Output = Result<Vec<T>, Error>>,
{
    let is_backward = direction == Direction::Prev;
    if let Some(anchor) = anchor {
        let sorting = if is_backward { sorting.reversed() } else { sorting };
        let items = fetch(PageSlice::of(sorting, true), Some(anchor)).await?;
        // A backward page with nothing before it is the first page, which is read forward so that it is full.
        if !is_backward || items.len() > PAGE_SIZE {
            let mut page = Page::new(items, false);
            if is_backward {
                page.items.reverse();
            }
            return Ok(page);
        }
    }
    Ok(Page::new(fetch(PageSlice::of(sorting, false), None).await?, true))
}

impl Sorting {
    /// Returns the sorting by this key in this order.
    pub const fn by(key: &'static [&'static str], order: Order) -> Self {
        Self { key, order }
    }

    const fn reversed(self) -> Self {
        Self::by(self.key, self.order.reversed())
    }
}

impl PageSlice {
    /// Returns all slices of a list with this key.
    pub const fn all(key: &'static [&'static str]) -> [Self; 4] {
        [
            Self::of(Sorting::by(key, Order::Ascending), false),
            Self::of(Sorting::by(key, Order::Ascending), true),
            Self::of(Sorting::by(key, Order::Descending), false),
            Self::of(Sorting::by(key, Order::Descending), true),
        ]
    }

    /// Returns the slice in this sorting, after an anchor or from the beginning of the list.
    pub const fn of(sorting: Sorting, is_anchored: bool) -> Self {
        Self {
            sorting,
            is_anchored,
            limit: PAGE_SIZE + 1,
        }
    }

    /// Returns the slice with this number of items in place of a page and one more.
    #[must_use]
    pub const fn limited_to(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Returns the conditions and the `ORDER BY` and `LIMIT` clauses that read this slice of the rows in whose `column` is
    /// `value`. The last column of the key is an id. An index has the column and the columns of the key in this order, perhaps
    /// after columns for which the statement has other conditions.
    ///
    /// The condition on the column is a range. For an equality with a parameter, PostgreSQL expects the rows of an
    /// average user. If these are fewer than a page, it reads all rows of the user and sorts them, or it reads the rows
    /// of all users in the order of another index, although some user may have 100,000 rows. For the comparison of rows
    /// it expects a third of the table, and no index without the column has the order.
    pub fn of_value(self, column: &str, value: &str) -> String {
        let (after, until, outermost_id) = match self.sorting.order {
            Order::Ascending => (">", "<=", 0),
            Order::Descending => ("<", ">=", i64::MAX),
        };
        let Sorting { key, order } = self.sorting;
        let begin = fmt::from_fn(|f| match self.is_anchored {
            true => write!(
                f,
                "({column}, {}) {after} ({value}, {})",
                self.columns(),
                self.anchor()
            ),
            false => {
                let id = key.last().copied().unwrap_or_default();
                write!(f, "({column}, {id}) {after} ({value}, {outermost_id})")
            }
        });
        text(format_args!(
            "{begin} AND {column} {until} {value} ORDER BY {column} {order}, {}",
            self.end()
        ))
    }

    /// Returns the same by an equality: for a column of which no value has many rows, and for SQLite if the key is the row id, which
    /// a comparison of rows does not look up in an index.
    pub fn of_equal(self, column: &str, value: &str) -> String {
        let (after, end) = (self.anchor_condition(), self.order_and_limit());
        format!("{column} = {value}{after} {end}")
    }

    /// Returns ` AND` and the SQL condition that an item comes after the anchor, or an empty string if there is no anchor.
    pub fn anchor_condition(self) -> String {
        let comparison = match self.sorting.order {
            Order::Ascending => '>',
            Order::Descending => '<',
        };
        match self.is_anchored {
            true => text(format_args!(
                " AND ({}) {comparison} ({})",
                self.columns(),
                self.anchor()
            )),
            false => String::new(),
        }
    }

    /// Returns the `ORDER BY` and `LIMIT` clauses.
    pub fn order_and_limit(self) -> String {
        text(format_args!("ORDER BY {}", self.end()))
    }

    /// Returns the placeholder of the statement's `n`th parameter after those of the anchor, counted from 1.
    pub fn parameter(self, n: usize) -> String {
        let of_anchor = if self.is_anchored {
            self.sorting.key.len()
        } else {
            0
        };
        format!("${}", of_anchor + n)
    }

    /// Displays the columns of the key.
    fn columns(self) -> impl Display {
        let key = self.sorting.key;
        separated(key.len(), move |n, f| f.write_str(key[n]))
    }

    /// Displays the placeholders of the anchor.
    fn anchor(self) -> impl Display {
        separated(self.sorting.key.len(), |n, f| write!(f, "${}", n + 1))
    }

    /// Displays the columns of the key with the order, and the `LIMIT` clause.
    fn end(self) -> impl Display {
        let Sorting { key, order } = self.sorting;
        let columns = separated(key.len(), move |n, f| write!(f, "{} {order}", key[n]));
        fmt::from_fn(move |f| write!(f, "{columns} LIMIT {}", self.limit))
    }
}

/// Formats a text in one allocation.
fn text(arguments: fmt::Arguments<'_>) -> String {
    let mut text = String::with_capacity(CAPACITY);
    let _ = text.write_fmt(arguments);
    text
}

/// Displays this number of items, separated by commas. `item` writes the `n`th item, counted from 0.
fn separated(count: usize, item: impl Fn(usize, &mut fmt::Formatter<'_>) -> fmt::Result) -> impl Display {
    fmt::from_fn(move |f| {
        (0..count).try_for_each(|n| {
            f.write_str(if n == 0 { "" } else { ", " })?;
            item(n, f)
        })
    })
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Integer(time.micros())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::future::ready;

    impl HasCursor for i64 {
        type Cursor = Self;

        fn cursor(&self) -> Self {
            *self
        }
    }

    /// Returns a page of the list of the numbers from 0 to `n` − 1.
    fn page(n: i64, order: Order, anchor: Option<i64>, direction: Direction) -> Page<i64> {
        let fetch = |slice: PageSlice, anchor: Option<i64>| {
            assert_eq!(slice.is_anchored, anchor.is_some());
            let numbers: Vec<i64> = match slice.sorting.order {
                Order::Ascending => (anchor.map_or(0, |at| at + 1)..n).collect(),
                Order::Descending => (0..anchor.unwrap_or(n).min(n)).rev().collect(),
            };
            ready(Ok(numbers.into_iter().take(PAGE_SIZE + 1).collect()))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime
            .block_on(read_page(direction, Sorting::by(&["id"], order), anchor, fetch))
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
                    Some(cursor) => anchor = Some(cursor),
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
