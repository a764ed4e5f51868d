//! The logo of an app that describes itself, for the consent page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foundation::json;
use http_client::{ForeignUrl, Guard, GuardedClient};
use serde_json::Value;

/// The longest image, in bytes. As base64 it leaves room for the rest of a small page.
const MAX_BYTES: usize = 24 * 1024;

/// The formats of images, with the bytes at which each is recognized: the first of them, and those from the
/// ninth on. SVG is not among them: it can hold scripts and references.
const FORMATS: [(&str, &[u8], &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n", b""),
    ("image/jpeg", b"\xff\xd8\xff", b""),
    ("image/gif", b"GIF8", b""),
    ("image/webp", b"RIFF", b"WEBP"),
];

/// Fetches the image that the `logo_uri` of a document names. Returns it as a `data:` URL (RFC 2397), so that
/// no browser of a user calls the server of the app. Returns `None` if the document has no logo, or one that
/// cannot be used.
pub(super) async fn fetch(document: &[u8], http: &GuardedClient) -> Option<String> {
    let url = url_of(document, http.guard())?;
    match http.get_image(&url, MAX_BYTES).await {
        Ok(image) => data_url(&image),
        Err(error) => {
            tracing::info!(error = error.detail, "cannot fetch the logo of a client");
            None
        }
    }
}

/// Returns the URL of the logo in a document, if the guard accepts it.
fn url_of(document: &[u8], guard: Guard) -> Option<ForeignUrl> {
    let document = json::parse(document).ok()?;
    let url = document.get("logo_uri").and_then(Value::as_str)?;
    guard.parse(url).ok()
}

/// Returns an image as a `data:` URL; `None` if its content is in none of the accepted formats.
fn data_url(image: &[u8]) -> Option<String> {
    let is_format = |(_, first, from_ninth): &&(&str, &[u8], &[u8])| {
        image.starts_with(first) && image.get(8..).unwrap_or_default().starts_with(from_ninth)
    };
    let (media_type, ..) = FORMATS.iter().find(is_format)?;
    Some(format!("data:{media_type};base64,{}", STANDARD.encode(image)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_recognized_by_their_content() {
        for (image, media_type) in [
            (b"\x89PNG\r\n\x1a\n....".as_slice(), "image/png"),
            (b"\xff\xd8\xff\xe0....", "image/jpeg"),
            (b"GIF89a....", "image/gif"),
            (b"RIFF....WEBPVP8 ", "image/webp"),
        ] {
            let url = data_url(image).unwrap();
            assert!(url.starts_with(&format!("data:{media_type};base64,")), "{url}");
        }
        for other in [
            b"".as_slice(),
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            b"<!doctype html>",
            b"RIFF....WAVEfmt ",
            b"RIFF",
        ] {
            assert_eq!(data_url(other), None, "{other:?}");
        }
    }

    #[test]
    fn only_acceptable_urls_are_fetched() {
        let production = Guard::of_server("https://id.example.org");
        let url = |document: &str| url_of(document.as_bytes(), production).map(|_| ());
        assert_eq!(url(r#"{"logo_uri":"https://app.example/logo.png"}"#), Some(()));
        for refused in [
            "{}",
            "[]",
            r#"{"logo_uri":null}"#,
            r#"{"logo_uri":["https://app.example/logo.png"]}"#,
            r#"{"logo_uri":"http://app.example/logo.png"}"#,
            r#"{"logo_uri":"https://10.0.0.1/logo.png"}"#,
            r#"{"logo_uri":"data:image/png;base64,"}"#,
        ] {
            assert_eq!(url(refused), None, "{refused}");
        }
    }
}
