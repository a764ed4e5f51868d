//! A page of a list, `{items, next, links}`, as the API has it.

use serde::Serialize;
use utoipa::ToSchema;
use web::Policy;

/// The number of items on a full page.
pub(super) const SIZE: i64 = 20;

/// A page of a list.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminList)]
pub(crate) struct Page<T> {
    /// At most twenty items.
    items: Vec<T>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next: Option<String>,
    /// Links to other pages.
    links: Links,
}

/// Links to other pages of the list.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminListLinks)]
struct Links {
    /// The URL of the next page; null on the last page.
    #[schema(required, format = "uri")]
    next: Option<String>,
}

impl<T> Page<T> {
    /// Returns the page with these items, at most [`SIZE`] of them. `cursor` returns the position of an item, and the link
    /// repeats the valid `filters`.
    pub(super) fn new(
        items: Vec<T>,
        cursor: impl FnOnce(&T) -> String,
        filters: &[(&str, Option<String>)],
        (policy, path): (&Policy, &str),
    ) -> Self {
        let is_full = i64::try_from(items.len()) == Ok(SIZE);
        let next = items.last().filter(|_| is_full).map(cursor);
        let link = next.as_ref().map(|next| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            for (name, value) in filters {
                query.extend_pairs(value.iter().map(|value| (name, value)));
            }
            query.append_pair("cursor", next);
            policy.url(&format!("{path}?{}", query.finish()))
        });
        let links = Links { next: link };
        Self { items, next, links }
    }
}
