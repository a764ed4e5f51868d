//! Permissions on posts and comments.

use super::fields::Status;
use foundation::role::Role;

/// A user who reads or writes posts and comments, with the facts that determine the user's permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The id of the user.
    pub user_id: i64,
    /// Whether the user is an editor or administrator, who may see and change all posts and comments.
    pub is_moderator: bool,
}

impl Actor {
    /// Returns the user with this id and role.
    pub fn new(user_id: i64, role: Role) -> Self {
        Self {
            user_id,
            is_moderator: matches!(role, Role::Editor | Role::Admin),
        }
    }

    /// Returns whether the user may change the posts and comments of this author.
    pub fn may_change(self, author_id: i64) -> bool {
        self.is_moderator || self.user_id == author_id
    }
}

/// Returns whether the viewer may see a post of this author. A draft is visible only to users who may change
/// it. `None` is an anonymous viewer.
pub(super) fn may_see(viewer: Option<Actor>, author_id: i64, status: Status) -> bool {
    status == Status::Published || viewer.is_some_and(|viewer| viewer.may_change(author_id))
}
