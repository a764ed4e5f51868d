//! Queries of lists: the link to the next page has the parameters that were accepted.

use crate::harness::text;
use resources::posts::ListQuery;

pub(super) fn check(input: &[u8]) {
    let Some(query) = text(input).map(ListQuery::parse) else {
        return;
    };
    let link = query.page.query_string(query.page.cursor.as_ref(), query.page.direction);
    let mut next = ListQuery::parse(&link);
    if query.page.cursor.is_none() {
        next.page.direction = query.page.direction;
    }
    assert_eq!(next, query);
}
