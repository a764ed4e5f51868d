//! The roles of users.

use foundation::scope::{self, Scope};
use serde::Serialize;
use utoipa::ToSchema;

/// A user's role. It limits the scope of every token that the user grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May change their own posts and comments.
    User,
    /// May change the posts and comments of all users.
    Editor,
    /// May do everything, including administration.
    Admin,
}

impl Role {
    /// Returns the role's name as the database stores it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }

    /// Returns the largest scope that the role permits: every scope name for administrators, every one but `admin`
    /// for the others.
    pub fn scope(self) -> Scope {
        match self {
            Self::Admin => Scope::all(),
            Self::User | Self::Editor => scope::ALL
                .into_iter()
                .filter(|name| *name != "admin")
                .collect::<Vec<_>>()
                .join(" ")
                .parse()
                .unwrap_or_default(),
        }
    }
}
