//! The roles of users.

use crate::scope::Scope;
use serde::Serialize;
use utoipa::ToSchema;

/// A user's role. It limits the scope of every token that the user grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May change their own posts and comments.
    User,
    /// May change the posts and comments of all users.
    Editor,
    /// May do everything, including administration.
    Admin,
}

crate::names!(Role: User = "user", Editor = "editor", Admin = "admin");

impl Role {
    /// Returns the largest scope that the role permits: every scope name for administrators, every one but
    /// `admin` for the others.
    pub fn scope(self) -> Scope {
        match self {
            Self::Admin => Scope::all(),
            Self::User | Self::Editor => Scope::all().difference(Scope::named("admin").unwrap_or_default()),
        }
    }
}

/// Reads the column of a row. An unknown name, which a newer version may have stored, is the role that permits
/// least.
impl From<String> for Role {
    fn from(name: String) -> Self {
        Self::named(&name).unwrap_or(Self::User)
    }
}
