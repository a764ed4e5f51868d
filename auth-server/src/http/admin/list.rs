//! Lists: `{items, next, links}`, as the API has them.

use crate::app::App;
use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use issuer::params::Params;
use serde::Serialize;
use std::convert::Infallible;
use utoipa::ToSchema;

/// The number of items on a full page.
pub(super) const PAGE_SIZE: i64 = 20;

/// The query of a list: the filters, and the cursor of the page.
pub(crate) trait ListQuery {
    /// Reads a query. Ignores unknown parameters and invalid values.
    fn read(params: &Params) -> Self;

    /// Returns the valid filters as query parameters, for the link to the next page.
    fn filters(&self) -> Vec<(&'static str, Option<String>)>;
}

/// A request for a page of a list.
#[derive(Debug)]
pub(crate) struct ListRequest<Q> {
    /// The query.
    pub(super) query: Q,
    /// The absolute URL of the list, without a query string.
    url: String,
}

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

impl<Q: ListQuery> FromRequestParts<App> for ListRequest<Q> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self {
            query: Q::read(&Params::from_form(
                parts.uri.query().unwrap_or_default().as_bytes(),
            )),
            url: app.policy.url(parts.uri.path()),
        })
    }
}

impl<Q: ListQuery> ListRequest<Q> {
    /// Returns the page with these items, at most [`PAGE_SIZE`] of them. `cursor` returns the position of an item.
    pub(super) fn page<T>(&self, items: Vec<T>, cursor: impl FnOnce(&T) -> String) -> Json<Page<T>> {
        let is_full = i64::try_from(items.len()) == Ok(PAGE_SIZE);
        let next = items.last().filter(|_| is_full).map(cursor);
        let link = next.as_ref().map(|next| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            for (name, value) in self.query.filters() {
                query.extend_pairs(value.map(|value| (name, value)));
            }
            query.append_pair("cursor", next);
            format!("{}?{}", self.url, query.finish())
        });
        let links = Links { next: link };
        Json(Page { items, next, links })
    }
}
