//! Scopes of access tokens (RFC 6749 §3.3).

use std::str::FromStr;
use utoipa::openapi::{ObjectBuilder, Type};

/// Every scope, in the order of the documentation.
pub const ALL: [&str; 10] = [
    "posts:read",
    "posts:write",
    "comments:write",
    "payments:read",
    "payments:write",
    "profile:read",
    "admin",
    OPENID,
    "profile",
    "email",
];

/// The scopes of calls to the API and of administration: the first seven of [`ALL`]. The others are about the
/// identity of the user (OpenID Connect Core §5.4).
pub const OF_API: &[&str] = ALL.split_at(7).0;

/// The scope that makes an authorization request one of OpenID Connect (OpenID Connect Core §3.1.2.1).
pub const OPENID: &str = "openid";

/// The scope by which libraries ask for refresh tokens (OpenID Connect Core §11). Every app with users gets
/// them, so the scope is accepted without effect: it is no member of a [`Scope`], no permission, and needs no
/// registration.
pub const OFFLINE_ACCESS: &str = "offline_access";

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
        OPENID => "Recognize you when you sign in",
        "profile" => "See when your account was last changed",
        "email" => "See your e-mail address and whether it is confirmed",
        _ => "",
    }
}

/// The positions in [`ALL`] of the scopes, sorted by name.
const SORTED: [usize; ALL.len()] = [6, 2, 9, 7, 3, 4, 0, 1, 8, 5];

/// A set of known scopes. Displayed sorted and separated by spaces.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Scope(
    /// Bit n stands for the scope at position n of [`ALL`].
    u16,
);

/// The error for a scope outside [`ALL`].
#[derive(Debug, thiserror::Error)]
#[error("unknown scope {0:?}: the scopes are {known}", known = ALL.join(", "))]
pub struct UnknownScope(String);

impl Scope {
    /// Returns the set of all scopes.
    pub const fn all() -> Self {
        Self((1 << ALL.len()) - 1)
    }

    /// Returns the set of the scope with this name; `None` if the name is not in [`ALL`].
    pub fn named(name: &str) -> Option<Self> {
        let position = ALL.iter().position(|known| *known == name)?;
        Some(Self(1 << position))
    }

    /// Returns whether `name` is in the set.
    pub fn contains(self, name: &str) -> bool {
        Self::named(name).is_some_and(|one| self.covers(one))
    }

    /// Returns whether every scope of `other` is in the set.
    pub const fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the scopes in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the scopes in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the scopes that are not in `other`.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the names, sorted.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        let members = SORTED
            .into_iter()
            .filter(move |position| self.0 & (1 << position) != 0);
        members.map(|position| ALL[position])
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    /// Parses names separated by spaces. Repeated names count once, and [`OFFLINE_ACCESS`] does not. Fails if
    /// another name is not in [`ALL`].
    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let names = text.split(' ');
        let names = names.filter(|name| !name.is_empty() && *name != OFFLINE_ACCESS);
        names
            .map(|name| Self::named(name).ok_or_else(|| UnknownScope(name.to_owned())))
            .try_fold(Self::default(), |all, one| Ok(all.union(one?)))
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut separator = "";
        for name in self.iter() {
            f.write_str(separator)?;
            f.write_str(name)?;
            separator = " ";
        }
        Ok(())
    }
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scope({self})")
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
