//! The errors of authorization requests.

use crate::clients::documents::DocumentError;
use crate::params::ReadError;
use storage::db;

/// The reason why an authorization request failed.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizationError {
    /// The client or the redirect URI is unknown or the request is unreadable. The message belongs on a page:
    /// a redirect would be open to abuse (RFC 6749 §4.1.2.1).
    #[error("{0}")]
    Page(String),
    /// An error response, which the client gets.
    #[error("the request was rejected by a redirect to the client")]
    Redirect(ErrorResponse),
    /// The flow has its code, or the user has refused it.
    #[error("the flow is finished")]
    FlowFinished,
    /// The session of the user ended while the user decided.
    #[error("the session has ended")]
    SessionEnded,
    /// The database failed or did not answer.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The parameters could not be read, which only a field of a wrong type causes.
    #[error("cannot read the authorization request: {0}")]
    Read(#[from] ReadError),
    /// The client is not known by its document.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// An error response of the authorization endpoint (RFC 6749 §4.1.2.1).
#[derive(Debug)]
pub struct ErrorResponse {
    /// The value of `error`.
    pub error: &'static str,
    /// The value of `error_description`, which may be empty.
    pub description: &'static str,
    /// The client's redirect URI with the error in its query.
    pub redirect: String,
}

impl ErrorResponse {
    /// Returns the response as a message for a page, for a request whose redirect URI is not known to be that
    /// of the client.
    pub(super) fn in_words(&self) -> String {
        match self.description {
            "" => format!("The request is not acceptable ({}).", self.error),
            description => format!("The request is not acceptable ({}): {description}.", self.error),
        }
    }
}

impl AuthorizationError {
    /// Returns the error that a page shows.
    pub(super) fn page(message: &str) -> Self {
        Self::Page(message.to_owned())
    }

    /// Returns the error for a reference to no pushed request of the client. Its code is that of RFC 9101 §7.
    pub(super) fn invalid_request_uri() -> Self {
        Self::page(
            "The request_uri is unknown, expired or used, or another application got it (invalid_request_uri). Go back to \
             the application and start again.",
        )
    }

    /// Returns the error for parameters with a flaw that the client is not told about.
    pub(super) fn unreadable(flaw: &str) -> Self {
        Self::Page(format!("The request cannot be read: {flaw}."))
    }

    /// Returns the error for a client that was changed or deleted while the user decided.
    pub(super) fn client_changed() -> Self {
        Self::page("This application was changed meanwhile. Go back to it and start again.")
    }

    /// Returns the error for a disabled client.
    pub(super) fn client_disabled() -> Self {
        Self::page("This application is disabled.")
    }
}
