//! Signing in and out, and who one is.

use crate::extract::{CurrentSession, Method, Principal, Public};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json};
use serde::Serialize;
use shared::clock::Timestamp;
use shared::events::Context;
use shared::http::error::{BodyMeant, FieldError};
use shared::http::{Error, JsonBody, cookies};
use shared::identity::passwords::Password;
use shared::identity::users::User;
use shared::identity::{Identity, login};
use shared::scope::Scope;
use shared::secret::Secret;
use std::convert::Infallible;

#[derive(Serialize)]
struct Me<'a> {
    #[serde(flatten)]
    user: &'a User,
    auth: Auth<'a>,
}

#[derive(Serialize)]
struct Auth<'a> {
    method: Method,
    scope: &'a Scope,
    expires_at: Timestamp,
}

/// `POST /login`: 200 with the user's record and the session's cookie; 401 with an empty body for an
/// unknown e-mail or a wrong password, 429 once there were too many of them.
pub(crate) async fn login(
    _: Public,
    State(identity): State<Identity>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    body: JsonBody,
) -> Result<Response, Error> {
    let mut fields = body.fields()?;
    let email = fields.required("email", |text| Ok::<_, Infallible>(text.to_owned()));
    let password = fields.required("password", Password::attempt);
    let (email, password) = fields.finish(email.zip(password))?;
    let former = cookies::only(&headers, cookies::SID).map(Secret::new);
    match login::login(&identity, &email, password, former.as_ref(), &context).await {
        Ok(signed_in) => {
            let cookie = cookies::set_sid(&signed_in.sid, identity.lifetimes.absolute);
            Ok((
                AppendHeaders([(header::SET_COOKIE, cookie)]),
                Json(signed_in.user),
            )
                .into_response())
        }
        Err(login::Error::Wrong) => Ok((StatusCode::UNAUTHORIZED, Extension(BodyMeant)).into_response()),
        Err(error) => Err(error.into()),
    }
}

/// `POST /logout`: 204, the session ended and its cookie taken away.
pub(crate) async fn logout(
    CurrentSession(session): CurrentSession,
    State(identity): State<Identity>,
    Extension(context): Extension<Context>,
) -> Result<impl IntoResponse, Error> {
    login::logout(&identity, &session, &context).await?;
    Ok(signed_out())
}

/// `GET /me`: the caller's record, and how the caller authenticated.
pub(crate) async fn me(caller: Principal) -> Result<Response, Error> {
    caller.require("profile:read")?;
    let auth = Auth {
        method: caller.method,
        scope: &caller.scope,
        expires_at: caller.expires_at,
    };
    let user = caller.user()?;
    Ok(Json(Me { user, auth }).into_response())
}

/// `PUT /me/password`: 204; every session of the user ends, this one included.
pub(crate) async fn change_password(
    CurrentSession(session): CurrentSession,
    State(identity): State<Identity>,
    Extension(context): Extension<Context>,
    body: JsonBody,
) -> Result<impl IntoResponse, Error> {
    let mut fields = body.fields()?;
    let current = fields.required("current_password", Password::attempt);
    let new = fields.required("new_password", |text| identity.passwords.choose(text));
    let (current, new) = fields.finish(current.zip(new))?;
    match login::change_password(&identity, &session, current, new, &context).await {
        Ok(()) => Ok(signed_out()),
        Err(login::Error::Wrong) => Err(Error::validation(vec![FieldError {
            pointer: "/current_password".to_owned(),
            code: "invalid",
            message: "is not the password of this account".to_owned(),
        }])),
        Err(error) => Err(error.into()),
    }
}

fn signed_out() -> impl IntoResponse {
    (
        StatusCode::NO_CONTENT,
        AppendHeaders([(header::SET_COOKIE, cookies::clear_sid())]),
    )
}
