//! Reading header fields.

use axum::http::HeaderMap;

/// Returns the value of a header that must appear once; `None` if it is absent, repeated or not visible
/// ASCII.
pub fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
