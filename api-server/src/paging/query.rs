//! What a list is asked for. Nothing in it is ever refused: what is not understood is ignored.

use shared::cursor::Cursor;
use std::fmt::{self, Display};
use utoipa::{IntoParams, ToSchema};

/// A query string, of which is kept what was understood.
#[derive(Debug)]
pub(crate) struct Query {
    given: Vec<(String, String)>,
    understood: Vec<(&'static str, String)>,
}

/// Which page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Walk {
    /// Which end comes first: the newest, or the least title, unless told otherwise.
    #[param(inline)]
    pub(crate) order: Option<Order>,
    /// From where on: `next` of the page before.
    #[param(inline)]
    pub(crate) cursor: Option<Cursor>,
    /// Which way from the cursor.
    #[param(rename = "dir", required = false, inline)]
    pub(crate) direction: Direction,
    /// What else makes it this list: it goes into the links.
    #[param(ignore)]
    understood: Vec<(&'static str, String)>,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
pub(crate) enum Order {
    /// The least.
    #[schema(rename = "asc")]
    Ascending,
    /// The greatest.
    #[schema(rename = "desc")]
    Descending,
}

/// Which way from the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Direction {
    /// The items after it.
    #[default]
    Next,
    /// The items before it.
    Prev,
}

impl Query {
    /// Takes a query string apart.
    pub(crate) fn read(query: &str) -> Self {
        Self {
            given: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            understood: Vec::new(),
        }
    }

    /// The first valid value of a name.
    pub(crate) fn first<T: Display>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.find(name, parse)?;
        self.understood.push((name, value.to_string()));
        Some(value)
    }

    /// Whose items: ASCII digits only. Nobody has the id `i64::MAX`, which stands for digits beyond it too.
    pub(crate) fn author_id(&mut self) -> Option<i64> {
        self.first("author_id", |text| {
            let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_digits.then(|| text.parse().unwrap_or(i64::MAX))
        })
    }

    /// Which page of the list; to be asked last.
    pub(crate) fn walk(mut self) -> Walk {
        Walk {
            order: self.first("order", Order::parse),
            cursor: self.find("cursor", Cursor::parse),
            direction: self.find("dir", Direction::parse).unwrap_or_default(),
            understood: self.understood,
        }
    }

    fn find<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut values = self.given.iter().filter(|(found, _)| found == name);
        values.find_map(|(_, value)| parse(value))
    }
}

impl Walk {
    /// The query string of another page of the same list; without a cursor, of its first page.
    pub(crate) fn page(&self, cursor: Option<Cursor>, direction: Direction) -> String {
        let mut text = form_urlencoded::Serializer::new(String::new());
        text.extend_pairs(&self.understood);
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

    /// The other end first.
    pub(super) const fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

/// The parameter's value, and the SQL keyword.
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
