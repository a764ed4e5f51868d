//! The query parameters of a list. Unknown parameters and invalid values are ignored, never rejected.

use foundation::cursor::Cursor;
use std::borrow::Cow;
use std::fmt::{self, Display};
use utoipa::{IntoParams, ToSchema};

/// The length of most query strings, in bytes.
const QUERY_CAPACITY: usize = 160;

/// A parsed query string. It records the valid filter and sort parameters that were read, for the links to other pages.
#[derive(Debug)]
pub struct Query<'a> {
    parameters: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    accepted: Vec<(&'static str, String)>,
}

/// The requested page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageRequest {
    /// The order; by default the newest item or the first title comes first.
    #[param(inline)]
    pub order: Option<Order>,
    /// The value of `next` on the previous page.
    #[param(inline)]
    pub cursor: Option<Cursor>,
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
        }
    }

    /// Returns the first valid value of the parameter `name`, and records it for the links to other pages.
    pub fn first<T: Display>(&mut self, name: &'static str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = self.find(name, parse)?;
        self.accepted.push((name, value.to_string()));
        Some(value)
    }

    /// Returns the first `author_id` that consists of ASCII digits. A number larger than `i64::MAX` becomes `i64::MAX`,
    /// which is not the id of any user.
    pub fn author_id(&mut self) -> Option<i64> {
        self.first("author_id", |text| {
            let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_digits.then(|| text.parse().unwrap_or(i64::MAX))
        })
    }

    /// Returns the requested page. Call this after the list's own parameters are read.
    pub fn page_request(mut self) -> PageRequest {
        PageRequest {
            order: self.first("order", Order::parse),
            cursor: self.find("cursor", Cursor::parse),
            direction: self.find("dir", Direction::parse).unwrap_or_default(),
            accepted: self.accepted,
        }
    }

    /// Returns the first valid value of the parameter `name` without recording it.
    fn find<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut values = self.parameters.iter().filter(|(parameter, _)| parameter == name);
        values.find_map(|(_, value)| parse(value))
    }
}

impl PageRequest {
    /// Returns the query string of the page in this direction from the cursor, in the same list with the same filters.
    /// Without a cursor it is that of the first page.
    pub fn query_string(&self, cursor: Option<Cursor>, direction: Direction) -> String {
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

impl Order {
    fn parse(text: &str) -> Option<Self> {
        [Self::Ascending, Self::Descending]
            .into_iter()
            .find(|order| order.as_str() == text)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        }
    }

    /// Returns the opposite order.
    pub(super) const fn reversed(self) -> Self {
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

impl Direction {
    fn parse(text: &str) -> Option<Self> {
        [Self::Next, Self::Prev]
            .into_iter()
            .find(|direction| direction.as_str() == text)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Prev => "prev",
        }
    }
}
