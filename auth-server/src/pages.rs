//! The HTML pages: plain forms, which need no script.

mod account;
mod admin;
pub(crate) mod assets;
mod brand;
mod color;
mod consent;
mod design;
mod device;
mod done;
mod event_details;
mod event_words;
mod form_state;
mod language;
mod message;
mod middleware;
mod overview;
mod part;
mod passkeys;
mod presentation;
mod session_item;
mod sign_in;
pub mod text;
mod user_agent;

pub(crate) use account::{
    AccountPage, DeletionPage, EmailPage, account, deletion, email, recovery_codes, two_step_enrollment,
    two_step_off, two_step_on,
};
pub(crate) use admin::{
    ClientChange, ClientPage, ClientsPage, ConsentsPage, DashboardPage, EnteredClient, EventWords, Keys,
    LiveEvents, REFUSALS_VIEW, SecurityEventsPage, SessionsPage, SigningKeysPage, TokenPreviewPage,
    UserChange, UserPage, UsersPage, client, client_created, client_review, client_secret, clients, consents,
    dashboard, initial_password, new_client, security_events, sessions, signing_keys, token_preview, user,
    users,
};
pub use brand::Brand;
pub(crate) use brand::{BrandParts, Logo};
pub use color::Color;
pub(crate) use consent::{ConsentPage, consent};
pub(crate) use design::design;
pub(crate) use device::{DeviceConfirmationPage, DevicePage, device, device_confirmation};
pub(crate) use done::Done;
pub(crate) use form_state::{Field, FormState};
pub(crate) use language::{COOKIE as LANGUAGE_COOKIE, Language, TAGS as LANGUAGES};
pub(crate) use message::{error, error_of_app, error_of_form, error_of_user, notify, notify_with_offer};
pub use middleware::present;
pub(crate) use overview::Overview;
pub(crate) use part::Parts;
pub(crate) use passkeys::{EnteredName, PasskeyChallenge, PasskeysPage, passkeys};
pub(crate) use presentation::{link_languages_to, remember_form, show_form_again};
pub(crate) use sign_in::{CaptchaWidget, EndText, SecondStepPage, SignInPage, second_step, sign_in};

use askama::Template;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use foundation::clock::Timestamp;
use foundation::scope::Scope;
use issuer::grants::EndSessionRequest;
use presentation::LanguageLink;
use text::Text;
use web::Error;

/// There is no `form-action`: browsers apply it to the redirects that follow a form, which lead to the
/// clients. The sources of scripts come last, so that a page can add one.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
    frame-ancestors 'none'; script-src 'self'";

/// The sign-up form.
#[derive(Template)]
#[template(path = "sign_up.html")]
pub(crate) struct SignUpPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The name of the app to which the flow leads, if an administrator created the app.
    pub(crate) app: Option<&'a str>,
    /// The authorization flow that continues after sign-up.
    pub(crate) flow: Option<&'a str>,
    pub(crate) present: Option<&'a PresentUser>,
    pub(crate) email: &'a str,
    /// The least number of characters of a password.
    pub(crate) min_length: u64,
    /// The URL of the terms of the service.
    pub(crate) terms: Option<String>,
    /// The path of the sign-in page.
    pub(crate) sign_in: String,
    /// The path of the page that mails a link for a new password.
    pub(crate) forgot: String,
}

/// The user who is signed in in the browser, on a page whose form signs another one in.
pub(crate) struct PresentUser {
    pub(crate) email: String,
    /// The path where this user continues; `None` if the flow requires another sign-in.
    pub(crate) continue_path: Option<String>,
}

/// The form to change a password.
#[derive(Template)]
#[template(path = "password.html")]
pub(crate) struct PasswordPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The address of the account, for password managers.
    pub(crate) email: &'a str,
    /// The authorization flow that continues after the change.
    pub(crate) flow: Option<&'a str>,
    /// The path at which another user signs in, if this one must change the password before anything else.
    pub(crate) other_user: Option<String>,
    /// The least number of characters of a password.
    pub(crate) min_length: u64,
}

/// The form to confirm a sign-out.
#[derive(Template)]
#[template(path = "sign_out.html")]
pub(crate) struct SignOutPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) email: &'a str,
    pub(crate) request: &'a EndSessionRequest,
}

/// The form that requests a password reset.
#[derive(Template)]
#[template(path = "forgot.html")]
pub(crate) struct ForgotPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The authorization flow that continues after the reset.
    pub(crate) flow: Option<&'a str>,
    pub(crate) email: &'a str,
    /// The path of the sign-in page.
    pub(crate) sign_in: String,
}

/// The page after the request of a password reset, which is the same for an unknown address.
#[derive(Template)]
#[template(path = "forgot_sent.html")]
pub(crate) struct ForgotSentPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The authorization flow that continues after the reset.
    pub(crate) flow: Option<&'a str>,
    /// The entered address, to which the form mails another link.
    pub(crate) email: &'a str,
    /// The path of the form for another address.
    pub(crate) other: String,
    /// The path of the sign-in page.
    pub(crate) sign_in: String,
}

/// The form behind the link of a password reset.
#[derive(Template)]
#[template(path = "reset.html")]
pub(crate) struct ResetPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) token: &'a str,
    /// The address to which the link was mailed.
    pub(crate) email: &'a str,
    /// The least number of characters of a password.
    pub(crate) min_length: u64,
}

/// The form behind the link that confirms an address.
#[derive(Template)]
#[template(path = "verify.html")]
pub(crate) struct VerifyPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) token: &'a str,
    /// The address to confirm.
    pub(crate) email: &'a str,
    /// Whether it would replace another address of the account.
    pub(crate) is_change: bool,
    /// Whether a reset of the password would be the first proof of the address.
    pub(crate) offers_reset: bool,
    /// The present address of the account, which only its user sees.
    pub(crate) account: &'a str,
    /// The time at which the account was created.
    pub(crate) created: Timestamp,
    pub(crate) now: Timestamp,
    /// Whether the browser has no session of the account, so that the form has a field for its password.
    pub(crate) asks_password: bool,
}

/// The frame of every page.
#[derive(Template)]
#[template(path = "layout.html")]
struct Layout<'a> {
    language: &'a str,
    brand: &'a Brand,
    other_languages: Vec<LanguageLink>,
    /// The tab of the page if it is one for administrators, or nothing.
    tab: &'a str,
    /// The text about the change that this page reports.
    done: Option<Text<'static>>,
    title: &'a str,
    /// The content, which is HTML.
    main: &'a str,
}

/// Replaces the content security policy of a page.
fn set_policy(response: &mut Response, policy: &str) {
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// Lets the script of a page send requests to its own origin.
pub fn allow_requests(mut page: Response) -> Response {
    set_policy(
        &mut page,
        &format!("{CONTENT_SECURITY_POLICY}; connect-src 'self'"),
    );
    page
}

/// Renders the sign-up page.
pub(crate) fn sign_up(page: &SignUpPage<'_>) -> Response {
    allow_requests(render(&text::of("sign-up").plain(), page))
}

/// Renders the form to change a password.
pub(crate) fn password(page: &PasswordPage<'_>) -> Response {
    allow_requests(render(&text::of("choose-password").plain(), page))
}

/// Renders the form to confirm a sign-out.
pub(crate) fn sign_out(page: &SignOutPage<'_>) -> Response {
    render(&text::of("sign-out").plain(), page)
}

/// Renders the form that requests a password reset.
pub(crate) fn forgot(page: &ForgotPage<'_>) -> Response {
    render(&text::of("forgot").plain(), page)
}

/// Renders the page after the request of a password reset.
pub(crate) fn forgot_sent(page: &ForgotSentPage<'_>) -> Response {
    render(&text::of("forgot-sent").plain(), page)
}

/// Renders the form behind the link of a password reset.
pub(crate) fn reset(page: &ResetPage<'_>) -> Response {
    allow_requests(render(&text::of("reset").plain(), page))
}

/// Renders the form behind the link that confirms an address.
pub(crate) fn verify(page: &VerifyPage<'_>) -> Response {
    render(&text::of("verify").plain(), page)
}

/// Returns the name and the description of each scope.
fn in_words(scope: Scope) -> Vec<(&'static str, String)> {
    scope.iter().map(|name| (name, text::scope(name))).collect()
}

/// Returns the URL of the terms of the service.
pub(crate) fn terms() -> Option<String> {
    presentation::brand().terms.as_ref().map(ToString::to_string)
}

/// Renders a page with this title and this content, in the frame and with the security headers of all pages.
pub fn render(title: &str, content: &impl Template) -> Response {
    render_in_tab("", title, content)
}

/// Renders such a page below the tabs of the administrators' pages, unless `tab` is empty.
pub fn render_in_tab(tab: &str, title: &str, content: &impl Template) -> Response {
    let brand = presentation::brand();
    let html = content.render().and_then(|main| {
        let layout = Layout {
            language: presentation::language().tag(),
            brand: &brand,
            other_languages: presentation::language_links(),
            tab,
            done: presentation::done().map(text::done),
            title,
            main: &main,
        };
        layout.render()
    });
    let html = match html {
        Ok(html) => html,
        Err(error) => return Error::internal(&error).into_response(),
    };
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(CONTENT_SECURITY_POLICY),
        ),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        // With no-referrer, browsers would send these forms with Origin: null.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, [("cross-origin-opener-policy", "same-origin")], html).into_response()
}
