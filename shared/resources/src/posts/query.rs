//! The query parameters of the list of posts.

use super::fields::Status;
use foundation::list_query::{Order, PageRequest, Query};
use foundation::names;
use utoipa::{IntoParams, ToSchema};

/// The query parameters of the list of posts.
#[derive(Clone, Debug, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// The sort key; by default the time of creation.
    #[param(inline)]
    pub(super) sort: Option<Sort>,
    /// Only posts with this status.
    #[param(inline)]
    pub(super) status: Option<Status>,
    /// Only posts of this user.
    #[param(minimum = 0)]
    pub(super) author_id: Option<i64>,
    /// The requested page.
    #[param(ignore)]
    pub page: PageRequest,
}

/// The sort key of posts. Posts with equal keys are sorted by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub(super) enum Sort {
    CreatedAt,
    Title,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            sort: query.first("sort", Sort::named),
            status: query.first("status", |text| text.parse().ok()),
            author_id: query.number("author_id"),
            page: query.page_request(),
        }
    }

    /// Returns the sort key.
    pub(super) fn sort(&self) -> Sort {
        self.sort.unwrap_or(Sort::CreatedAt)
    }

    /// Returns the order; by default the newest post or the first title comes first.
    pub(super) fn order(&self) -> Order {
        self.page.order.unwrap_or(match self.sort() {
            Sort::CreatedAt => Order::Descending,
            Sort::Title => Order::Ascending,
        })
    }
}

names!(Sort: CreatedAt = "created_at", Title = "title");

impl Sort {
    /// Returns the columns of the sort key.
    pub(super) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::CreatedAt => &["created_at", "id"],
            Self::Title => &["title", "id"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foundation::list_query::Direction;
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
    fn an_author_id_is_ascii_digits() {
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
    fn links_to_other_pages_keep_the_valid_parameters() {
        let query = ListQuery::parse("status=published&x=1&author_id=007&sort=nonsense");
        assert_eq!(
            query.page.query_string(None, Direction::Prev),
            "status=published&author_id=7"
        );
    }

    proptest! {
        #[test]
        fn every_query_string_is_parsed_and_its_page_links_keep_the_parameters(query in ".*|((sort|order|status|author_id|dir)=[a-z_0-9]*&?){0,6}") {
            let query = ListQuery::parse(&query);
            let link = query.page.query_string(query.page.cursor.as_ref(), query.page.direction);
            prop_assert_eq!(
                ListQuery::parse(&link).page.query_string(None, Direction::Next),
                query.page.query_string(None, Direction::Next)
            );
        }
    }
}
