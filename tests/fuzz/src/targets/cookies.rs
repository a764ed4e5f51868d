//! `Cookie`: several cookies of one name are an error, and a value that was read can be set and read again.

use crate::harness::headers;
use axum::http::header;
use web::cookies;

pub(super) fn check(input: &[u8]) {
    let request = headers(&header::COOKIE, input);
    let all = cookies::all(&request, cookies::SID);
    let sid = cookies::sid(&request).map(|sid| sid.map(|sid| sid.expose().to_owned()));
    assert_eq!(sid.is_err(), all.len() > 1);
    let Ok(Some(sid)) = sid else { return };
    assert_eq!((cookies::single(&request, cookies::SID), all), (Some(sid.as_str()), vec![sid.as_str()]));
    let set = cookies::set(cookies::SID, &sid, None, "; HttpOnly");
    let pair = set.to_str().ok().and_then(|set| set.strip_suffix("; Path=/; SameSite=Lax; HttpOnly"));
    let again = headers(&header::COOKIE, pair.expect("a cookie that was read can be set").as_bytes());
    assert_eq!(cookies::all(&again, cookies::SID), [sid]);
}
