//! Comments: fields, who sees and deletes them, their pages.

mod deleting;
mod fields;
mod pages;
mod visibility;

/// The path of a post that is not there.
const NO_POST: &str = "/posts/999999";
