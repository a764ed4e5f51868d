//! What a list of posts is asked for. Nothing in it is ever refused: what is not understood is ignored.

use super::cursor::Cursor;
use super::fields::Status;

/// The one way of asking for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListQuery {
    pub(super) sort: Option<Sort>,
    pub(super) order: Option<Order>,
    pub(super) status: Option<Status>,
    /// Nobody has the id `i64::MAX`, which stands for digits beyond it too.
    pub(super) author_id: Option<i64>,
    pub(super) cursor: Option<Cursor>,
    pub(super) direction: Direction,
}

/// What posts are sorted by; ties by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    CreatedAt,
    Title,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Ascending,
    Descending,
}

/// Which way from the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The posts after it.
    #[default]
    Next,
    /// The posts before it.
    Prev,
}

impl ListQuery {
    /// Reads a query string. The first valid value of a repeated name wins.
    pub(crate) fn parse(query: &str) -> Self {
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
        Self {
            sort: first(&pairs, "sort", Sort::parse),
            order: first(&pairs, "order", Order::parse),
            status: first(&pairs, "status", |text| text.parse().ok()),
            author_id: first(&pairs, "author_id", author_id),
            cursor: first(&pairs, "cursor", Cursor::parse),
            direction: first(&pairs, "dir", Direction::parse).unwrap_or_default(),
        }
    }

    /// The query string of another page of the same list; without a cursor, of its first page.
    pub(crate) fn page(&self, cursor: Option<Cursor>, direction: Direction) -> String {
        let mut text = form_urlencoded::Serializer::new(String::new());
        let mut add = |name, value: Option<String>| {
            if let Some(value) = value {
                text.append_pair(name, &value);
            }
        };
        add("sort", self.sort.map(|sort| sort.as_str().to_owned()));
        add("order", self.order.map(|order| order.as_str().to_owned()));
        add("status", self.status.map(|status| status.as_str().to_owned()));
        add("author_id", self.author_id.map(|id| id.to_string()));
        add("cursor", cursor.map(|cursor| cursor.to_string()));
        let is_back = cursor.is_some() && direction == Direction::Prev;
        add("dir", is_back.then(|| direction.as_str().to_owned()));
        text.finish()
    }

    /// What to sort by.
    pub(super) fn sort(&self) -> Sort {
        self.sort.unwrap_or(Sort::CreatedAt)
    }

    /// Which end comes first: the newest, or the least title, unless told otherwise.
    pub(super) fn order(&self) -> Order {
        self.order.unwrap_or(match self.sort() {
            Sort::CreatedAt => Order::Descending,
            Sort::Title => Order::Ascending,
        })
    }
}

impl Sort {
    pub(super) const ALL: [Self; 2] = [Self::CreatedAt, Self::Title];

    /// The parameter's value, and the column.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "created_at",
            Self::Title => "title",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.as_str() == text)
    }
}

impl Order {
    pub(super) const ALL: [Self; 2] = [Self::Ascending, Self::Descending];

    /// The parameter's value, and the SQL keyword.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.as_str() == text)
    }

    /// The other end first.
    pub(super) const fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

impl Direction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Prev => "prev",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Next, Self::Prev]
            .into_iter()
            .find(|direction| direction.as_str() == text)
    }
}

fn first<T>(
    pairs: &[(impl AsRef<str>, impl AsRef<str>)],
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    pairs
        .iter()
        .filter(|(found, _)| found.as_ref() == name)
        .find_map(|(_, value)| parse(value.as_ref()))
}

/// ASCII digits only.
fn author_id(text: &str) -> Option<i64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_valid_value_of_a_name_wins_and_the_rest_is_ignored() {
        let query =
            ListQuery::parse("x=1&sort=id&sort=title&sort=created_at&order=DESC&status=&status=draft&dir=up");
        assert_eq!(query.sort, Some(Sort::Title));
        assert_eq!(query.order, None);
        assert_eq!(query.order(), Order::Ascending);
        assert_eq!(query.status, Some(Status::Draft));
        assert_eq!(query.direction, Direction::Next);
        assert_eq!(ListQuery::parse("").order(), Order::Descending);
    }

    #[test]
    fn an_author_is_digits() {
        let author = |query: &str| ListQuery::parse(query).author_id;
        assert_eq!(author("author_id=7"), Some(7));
        assert_eq!(author("author_id=99999999999999999999"), Some(i64::MAX));
        for query in [
            "author_id=",
            "author_id=%2B5",
            "author_id=+5",
            "author_id=%D9%A3",
            "author_id=-1",
            "author_id=5.0",
        ] {
            assert_eq!(author(query), None, "{query}");
        }
    }

    #[test]
    fn another_page_keeps_what_was_understood() {
        let query = ListQuery::parse("status=published&x=1&author_id=007&sort=nonsense");
        assert_eq!(query.page(None, Direction::Prev), "status=published&author_id=7");
    }

    proptest! {
        #[test]
        fn any_query_is_read_and_another_page_of_it_reads_the_same(query in ".*|((sort|order|status|author_id|dir)=[a-z_0-9]*&?){0,6}") {
            let query = ListQuery::parse(&query);
            prop_assert_eq!(
                ListQuery::parse(&query.page(query.cursor, query.direction)).page(None, Direction::Next),
                query.page(None, Direction::Next)
            );
        }
    }
}
