//! The paths of the pages, and the queries that carry an authorization flow from page to page.

pub(crate) use issuer::params::with_query;

use issuer::device_requests::UserCode;
use issuer::grants::DEVICE_PAGE;
use issuer::long_requests::MAX_TEXT_LENGTH;
use mail::Link;

pub(crate) const AUTHORIZE: &str = "/authorize";
pub(crate) const SIGN_IN: &str = "/signin";
pub(crate) const SECOND_STEP: &str = "/signin/second-step";
pub(crate) const PASSKEY_SIGN_IN: &str = "/signin/passkey";
pub(crate) const SIGN_UP: &str = "/signup";
pub(crate) const ACCOUNT: &str = "/account";
pub(crate) const ACCOUNT_SESSION_END: &str = "/account/sessions/end";
pub(crate) const ACCOUNT_SESSIONS_END_OTHERS: &str = "/account/sessions/end-others";
pub(crate) const ACCOUNT_APP_DISCONNECT: &str = "/account/apps/disconnect";
pub(crate) const ACCOUNT_EMAIL: &str = "/account/email";
pub(crate) const ACCOUNT_EMAIL_CONFIRMATION: &str = "/account/email/confirmation";
pub(crate) const ACCOUNT_PASSWORD_REMOVAL: &str = "/account/password/removal";
pub(crate) const ACCOUNT_EXPORT: &str = "/account/export";
pub(crate) const ACCOUNT_DELETION: &str = "/account/deletion";
pub(crate) const TWO_STEP: &str = "/account/two-step";
pub(crate) const TWO_STEP_ENROLLMENT: &str = "/account/two-step/enrollment";
pub(crate) const TWO_STEP_CONFIRMATION: &str = "/account/two-step/confirmation";
pub(crate) const TWO_STEP_OFF: &str = "/account/two-step/off";
pub(crate) const RECOVERY_CODES: &str = "/account/two-step/recovery-codes";
pub(crate) const PASSKEYS: &str = "/account/passkeys";
pub(crate) const PASSKEY_NAME: &str = "/account/passkeys/name";
pub(crate) const PASSKEY_REMOVAL: &str = "/account/passkeys/removal";
pub(crate) const JWKS: &str = "/.well-known/jwks.json";
pub(crate) const ADMIN: &str = "/admin";
pub(crate) const ADMIN_KEYS: &str = "/admin/keys";
pub(crate) const ADMIN_KEYS_ROTATE: &str = "/admin/keys/rotate";
pub(crate) const ADMIN_KEYS_RETIRE: &str = "/admin/keys/retire";
pub(crate) const ADMIN_USERS: &str = "/admin/users";
pub(crate) const ADMIN_USER: &str = "/admin/users/{id}";
pub(crate) const ADMIN_USER_CHANGES: &str = "/admin/users/{id}/changes";
pub(crate) const ADMIN_CLIENTS: &str = "/admin/clients";
pub(crate) const ADMIN_CLIENT: &str = "/admin/clients/{id}";
pub(crate) const ADMIN_CLIENT_CHANGES: &str = "/admin/clients/{id}/changes";
pub(crate) const ADMIN_NEW_CLIENT: &str = "/admin/apps/new";
pub(crate) const ADMIN_TOKEN_PREVIEW: &str = "/admin/token-preview";
pub(crate) const ADMIN_SESSIONS: &str = "/admin/sessions";
pub(crate) const ADMIN_CONSENTS: &str = "/admin/consents";
pub(crate) const ADMIN_EVENTS: &str = "/admin/events";
pub(crate) const ADMIN_REFUSALS: &str = "/admin/events/refusals";
pub(crate) const ADMIN_EVENTS_STREAM: &str = "/admin/events/stream";
pub(crate) const CONSENT: &str = "/consent";
pub(crate) const SIGN_OUT: &str = "/signout";
pub(crate) const SIGN_OUT_CONFIRMATION: &str = "/signout/confirmation";
pub(crate) const REGISTER: &str = "/register";
pub(crate) const USER_INFO: &str = "/userinfo";
pub(crate) const PASSWORD: &str = "/password";
pub(crate) const PASSWORD_VERDICT: &str = "/password/verdict";
pub(crate) const CHANGE_PASSWORD: &str = "/.well-known/change-password";
pub(crate) const PASSKEY_ENDPOINTS: &str = "/.well-known/passkey-endpoints";
pub(crate) const FORGOT: &str = "/forgot";
pub(crate) const RESET: &str = Link::RESET;
pub(crate) const VERIFY: &str = Link::VERIFY;
pub(crate) const DEVICE: &str = DEVICE_PAGE;
pub(crate) const DEVICE_CONFIRMATION: &str = "/device/confirmation";

/// The beginning of a `flow` that leads to the page for the code of a device. It is followed by the code, if
/// the user has entered one. The sealed text of an authorization flow has no colon.
const DEVICE_FLOW: &str = "device:";
/// The longest encoded id in the path of a page to which a user returns after the sign-in, in bytes.
const MAX_ID_LENGTH: usize = 255;
/// The pages that require a recent sign-in, or an administrator. The path of one, or of the page of one user
/// or app, is the `flow` of a user who signs in to come there. The sealed text of an authorization flow has
/// no slash.
const PAGES_AFTER_SIGN_IN: [&str; 14] = [
    PASSWORD,
    ACCOUNT_EMAIL,
    TWO_STEP,
    PASSKEYS,
    ACCOUNT_DELETION,
    ADMIN,
    ADMIN_KEYS,
    ADMIN_USERS,
    ADMIN_CLIENTS,
    ADMIN_NEW_CLIENT,
    ADMIN_TOKEN_PREVIEW,
    ADMIN_SESSIONS,
    ADMIN_CONSENTS,
    ADMIN_EVENTS,
];

/// Those of these pages whose query selects what they show. A `flow` keeps it.
const PAGES_WITH_QUERY: [&str; 8] = [
    ADMIN,
    ADMIN_KEYS,
    ADMIN_USERS,
    ADMIN_CLIENTS,
    ADMIN_TOKEN_PREVIEW,
    ADMIN_SESSIONS,
    ADMIN_CONSENTS,
    ADMIN_EVENTS,
];
/// The longest query of a page to which a user returns after the sign-in, in bytes.
const MAX_QUERY_LENGTH: usize = 512;

/// The pages whose form is submitted to the path of the page. A link can open such a page again after an
/// error: the form is short, so that the user loses little of the input.
const PAGES_OF_FORMS: [&str; 11] = [
    SIGN_IN,
    SECOND_STEP,
    SIGN_UP,
    FORGOT,
    RESET,
    VERIFY,
    CONSENT,
    DEVICE,
    PASSWORD,
    ACCOUNT_EMAIL,
    PASSKEYS,
];

/// Returns whether the page with this path shows the form that is submitted to it.
pub(crate) fn shows_its_form(path: &str) -> bool {
    PAGES_OF_FORMS.contains(&path)
}

/// Returns the path of the sign-in page, within an authorization flow if there is one.
pub(crate) fn sign_in(flow: Option<&str>) -> String {
    of_flow(SIGN_IN, flow)
}

/// Returns the path of a page, within an authorization flow if there is one.
pub(crate) fn of_flow(page: &str, flow: Option<&str>) -> String {
    match flow {
        Some(flow) => in_flow(page, flow),
        None => page.to_owned(),
    }
}

/// Returns the path of a page within an authorization flow.
pub(crate) fn in_flow(page: &str, flow: &str) -> String {
    with_query(page, &[("flow", known_form(flow))])
}

/// Returns a `flow` that may be one of this issuer, by its form, and an empty text for any other. A path with
/// it is in the head of a response, which proxies limit.
fn known_form(flow: &str) -> &str {
    let is_known = is_page(flow) || is_sealed(flow.strip_prefix(DEVICE_FLOW).unwrap_or(flow));
    match is_known {
        true => flow,
        false => "",
    }
}

/// Returns whether a text may be a sealed request, or the reference to one, by its form.
pub(crate) fn is_sealed(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    text.len() <= MAX_TEXT_LENGTH && text.bytes().all(is_plain)
}

/// Returns whether a `flow` leads to the page for the code of a device.
pub(crate) fn is_device_flow(flow: &str) -> bool {
    flow.starts_with(DEVICE_FLOW)
}

/// Returns whether a `flow` is the path of a page, with a query if that selects what the page shows.
pub(crate) fn is_page(flow: &str) -> bool {
    match flow.split_once('?') {
        Some((path, query)) => PAGES_WITH_QUERY.contains(&path) && is_query(query),
        None => {
            PAGES_AFTER_SIGN_IN.contains(&flow)
                || is_of_one(ADMIN_USERS, flow)
                || is_of_one(ADMIN_CLIENTS, flow)
        }
    }
}

/// Returns whether a text may be a query as [`to_return`] encodes it.
fn is_query(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*%+=&".contains(&byte);
    (1..=MAX_QUERY_LENGTH).contains(&text.len()) && text.bytes().all(is_plain)
}

/// Returns whether a path is that of one object of a list, with an id as [`of_client`] encodes it.
fn is_of_one(list: &str, path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*%".contains(&byte);
    let id = path.strip_prefix(list).and_then(|rest| rest.strip_prefix('/'));
    id.is_some_and(|id| (1..=MAX_ID_LENGTH).contains(&id.len()) && id.bytes().all(is_plain))
}

/// Returns the `flow` of a browser on its way to the page for the code of a device.
pub(crate) fn device_flow(code: Option<&UserCode>) -> String {
    let code = code.map(UserCode::to_string).unwrap_or_default();
    format!("{DEVICE_FLOW}{code}")
}

/// Returns the path of the page that is next right after sign-in: in a flow the page on which it continues,
/// otherwise the account. If the session is missing there, the browser dropped the cookie.
pub(crate) fn after_sign_in(flow: Option<&str>) -> String {
    let signed_in = ("signed_in", "1");
    match flow {
        Some(flow) => continuation(flow, &[signed_in]),
        None => with_query(ACCOUNT, &[signed_in]),
    }
}

/// Returns the path of the page on which a flow continues for a user who is signed in, with these further
/// parameters: the consent page, that for the code of a device, or the page whose path the flow is.
pub(crate) fn continuation(flow: &str, further: &[(&str, &str)]) -> String {
    if is_page(flow) {
        return with_query(flow, further);
    }
    let flow = known_form(flow);
    let (page, parameter) = match flow.strip_prefix(DEVICE_FLOW) {
        Some(code) => (DEVICE, ("user_code", code)),
        None => (CONSENT, ("flow", flow)),
    };
    with_query(page, &[&[parameter], further].concat())
}

/// Returns the path of a page, and its query without empty parameters if a user can return to it after the
/// sign-in.
pub(crate) fn to_return(page: &str, query: Option<&str>) -> String {
    let parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let parameters = parameters.filter(|(name, value)| name != "signed_in" && !value.is_empty());
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    let query = encoded.extend_pairs(parameters).finish();
    with_query_or_alone(&format!("{page}?{query}")).to_owned()
}

/// Returns the path of a page with its query if a user can return to it after the sign-in, or else the path
/// alone.
pub(crate) fn with_query_or_alone(url: &str) -> &str {
    match url.split_once('?') {
        Some((path, _)) if !is_page(url) => path,
        _ => url,
    }
}

/// Returns the path of the page of a client if a user can return to it after the sign-in, or else that of the
/// list.
pub(crate) fn page_after_sign_in_or_list(path: &str) -> &str {
    match is_page(path) {
        true => path,
        false => ADMIN_CLIENTS,
    }
}

/// Returns the path of the user with this id.
pub(crate) fn of_user(id: i64) -> String {
    format!("{ADMIN_USERS}/{id}")
}

/// Returns the path of the client with this id, which may be a URL.
pub(crate) fn of_client(id: &str) -> String {
    let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("{ADMIN_CLIENTS}/{id}")
}
