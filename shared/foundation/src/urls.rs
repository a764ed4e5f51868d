//! The URLs of a running program, and origins (RFC 6454).

use url::Url;

/// The URLs of a running program, known once its listener is bound.
#[derive(Clone, Debug)]
pub struct Urls {
    /// The base URL under which clients reach the program.
    pub base: Url,
    /// The issuer (`iss`), without a trailing slash.
    pub issuer: String,
    /// The audience (`aud`) of access tokens.
    pub audience: String,
}

/// Returns the origin of a URL in the form of the `Origin` header (RFC 6454 §6.1).
pub fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}
