//! Who may see and change what others wrote.

use super::fields::Status;
use shared::identity::users::{Role, User};

/// A user, as far as posts and comments are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actor {
    /// What this user wrote is their own.
    pub user_id: i64,
    /// An editor or administrator: sees and changes what everyone wrote.
    pub is_moderator: bool,
}

impl From<&User> for Actor {
    fn from(user: &User) -> Self {
        Self {
            user_id: user.id,
            is_moderator: matches!(user.role, Role::Editor | Role::Admin),
        }
    }
}

impl Actor {
    /// Whether they may change what this author wrote.
    pub fn may_change(self, author_id: i64) -> bool {
        self.is_moderator || self.user_id == author_id
    }
}

/// Whether the viewer, who may be nobody, sees a post: drafts are for those who may change them.
pub(super) fn may_see(viewer: Option<Actor>, author_id: i64, status: Status) -> bool {
    status == Status::Published || viewer.is_some_and(|viewer| viewer.may_change(author_id))
}
