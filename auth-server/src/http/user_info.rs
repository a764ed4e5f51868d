//! `GET` and `POST /userinfo` (OpenID Connect Core §5.3).

use super::access_token;
use super::client_request::NO_STORE;
use crate::app::App;
use crate::paths;
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use foundation::context::RequestContext;
use foundation::scope::OPENID;
use issuer::grants::UserInfo;
use issuer::params::Params;
use serde::Deserialize;
use utoipa::ToSchema;
use web::bearer::PresentedToken;
use web::content_negotiation::excludes_json;
use web::openapi::error_responses::code;
use web::{Context, Error, bearer, body, error_responses, rate_limits};

/// The media type of a signed response.
const SIGNED: &str = "application/jwt";

/// The errors of both methods.
struct UserInfoErrors;

error_responses!(UserInfoErrors: Unauthenticated, InvalidToken, InsufficientScope, Forbidden;);

/// A request with the access token in its body (RFC 6750 §2.2).
#[derive(Deserialize, ToSchema)]
struct UserInfoForm {
    /// The access token, unless the `Authorization` header has it.
    access_token: Option<String>,
}

/// Read claims about the user
///
/// Returns the claims that the scopes of the access token permit: `email` and `profile`, beside `openid`. A
/// request that accepts `application/jwt` and no JSON gets them as a JWT that the issuer has signed, and so
/// does a client that has registered `userinfo_signed_response_alg`.
#[utoipa::path(
    get, path = paths::USER_INFO, operation_id = "readUserInfo", tag = "OpenID Connect",
    security(("oauth2" = ["openid"])),
    responses(
        (status = 200, description = "The claims.", content(
            (UserInfo = "application/json"), (String = "application/jwt"),
        ), headers(("Cache-Control"))),
        UserInfoErrors,
    )
)]
pub(crate) async fn read(
    State(app): State<App>,
    Context(context): Context,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let presented = bearer::token(&parts.headers)?;
    respond(&app, &parts, presented, &context).await
}

/// Read claims about the user by POST
///
/// The same by POST, with the access token in the `Authorization` header or in a form.
#[utoipa::path(
    post, path = paths::USER_INFO, operation_id = "readUserInfoByPost", tag = "OpenID Connect",
    request_body(content = Option<UserInfoForm>, content_type = "application/x-www-form-urlencoded"),
    security(("oauth2" = ["openid"])),
    responses(
        (status = 200, description = "The claims.", content(
            (UserInfo = "application/json"), (String = "application/jwt"),
        ), headers(("Cache-Control"))),
        UserInfoErrors, code::PayloadTooLarge, code::RequestTimeout, code::MalformedJson,
    )
)]
pub(crate) async fn read_by_post(
    State(app): State<App>,
    Context(context): Context,
    request: Request,
) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    let in_body = token_in_body(&parts, body).await?;
    let in_body = in_body.as_deref().map(|token| PresentedToken {
        token,
        is_dpop: false,
    });
    let presented = match (bearer::token(&parts.headers)?, in_body) {
        (Some(_), Some(_)) => {
            return Err(bearer::invalid_request(
                "The request has an access token in its Authorization header and another one in its body. Send one.",
            ));
        }
        (in_header, in_body) => in_header.or(in_body),
    };
    respond(&app, &parts, presented, &context).await
}

/// Returns the access token of a form; `None` if the body is no form or has none. Fails with 400 if the form
/// repeats a parameter (RFC 6750 §3.1).
async fn token_in_body(head: &Parts, body: Body) -> Result<Option<String>, Error> {
    let bytes = body::read(head, body, body::DEFAULT_LIMIT).await?;
    if body::media_type(&head.headers).as_deref() != Some("application/x-www-form-urlencoded") {
        return Ok(None);
    }
    let params = Params::from_form(&bytes);
    if let Some(flaw) = params.flaw() {
        return Err(bearer::invalid_request(format!(
            "The form cannot be read: {flaw}."
        )));
    }
    let form: UserInfoForm = params.read().map_err(|error| Error::internal(&error))?;
    Ok(form.access_token)
}

async fn respond(
    app: &App,
    parts: &Parts,
    presented: Option<PresentedToken<'_>>,
    context: &RequestContext,
) -> Result<Response, Error> {
    let missing = || bearer::unauthenticated("Send an access token with the scope openid.");
    let presented = presented.ok_or_else(missing)?;
    let token = access_token::verify(&app.grants, parts, presented).await?;
    rate_limits::by_principal(&app.rate_limiter, parts, token.user_id(), &token.client_id)?;
    if token.user_id().is_none() {
        return Err(bearer::user_required());
    }
    if !token.scope.contains(OPENID) {
        return Err(bearer::insufficient_scope(OPENID));
    }
    let user_info = app.grants.user_info(&token).await?;
    let user_info =
        user_info.ok_or_else(|| bearer::invalid_token("the account of its user has ended".to_owned()))?;
    let is_signed = excludes_json(&parts.headers, SIGNED)
        || app.grants.signs_user_info(&token.client_id, context.now).await?;
    if !is_signed {
        return Ok((NO_STORE, Json(user_info)).into_response());
    }
    let (grants, client_id) = (&app.grants, &token.client_id);
    let signed = grants.sign_user_info(client_id, &user_info, context.now);
    let signed = signed.map_err(|error| Error::unavailable(&error))?;
    Ok((NO_STORE, [(header::CONTENT_TYPE, SIGNED)], signed).into_response())
}
