//! The service client of a drill.

use foundation::secret::Secret;

/// The scope that the service client needs.
pub const SCOPE: &str = "posts:read";

/// The credentials of the client with which a drill gets its tokens (RFC 6749 §2.3.1).
#[derive(Debug)]
pub struct ServiceClient {
    /// `client_id`.
    pub id: String,
    /// `client_secret`.
    pub secret: Secret,
}
