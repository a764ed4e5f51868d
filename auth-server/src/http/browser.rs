//! What the pages need of the browser: its flow cookie, its session, its forms, its way of naming this host.

use crate::flows;
use crate::pages;
use crate::params::Params;
use axum::extract::{FromRef, FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse, Response};
use shared::events::Context;
use shared::http::error::retry_after;
use shared::http::{Error, Policy, body, cookies, csrf, origin_of};
use shared::identity::Identity;
use shared::identity::login;
use shared::identity::mailbox_proofs::Refusal;
use shared::identity::passwords;
use shared::identity::sessions::{self, Session};
use shared::random;
use shared::redis::Unavailable;
use shared::refuses;
use shared::secret::Secret;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Binds flows to the browser that began them.
const FLOW_COOKIE: &str = "flow";

/// Redirects with 303: the browser follows with GET and never repeats a form (RFC 9700 §4.12).
pub(crate) fn see_other(to: &str) -> Response {
    match HeaderValue::from_str(to) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(error) => Error::internal(&error).into_response(),
    }
}

/// The secret that this browser's flows are bound to.
pub(crate) fn flow_secret(headers: &HeaderMap) -> Option<Secret> {
    cookies::only(headers, FLOW_COOKIE)
        .filter(|value| value.len() == 43)
        .map(Secret::new)
}

/// The same, or a new one with the cookie that keeps it.
pub(crate) fn ensure_flow_secret(headers: &HeaderMap, policy: &Policy) -> (Secret, HeaderValue) {
    let secret = flow_secret(headers).unwrap_or_else(random::token);
    let secure = if policy.base_url.scheme() == "https" {
        "; HttpOnly; Secure"
    } else {
        "; HttpOnly"
    };
    let cookie = cookies::set(FLOW_COOKIE, secret.expose(), Some(flows::LIFETIME), secure);
    (secret, cookie)
}

/// The browser's anti-forgery token for a form, and the cookie to set along with the page.
pub(crate) fn form_token(
    headers: &HeaderMap,
    policy: &Policy,
) -> (String, AppendHeaders<[(header::HeaderName, HeaderValue); 1]>) {
    let (token, cookie) = csrf::token(headers, policy);
    (token, AppendHeaders([(header::SET_COOKIE, cookie)]))
}

/// What a page says of a refused password, with its status and how long to wait; the error itself where it
/// is ours and no page can help.
pub(crate) fn refusal(error: login::Error) -> Result<(StatusCode, String, Option<Duration>), Error> {
    let says = match &error {
        login::Error::Wrong => "The e-mail or the password is wrong.".to_owned(),
        login::Error::CodeMissing => {
            "Type your password again, and the code that your authenticator app shows, or a recovery code."
                .to_owned()
        }
        login::Error::WrongCode => "The one-time code is wrong or was used already.".to_owned(),
        login::Error::Locked { .. } => format!("Sign-in is blocked: {error}."),
        login::Error::Captcha => "Solve the captcha too.".to_owned(),
        login::Error::Passwords(passwords::Error::Overloaded) => {
            "Many people are signing in right now. Try again in a moment.".to_owned()
        }
        login::Error::Uncounted(_) | login::Error::Unverified(_) => {
            tracing::error!(cause = %error, "a sign-in was not tried");
            "Sign-in is not possible right now. Try again in a moment.".to_owned()
        }
        login::Error::Passwords(_) | login::Error::Seed(_) | login::Error::Database(_) => {
            return Err(error.into());
        }
    };
    Ok(match error {
        login::Error::Wrong | login::Error::CodeMissing | login::Error::WrongCode => {
            (StatusCode::UNAUTHORIZED, says, None)
        }
        login::Error::Captcha => (StatusCode::UNPROCESSABLE_ENTITY, says, None),
        login::Error::Locked { retry_after } => (StatusCode::TOO_MANY_REQUESTS, says, Some(retry_after)),
        _ => (
            StatusCode::SERVICE_UNAVAILABLE,
            says,
            Some(Duration::from_secs(1)),
        ),
    })
}

/// What a page says where no mail was sent, with its status and how long to wait; the error itself where it is
/// ours and no page can help.
pub(crate) fn unsent(refusal: Refusal) -> Result<(StatusCode, String, Duration), Error> {
    match refusal {
        Refusal::TooMany { retry_after } => {
            let says = format!("No mail is sent: {refusal}.");
            Ok((StatusCode::TOO_MANY_REQUESTS, says, retry_after))
        }
        Refusal::Uncounted(cause) => {
            tracing::error!(%cause, "no mail was sent");
            let says = "No mail can be sent right now. Try again in a moment.".to_owned();
            Ok((StatusCode::SERVICE_UNAVAILABLE, says, Duration::from_secs(1)))
        }
        Refusal::Database(error) => Err(error.into()),
    }
}

/// The token of the link that led here.
pub(crate) fn mailed_token(query: Option<&str>) -> Option<Secret> {
    let params = Params::from_form(query.unwrap_or_default().as_bytes());
    params.get("token").map(Secret::new)
}

/// What a page says where it cannot be told whether a flow is finished.
pub(crate) fn unavailable(cause: &Unavailable) -> Response {
    tracing::error!(%cause, "a flow was not looked at");
    let page = pages::error(
        StatusCode::SERVICE_UNAVAILABLE,
        "This cannot go on right now",
        "A part of the service does not answer. Wait a moment and reload the page: nothing is lost.",
    );
    after(Some(Duration::from_secs(1)), page)
}

/// Adds `Retry-After` to a page.
pub(crate) fn after(wait: Option<Duration>, page: Response) -> Response {
    match wait {
        Some(wait) => ([(header::RETRY_AFTER, retry_after(wait))], page).into_response(),
        None => page,
    }
}

/// Who is signed in in this browser, if anybody.
pub(crate) struct SignedIn(pub(crate) Option<Session>);

impl<S: Send + Sync> FromRequestParts<S> for SignedIn
where
    Identity: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let identity = Identity::from_ref(state);
        let Some(sid) = cookies::only(&parts.headers, cookies::SID).map(Secret::new) else {
            return Ok(Self(None));
        };
        let now = parts
            .extensions
            .get::<Context>()
            .map_or_else(shared::clock::now, |context| context.now);
        Ok(Self(
            sessions::find(&identity.db, &sid, identity.lifetimes, now).await?,
        ))
    }
}

/// A form of ours that was filled in, anti-forgery token and origin checked.
pub(crate) struct Form(pub(crate) Params);

impl<S: Send + Sync> FromRequest<S> for Form
where
    Arc<Policy>: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let params = read_form(request).await?;
        let (headers, params) = params;
        let policy = Arc::<Policy>::from_ref(state);
        csrf::check_token(&headers, params.get("csrf"), &policy).map_err(|mismatch| {
            // The refusal's event is written from the error; what the person sees is the page.
            let mut page = pages::error(
                StatusCode::FORBIDDEN,
                "This form is not from here",
                "Your browser did not send the cookie that this form came with, or the form comes from another \
                 site. Go back, reload the page and try again, with cookies allowed.",
            );
            page.extensions_mut().insert(Error::from(mismatch));
            page
        })?;
        Ok(Self(params))
    }
}

/// Reads a form-encoded body without repeated fields.
async fn read_form(request: Request) -> Result<(HeaderMap, Params), Response> {
    let (parts, body) = request.into_parts();
    if body::media_type(&parts.headers).as_deref() != Some("application/x-www-form-urlencoded") {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
    }
    let bytes = body::read(body, body::SMALL)
        .await
        .map_err(IntoResponse::into_response)?;
    let params = Params::from_form(&bytes);
    match params.flaw() {
        None => Ok((parts.headers, params)),
        Some(flaw) => Err(pages::error(
            StatusCode::BAD_REQUEST,
            "This form is broken",
            &format!("It cannot be read: {flaw}."),
        )),
    }
}

/// The parameters of an authorization request, by GET or POST (RFC 6749 §3.1).
pub(crate) struct AuthorizeParams(pub(crate) Params);

refuses!(AuthorizeParams: MalformedJson, PayloadTooLarge, RequestTimeout, UnsupportedMediaType;);

impl<S: Send + Sync> FromRequest<S> for AuthorizeParams {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        if request.method() != Method::POST {
            return Ok(Self(Params::from_form(
                request.uri().query().unwrap_or_default().as_bytes(),
            )));
        }
        let (parts, body) = request.into_parts();
        if body::media_type(&parts.headers).as_deref() != Some("application/x-www-form-urlencoded") {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
        }
        let bytes = body::read(body, body::SMALL)
            .await
            .map_err(IntoResponse::into_response)?;
        Ok(Self(Params::from_form(&bytes)))
    }
}

/// Middleware for pages: one asked for by another name of this machine (127.0.0.1 for localhost) redirects
/// to the base URL's, because cookies are bound to the name.
pub(crate) async fn by_its_name(State(policy): State<Arc<Policy>>, request: Request, next: Next) -> Response {
    let asked = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let asked = asked.and_then(|host| Url::parse(&format!("http://{host}")).ok());
    let is_local = |url: &Url| matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match asked {
        Some(asked)
            if request.method().is_safe()
                && is_local(&asked)
                && is_local(&policy.base_url)
                && asked.host_str() != policy.base_url.host_str() =>
        {
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            see_other(&format!("{}{path}", origin_of(&policy.base_url)))
        }
        _ => next.run(request).await,
    }
}
