//! The page on which users delete their account.

use crate::pages::text::{self, Text};
use crate::pages::{FormState, render};
use askama::Template;
use axum::response::Response;
use resources::accounts::{COUNTED, Content};

/// The form that deletes an account.
#[derive(Template)]
#[template(path = "deletion.html")]
pub(crate) struct DeletionPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The address of the account.
    pub(crate) email: &'a str,
    /// The number of sessions that end.
    pub(crate) sessions: u64,
    /// The number of apps that lose access, which may be a lower bound as those of [`Content`].
    pub(crate) apps: u64,
    /// The numbers of things that the user made.
    pub(crate) content: Content,
}

/// Renders the form that deletes an account.
pub(crate) fn deletion(page: &DeletionPage<'_>) -> Response {
    render(&text::of("deletion").plain(), page)
}

/// Sets the argument `n` of a text to a number, or to "more than 1000" if the number is only a lower bound.
fn counted<'a>(text: Text<'a>, n: &u64) -> Text<'a> {
    match *n {
        n if n > COUNTED => text.with("n", text::of("more-than").count("n", COUNTED).plain()),
        n => text.count("n", n),
    }
}
