//! Reading header fields.

use axum::http::HeaderMap;

/// Returns the value of a header that must appear once; `None` if it is absent, repeated or not visible
/// ASCII.
pub fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Splits a header at the separators that are not in a quoted string (RFC 9110 §5.6.4).
pub(crate) fn split_unquoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |char| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        is_escaped = is_quoted && char == '\\';
        is_quoted ^= char == '"';
        char == separator && !is_quoted
    })
}
