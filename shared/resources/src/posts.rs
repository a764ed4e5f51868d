//! Posts: their fields, who may see and change them, and how they are stored.

mod actor;
pub(crate) mod create;
mod error;
mod fields;
pub(crate) mod list;
mod patch;
mod post;
mod query;
pub(crate) mod store;

pub use actor::Actor;
pub use create::create;
pub use error::Error;
pub use fields::{NewPost, PostBody, PostTitle, Status};
pub use list::{list, of_author};
pub use patch::PostPatch;
pub use post::Post;
pub use query::ListQuery;
pub use store::{
    VisiblePost, delete, delete_never_published, delete_version, find, find_to_change, find_visible,
    renew_versions, update,
};
