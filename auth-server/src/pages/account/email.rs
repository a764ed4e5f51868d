//! The page to change the address of an account.

use crate::pages::{FormState, render, text};
use askama::Template;
use axum::response::Response;

/// The form to change the address of an account.
#[derive(Template)]
#[template(path = "email.html")]
pub(crate) struct EmailPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The present address.
    pub(crate) email: &'a str,
    /// The address that the field contains, which may be empty.
    pub(crate) new_email: &'a str,
}

/// Renders the form to change the address of an account.
pub(crate) fn email(page: &EmailPage<'_>) -> Response {
    render(&text::of("change-email").plain(), page)
}
