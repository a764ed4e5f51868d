//! Comments: fields, visibility, deletion and pages.

mod deleting;
mod fields;
mod pages;
mod visibility;

/// The path of a post that does not exist.
const NO_POST: &str = "/posts/999999";
