//! Scopes of access tokens (RFC 6749 §3.3).

use std::collections::BTreeSet;
use std::str::FromStr;
use utoipa::openapi::{ObjectBuilder, Type};

/// Every scope, in the order of the documentation.
pub const ALL: [&str; 7] = [
    "posts:read",
    "posts:write",
    "comments:write",
    "payments:read",
    "payments:write",
    "profile:read",
    "admin",
];

/// The scope of requests without `scope`, unless the client is registered with another default.
pub const DEFAULT: &str = "posts:read profile:read";

/// Returns the description of a scope for the consent page, or an empty text for a scope outside [`ALL`].
pub fn in_words(scope: &str) -> &'static str {
    match scope {
        "posts:read" => "Read posts, including your drafts",
        "posts:write" => "Write, edit and delete your posts",
        "comments:write" => "Write and delete your comments",
        "payments:read" => "See your payments",
        "payments:write" => "Make payments on your behalf",
        "profile:read" => "See your e-mail address and your account's role",
        "admin" => "Administer this service",
        _ => "",
    }
}

/// A set of known scopes. Displayed sorted and separated by spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(BTreeSet<&'static str>);

/// The error for a scope outside [`ALL`].
#[derive(Debug, thiserror::Error)]
#[error("unknown scope {0:?}: the scopes are {known}", known = ALL.join(", "))]
pub struct UnknownScope(String);

impl Scope {
    /// Returns the set of all scopes.
    pub fn all() -> Self {
        Self(ALL.into_iter().collect())
    }

    /// Returns whether `name` is in the set.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Returns whether every scope of `other` is in the set.
    pub fn covers(&self, other: &Self) -> bool {
        self.0.is_superset(&other.0)
    }

    /// Returns the scopes in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// Returns the scopes in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).copied().collect())
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    /// Parses names separated by spaces. Repeated names count once. Fails if a name is not in [`ALL`].
    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        text.split(' ')
            .filter(|name| !name.is_empty())
            .map(|name| {
                ALL.into_iter()
                    .find(|known| *known == name)
                    .ok_or_else(|| UnknownScope(name.to_owned()))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.iter().collect::<Vec<_>>().join(" "))
    }
}

crate::schema! {
    Scope = ObjectBuilder::new()
        .schema_type(Type::String)
        .examples([DEFAULT])
        .description(Some("Scopes separated by spaces (RFC 6749 §3.3)."));
}

impl serde::Serialize for Scope {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
