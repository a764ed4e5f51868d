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

/// Parses an http or https URL without path, query, fragment, user name and password. The error is a message
/// for the operator.
pub fn parse_origin(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    if !is_http(&url) || !is_bare || has_user(&url) {
        return Err(
            "the URL must be an origin without path or query, such as https://id.example.org".to_owned(),
        );
    }
    Ok(url)
}

/// Parses an http or https URL without user name and password: a setting that is not secret is shown. The
/// error is a message for the operator.
pub fn parse_http_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !is_http(&url) {
        return Err("it must be an http or https URL".to_owned());
    }
    if has_user(&url) {
        return Err("it must not contain a user name or a password".to_owned());
    }
    Ok(url)
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_have_no_path_query_or_user() {
        assert!(parse_origin("https://id.example.org").is_ok());
        for text in [
            "id.example.org",
            "ftp://a.b",
            "https://a.b/c",
            "https://a.b?c",
            "https://u@a.b",
        ] {
            assert!(parse_origin(text).is_err(), "{text}");
        }
    }

    #[test]
    fn http_urls_have_no_user() {
        assert!(parse_http_url("http://a.b:8080/c?d").is_ok());
        for text in ["a.b", "ftp://a.b", "https://u@a.b/c", "https://:p@a.b/c"] {
            assert!(parse_http_url(text).is_err(), "{text}");
        }
    }
}
