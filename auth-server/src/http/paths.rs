//! The paths of the pages, and the queries that carry an authorization flow from page to page.

use audit::mail::Link;

pub(crate) const AUTHORIZE: &str = "/authorize";
pub(crate) const SIGN_IN: &str = "/signin";
pub(crate) const CONSENT: &str = "/consent";
pub(crate) const SIGN_OUT: &str = "/signout";
pub(crate) const SIGN_OUT_CONFIRMATION: &str = "/signout/confirmation";
pub(crate) const USER_INFO: &str = "/userinfo";
pub(crate) const PASSWORD: &str = "/password";
pub(crate) const FORGOT: &str = "/forgot";
pub(crate) const RESET: &str = Link::RESET;
pub(crate) const VERIFY: &str = Link::VERIFY;

/// Returns the path of the sign-in page, within an authorization flow if there is one.
pub(crate) fn sign_in(flow: Option<&str>) -> String {
    match flow {
        Some(flow) => in_flow(SIGN_IN, flow),
        None => SIGN_IN.to_owned(),
    }
}

/// Returns the path of a page within an authorization flow.
pub(crate) fn in_flow(page: &str, flow: &str) -> String {
    with_query(page, &[("flow", flow)])
}

/// Returns the path of the consent page right after sign-in. If the session is missing there, the browser dropped the
/// cookie.
pub(crate) fn consent_after_sign_in(flow: &str) -> String {
    with_query(CONSENT, &[("flow", flow), ("signed_in", "1")])
}

fn with_query(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("{path}?{}", query.finish())
}
