//! The clauses of a statement that reads one page.

use foundation::list_query::Order;
use std::fmt::{self, Display, Write as _};

/// The number of items on a full page.
pub const PAGE_SIZE: usize = 20;
/// The largest number of items that one page searches, if no index has those that fit.
pub const MAX_SEARCHED: usize = 10_000;
/// The capacity of the text of a slice, in bytes, which most texts do not exceed.
const CAPACITY: usize = 160;

/// The columns by which a list is sorted, and the order.
#[derive(Clone, Copy, Debug)]
pub struct Sorting {
    /// The columns. They are unique together.
    pub key: &'static [&'static str],
    /// The order.
    pub order: Order,
}

/// The part of a list that one statement reads: a page and one more item in this sorting, from the beginning
/// of the list or after an anchor. The first parameters of the statement are then the values of the anchor,
/// in the order of the key.
#[derive(Clone, Copy, Debug)]
pub struct PageSlice {
    pub(super) sorting: Sorting,
    pub(super) is_anchored: bool,
    limit: usize,
}

impl Sorting {
    /// Returns the sorting by this key in this order.
    pub const fn by(key: &'static [&'static str], order: Order) -> Self {
        Self { key, order }
    }

    pub(super) const fn reversed(self) -> Self {
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

    /// Returns the slice that begins after an anchor.
    #[must_use]
    pub const fn anchored(self) -> Self {
        Self {
            is_anchored: true,
            ..self
        }
    }

    /// Returns the order of the slice.
    pub const fn order(self) -> Order {
        self.sorting.order
    }

    /// Returns the end of a statement that reads this slice: ` AND` and the condition that an item comes after
    /// the anchor, if there is one, and the `ORDER BY` and `LIMIT` clauses. An index has the columns that the
    /// statement compares before, and then those of the key.
    pub fn clauses(self) -> String {
        self.clauses_until(None)
    }

    /// Returns the same for a slice that ends at a value of the first column of the key, whose placeholder is
    /// `end`. In ascending order the slice is without the rows with this value, in descending order with
    /// them.
    pub fn clauses_until(self, end: Option<&str>) -> String {
        let Sorting { key, order } = self.sorting;
        let (after, until) = match order {
            Order::Ascending => (">", "<"),
            Order::Descending => ("<", ">="),
        };
        let begin = fmt::from_fn(|f| match self.is_anchored {
            true => write!(f, " AND ({}) {after} ({})", self.columns(), self.anchor()),
            false => Ok(()),
        });
        let end = fmt::from_fn(|f| match end {
            Some(end) => write!(f, " AND {} {until} {end}", key[0]),
            None => Ok(()),
        });
        text(format_args!("{begin}{end} {}", self.order_and_limit()))
    }

    /// Returns the statement that reads these columns of the last item that a page searches among those of a
    /// table whose first column of the key begins with a text; no row if there are fewer. Its parameters are the
    /// anchor, if there is one, and the text.
    pub fn last_searched(self, columns: &str, table: &str) -> String {
        let begin = begins_with(self.sorting.key[0], &self.parameter(1));
        let (page, offset) = (self.limited_to(1).clauses(), MAX_SEARCHED - 1);
        format!("SELECT {columns} FROM {table} WHERE TRUE{begin}{page} OFFSET {offset}")
    }

    /// Returns ` AND` and the condition that an item is at or before a position, whose key is in the
    /// parameters from the [`parameter`](Self::parameter) `n` on.
    pub fn up_to(self, n: usize) -> String {
        let Sorting { key, order } = self.sorting;
        let until = match order {
            Order::Ascending => "<=",
            Order::Descending => ">=",
        };
        let values = separated(key.len(), |at, f| f.write_str(&self.parameter(n + at)));
        format!(" AND ({}) {until} ({values})", self.columns())
    }

    /// Displays the `ORDER BY` and `LIMIT` clauses.
    pub fn order_and_limit(self) -> impl Display {
        let Sorting { key, order } = self.sorting;
        let columns = separated(key.len(), move |n, f| write!(f, "{} {order}", key[n]));
        fmt::from_fn(move |f| write!(f, "ORDER BY {columns} LIMIT {}", self.limit))
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

    /// Returns ` AND` and the condition that a column has the value of the [`parameter`](Self::parameter) `n`, or
    /// an empty text if the statement has no such parameter.
    pub fn condition(self, column: &str, n: usize, has_parameter: bool) -> String {
        match has_parameter {
            true => format!(" AND {column} = {}", self.parameter(n)),
            false => String::new(),
        }
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
}

/// Returns ` AND` and the condition that the text in a column begins with a value. An index with the column
/// serves it.
pub fn begins_with(column: &str, value: &str) -> String {
    // No character comes after this one.
    format!(" AND {column} >= {value} AND {column} < {value} || '\u{10ffff}'")
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
