//! Comments on posts. A caller who may see a post may see its comments, so the functions that read or create
//! comments on a post take a [`VisiblePost`], which only a check of the caller's permission returns.
//!
//! [`VisiblePost`]: crate::posts::VisiblePost

mod comment;
pub(crate) mod list;
pub(crate) mod store;

pub use comment::{Comment, CommentBody, NewComment};
pub use list::{ListQuery, list};
pub use store::{Error, create, delete, find, find_to_delete, of_author};
