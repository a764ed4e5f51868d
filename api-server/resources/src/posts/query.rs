//! What a list of posts is asked for. Nothing in it is ever refused: what is not understood is ignored.

use super::fields::Status;
use crate::paging::{Order, PageRequest, Query};
use utoipa::{IntoParams, ToSchema};

/// The one way of asking for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// What the list is sorted by; by the time of creation unless told otherwise.
    #[param(inline)]
    pub(super) sort: Option<Sort>,
    /// Posts of this status alone.
    #[param(inline)]
    pub(super) status: Option<Status>,
    /// Posts of this user alone.
    #[param(minimum = 0)]
    pub(super) author_id: Option<i64>,
    /// Which page.
    #[param(ignore)]
    pub page: PageRequest,
}

/// What posts are sorted by; ties by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub(super) enum Sort {
    CreatedAt,
    Title,
}

impl ListQuery {
    /// Reads a query string.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            sort: query.first("sort", Sort::parse),
            status: query.first("status", |text| text.parse().ok()),
            author_id: query.author_id(),
            page: query.page_request(),
        }
    }

    /// What to sort by.
    pub(super) fn sort(&self) -> Sort {
        self.sort.unwrap_or(Sort::CreatedAt)
    }

    /// Which end comes first: the newest, or the least title, unless told otherwise.
    pub(super) fn order(&self) -> Order {
        self.page.order.unwrap_or(match self.sort() {
            Sort::CreatedAt => Order::Descending,
            Sort::Title => Order::Ascending,
        })
    }
}

impl Sort {
    pub(super) const ALL: [Self; 2] = [Self::CreatedAt, Self::Title];

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.as_str() == text)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "created_at",
            Self::Title => "title",
        }
    }
}

/// The parameter's value, and the column.
impl std::fmt::Display for Sort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paging::Direction;
    use proptest::prelude::*;

    #[test]
    fn the_first_valid_value_of_a_name_wins_and_the_rest_is_ignored() {
        let query =
            ListQuery::parse("x=1&sort=id&sort=title&sort=created_at&order=DESC&status=&status=draft&dir=up");
        assert_eq!(query.sort, Some(Sort::Title));
        assert_eq!(query.page.order, None);
        assert_eq!(query.order(), Order::Ascending);
        assert_eq!(query.status, Some(Status::Draft));
        assert_eq!(query.page.direction, Direction::Next);
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
        assert_eq!(
            query.page.query_string(None, Direction::Prev),
            "status=published&author_id=7"
        );
    }

    proptest! {
        #[test]
        fn any_query_is_read_and_another_page_of_it_reads_the_same(query in ".*|((sort|order|status|author_id|dir)=[a-z_0-9]*&?){0,6}") {
            let query = ListQuery::parse(&query);
            let link = query.page.query_string(query.page.cursor, query.page.direction);
            prop_assert_eq!(
                ListQuery::parse(&link).page.query_string(None, Direction::Next),
                query.page.query_string(None, Direction::Next)
            );
        }
    }
}
