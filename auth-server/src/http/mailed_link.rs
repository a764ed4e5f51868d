//! The token of a mailed link. The link has it in its query. The script of the page removes it from the
//! address, so that neither the history of the browser nor a screen that others see shows it, and a cookie
//! keeps it for a reload.

use super::forms::LinkQuery;
use super::{browser, flow};
use crate::app::App;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::secret::Secret;
use std::time::Duration;
use web::cookies;

const COOKIE: &str = "mailed_token";
/// The time for which a browser keeps a token.
const LIFETIME: Duration = Duration::from_secs(600);
/// The longest token that is kept.
const MAX_LENGTH: usize = 128;

/// Returns the token of the link, or the one that the browser keeps for the page. Returns an empty text if
/// there is neither; no link has it as its token.
pub(super) fn token(query: LinkQuery, headers: &HeaderMap) -> Secret {
    let kept = || cookies::single(headers, COOKIE).map(str::to_owned);
    Secret::new(query.token.or_else(kept).unwrap_or_default())
}

/// Returns the `Set-Cookie` value that keeps the token for the page with this path.
pub(super) fn cookie(token: &Secret, page: &str) -> HeaderValue {
    let token = token.expose();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match token.len() <= MAX_LENGTH && token.bytes().all(is_plain) {
        true => cookies::set_lax(COOKIE, token, page, LIFETIME),
        false => removal(page),
    }
}

/// Removes what the browser keeps for the page with this path, after the token was used: the token, the
/// interrupted flow, and the cookie of the session, if the use has ended it. `done` is the response.
pub(super) async fn finish(
    app: &App,
    page: &str,
    headers: &HeaderMap,
    mut done: Response,
    now: Timestamp,
) -> Response {
    let kept = [flow::interrupted_cookie(None, page), removal(page)];
    let ended = browser::removal_of_ended(&app.identity, headers, now).await;
    for removal in kept.into_iter().chain(ended) {
        done.headers_mut().append(header::SET_COOKIE, removal);
    }
    done
}

fn removal(page: &str) -> HeaderValue {
    cookies::set_lax(COOKIE, "", page, Duration::ZERO)
}
