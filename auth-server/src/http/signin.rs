//! `GET` and `POST /signin`.

use super::browser::{Form, SignedIn, after, form_token, refusal, see_other};
use super::consent;
use super::describe::{PageQuery, SignInAgain, SignInForm};
use crate::pages;
use crate::params::Params;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use shared::events::Context;
use shared::http::{Policy, cookies};
use shared::identity::Identity;
use shared::identity::captcha::Captcha;
use shared::identity::login::{self, Presented, Proof, login};
use shared::identity::mfa::Otp;
use shared::identity::passwords::Password;
use shared::secret::Secret;
use std::sync::Arc;

pub(crate) const PATH: &str = "/signin";
/// What the widgets of the services call their answers.
const ANSWERS: [&str; 3] = [
    "h-captcha-response",
    "cf-turnstile-response",
    "g-recaptcha-response",
];

/// Show the sign-in page
///
/// Who is signed in, and in no flow, is told so.
#[utoipa::path(
    get, path = PATH, operation_id = "showSignIn", tag = "Pages", params(PageQuery), security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "To the same page by the name that cookies are bound to.", headers(("Location"))),
    )
)]
pub(crate) async fn show(
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    SignedIn(session): SignedIn,
) -> Response {
    let params = Params::from_form(query.unwrap_or_default().as_bytes());
    match (session, params.get("flow")) {
        (Some(session), None) => pages::signed_in(&session.user.email),
        (_, flow) => {
            let shown = Shown {
                flow,
                ..Shown::default()
            };
            form(&policy, &headers, StatusCode::OK, &shown)
        }
    }
}

/// Sign in by the page
///
/// And go on with the authorization request, if there is one.
#[utoipa::path(
    post, path = PATH, operation_id = "submitSignIn", tag = "Pages", security(()),
    request_body(content = SignInForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Signed in: on to consent.", headers(("Location"), ("Set-Cookie"))),
        Form, SignInAgain,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    Form(fields): Form,
) -> Response {
    let email = fields.get("email").unwrap_or_default();
    let flow = fields.get("flow");
    let again = |status, complaint: &str, asks_code| {
        let shown = Shown {
            flow,
            email,
            complaint,
            asks_code,
            captcha: identity.captcha.as_ref(),
        };
        form(&policy, &headers, status, &shown)
    };
    let Ok(password) = Password::attempt(fields.get("password").unwrap_or_default()) else {
        return again(
            StatusCode::UNAUTHORIZED,
            "The e-mail or the password is wrong.",
            false,
        );
    };
    let otp = fields.get("otp").filter(|otp| !otp.is_empty()).map(Otp::parse);
    let Ok(otp) = otp.transpose() else {
        return again(StatusCode::UNAUTHORIZED, "The one-time code is too long.", true);
    };
    let proof = Proof { password, otp };
    let former = cookies::only(&headers, cookies::SID).map(Secret::new);
    let captcha = ANSWERS.iter().find_map(|name| fields.get(name));
    let presented = Presented { email, captcha };
    match login(&identity, presented, proof, former.as_ref(), &context).await {
        Ok(signed_in) => {
            let cookie = cookies::set_sid(&signed_in.sid, identity.lifetimes.absolute);
            let to = match flow {
                Some(flow) => format!("{}?{}", consent::PATH, consent::query(flow, true)),
                None => PATH.to_owned(),
            };
            (AppendHeaders([(header::SET_COOKIE, cookie)]), see_other(&to)).into_response()
        }
        Err(error) => {
            let asks_code = matches!(error, login::Error::CodeMissing | login::Error::WrongCode);
            match refusal(error) {
                Ok((status, says, wait)) => after(wait, again(status, &says, asks_code)),
                Err(error) => error.into_response(),
            }
        }
    }
}

/// What the form shows.
#[derive(Default)]
struct Shown<'a> {
    flow: Option<&'a str>,
    email: &'a str,
    complaint: &'a str,
    asks_code: bool,
    /// Shown once something failed: at a first attempt it is hardly ever asked for.
    captcha: Option<&'a Captcha>,
}

fn form(policy: &Policy, headers: &HeaderMap, status: StatusCode, shown: &Shown<'_>) -> Response {
    let (csrf, cookie) = form_token(headers, policy);
    let html = pages::sign_in(&pages::SignIn {
        csrf: &csrf,
        flow: shown.flow.unwrap_or_default(),
        email: shown.email,
        complaint: shown.complaint,
        asks_code: shown.asks_code,
        widget: shown.captcha.and_then(pages::Widget::of),
    });
    (status, cookie, html).into_response()
}
