//! The query parameters of a list, and the links to its other pages. Unknown parameters and invalid values
//! are ignored, never rejected.

use crate::cursor::Cursor;
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::str::FromStr;
use utoipa::{IntoParams, ToSchema};

/// The length of most query strings, in bytes.
const QUERY_CAPACITY: usize = 160;
/// The longest value that the links to other pages repeat, in bytes. They are in the head of the response,
/// which proxies limit.
const MAX_LENGTH: usize = 512;

/// A parsed query string. It records the valid filter and sort parameters that were read, for the links to
/// other pages, and those whose values are all invalid.
#[derive(Debug)]
pub struct Query<'a> {
    parameters: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    accepted: Vec<(&'static str, String)>,
    refused: Vec<(&'static str, String)>,
}

/// The requested page of a list.
#[derive(Clone, Debug, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageRequest<C: ToSchema = Cursor> {
    /// The order; each list has one by default.
    #[param(inline)]
    pub order: Option<Order>,
    /// The value of `next` on the previous page.
    #[param(inline)]
    pub cursor: Option<C>,
    /// The direction from the cursor.
    #[param(rename = "dir", required = false, inline)]
    pub direction: Direction,
    /// The accepted filter and sort parameters, which the links to other pages repeat.
    #[param(ignore)]
    accepted: Vec<(&'static str, String)>,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
pub enum Order {
    /// The smallest first.
    #[schema(rename = "asc")]
    Ascending,
    /// The largest first.
    #[schema(rename = "desc")]
    Descending,
}

/// The direction from the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Direction {
    /// The items after it.
    #[default]
    Next,
    /// The items before it.
    Prev,
}

impl<'a> Query<'a> {
    /// Parses a query string.
    pub fn read(query: &'a str) -> Self {
        Self {
            parameters: form_urlencoded::parse(query.as_bytes()).collect(),
            accepted: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Returns the first valid value of the parameter `name`, and records it for the links to other pages. A
    /// value of more than 512 bytes is not valid.
    pub fn first<T>(&mut self, name: &'static str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = self.find(name, |text| match text.len() > MAX_LENGTH {
            true => None,
            false => parse(text),
        });
        let Some((text, value)) = found else {
            let invalid = self.find(name, |text| (!text.trim().is_empty()).then_some(()));
            let invalid = invalid.map(|(text, ())| (name, text.chars().take(MAX_LENGTH).collect()));
            self.refused.extend(invalid);
            return None;
        };
        let text = text.to_owned();
        self.accepted.push((name, text));
        Some(value)
    }

    /// Returns the parameters read by [`first`](Self::first) that have a value, but no valid one, with the
    /// first of their values, cut to 512 characters.
    pub fn refused(&self) -> &[(&'static str, String)] {
        &self.refused
    }

    /// Returns the first value of the parameter `name` that consists of ASCII digits, and records it. A
    /// number larger than `i64::MAX` becomes `i64::MAX`, which is not the id of anything.
    pub fn number(&mut self, name: &'static str) -> Option<i64> {
        let (_, number) = self.find(name, |text| {
            let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_digits.then(|| text.parse().unwrap_or(i64::MAX))
        })?;
        self.accepted.push((name, number.to_string()));
        Some(number)
    }

    /// Returns the requested page. Call this after the list's own parameters are read.
    pub fn page_request<C: FromStr + ToSchema>(mut self) -> PageRequest<C> {
        PageRequest {
            order: self.first("order", Order::named),
            cursor: self
                .find("cursor", |text| text.parse().ok())
                .map(|(_, cursor)| cursor),
            direction: self.find("dir", Direction::named).unwrap_or_default().1,
            accepted: self.accepted,
        }
    }

    /// Returns the first text of the parameter `name` that is valid, and its value, without recording it.
    fn find<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<(&str, T)> {
        let mut texts = self.parameters.iter().filter(|(parameter, _)| parameter == name);
        texts.find_map(|(_, text)| Some((&**text, parse(text)?)))
    }
}

/// Parses a text that a column may contain, which has no control character. Blanks around it are left out.
pub fn parse_text(text: &str) -> Option<String> {
    let text = text.trim();
    let is_stored = !text.is_empty() && !text.contains(char::is_control);
    is_stored.then(|| text.to_owned())
}

impl<C: ToSchema> PageRequest<C> {
    /// Returns the request for the page after the cursor, or for the first page.
    pub const fn after(cursor: Option<C>, order: Option<Order>) -> Self {
        Self {
            order,
            cursor,
            direction: Direction::Next,
            accepted: Vec::new(),
        }
    }

    /// Returns the accepted filter and sort parameters.
    pub fn accepted(&self) -> &[(&'static str, String)] {
        &self.accepted
    }
}

impl<C: ToSchema + Display> PageRequest<C> {
    /// Returns the URL of the page in this direction from the cursor, as [`PageRequest::query_string`] has
    /// its query. `list_url` is the URL of the list, without a query.
    pub fn url(&self, list_url: &str, cursor: Option<&C>, direction: Direction) -> String {
        match self.query_string(cursor, direction) {
            query if query.is_empty() => list_url.to_owned(),
            query => format!("{list_url}?{query}"),
        }
    }

    /// Returns the URL of the requested page itself. `list_url` is the URL of the list, without a query.
    pub fn requested_url(&self, list_url: &str) -> String {
        self.url(list_url, self.cursor.as_ref(), self.direction)
    }

    /// Returns the query string of the page in this direction from the cursor, in the same list with the same
    /// filters. Without a cursor it is that of the first page.
    pub fn query_string(&self, cursor: Option<&C>, direction: Direction) -> String {
        let mut text = form_urlencoded::Serializer::new(String::with_capacity(QUERY_CAPACITY));
        text.extend_pairs(&self.accepted);
        if let Some(cursor) = cursor {
            text.append_pair("cursor", &cursor.to_string());
            if direction == Direction::Prev {
                text.append_pair("dir", direction.as_str());
            }
        }
        text.finish()
    }
}

crate::names!(Order: Ascending = "asc", Descending = "desc");
crate::names!(Direction: Next = "next", Prev = "prev");

impl Order {
    /// Returns the opposite order.
    pub const fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

/// Writes the parameter's value, which is the SQL keyword too.
impl Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
