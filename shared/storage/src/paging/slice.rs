//! The clauses of a statement that reads one page.

use foundation::list_query::Order;
use std::fmt::{self, Display, Write as _};

/// The number of items on a full page.
pub const PAGE_SIZE: usize = 20;
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

    /// Returns the conditions and the `ORDER BY` and `LIMIT` clauses that read this slice of the rows in
    /// whose `column` is `value`. The last column of the key is an id. An index has the column and the
    /// columns of the key in this order, perhaps after columns for which the statement has other conditions.
    ///
    /// The condition on the column is a range. For an equality with a parameter, PostgreSQL expects the rows
    /// of an average user. If these are fewer than a page, it reads all rows of the user and sorts them, or
    /// it reads the rows of all users in the order of another index, although some user may have 100,000
    /// rows. For the comparison of rows it expects a third of the table, and no index without the column has
    /// the order.
    pub fn of_value(self, column: &str, value: &str) -> String {
        self.of_value_within(column, value, None)
    }

    /// Returns the same for a slice that ends at a value of the first column of the key, whose placeholder is
    /// `end`. In ascending order the slice is without the rows with this value, in descending order with
    /// them.
    ///
    /// PostgreSQL reads no row beyond the end, but the index entries of the value: of a comparison of rows,
    /// only the first column ends a scan.
    pub fn of_value_within(self, column: &str, value: &str, end: Option<&str>) -> String {
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
        let last = fmt::from_fn(|f| match end {
            None => write!(f, "{column} {until} {value}"),
            Some(end) => {
                let comparison = self.end_comparison();
                write!(f, "({column}, {}) {comparison} ({value}, {end})", key[0])?;
                // SQLite uses an index that leaves out NULL only if the statement has this condition.
                write!(f, " AND {column} IS NOT NULL")
            }
        });
        text(format_args!(
            "{begin} AND {last} ORDER BY {column} {order}, {}",
            self.end()
        ))
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

    /// Returns ` AND` and the SQL condition of a slice that ends like that of [`PageSlice::of_value_within`].
    pub fn end_condition(self, end: &str) -> String {
        text(format_args!(
            " AND {} {} {end}",
            self.sorting.key[0],
            self.end_comparison()
        ))
    }

    const fn end_comparison(self) -> &'static str {
        match self.sorting.order {
            Order::Ascending => "<",
            Order::Descending => ">=",
        }
    }

    /// Returns the same by an equality: for a column of which no value has many rows, and for SQLite if the
    /// key is the row id, which a comparison of rows does not look up in an index.
    pub fn of_equal(self, column: &str, value: &str) -> String {
        let (after, end) = (self.anchor_condition(), self.order_and_limit());
        format!("{column} = {value}{after} {end}")
    }

    /// Returns ` AND` and the SQL condition that an item comes after the anchor, or an empty string if there
    /// is no anchor.
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
