//! `GET` and `POST /verify`: where the link that confirms an address leads.

use super::browser::{Form, form_token, mailed_token};
use super::describe::{LinkQuery, NoLink, VerifyForm, VerifyRefused};
use super::signin;
use crate::pages;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use shared::events::Context;
use shared::http::{Error, Policy};
use shared::identity::Identity;
use shared::identity::verifications::{self, Error as VerifyError};
use shared::mail::Link;
use shared::secret::Secret;
use std::sync::Arc;

/// Show the page that an e-mail is confirmed on
///
/// For who has the link from the mail. Looking at it changes nothing: mail programs look at links too.
#[utoipa::path(
    get, path = Link::VERIFY, operation_id = "showVerify", tag = "Pages", params(LinkQuery), security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "To the same page by the name that cookies are bound to.", headers(("Location"))),
        NoLink,
    )
)]
pub(crate) async fn show(
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let Some(token) = mailed_token(query.as_deref()) else {
        return pages::no_such_link(StatusCode::BAD_REQUEST);
    };
    let (csrf, cookie) = form_token(&headers, &policy);
    let page = pages::verify(&pages::Verify {
        csrf: &csrf,
        token: token.expose(),
    });
    (cookie, page).into_response()
}

/// Confirm or change an e-mail by the page
///
/// If the address takes another's place, every session ends with it.
#[utoipa::path(
    post, path = Link::VERIFY, operation_id = "submitVerify", tag = "Pages", security(()),
    request_body(content = VerifyForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The address is confirmed.", body = String, content_type = "text/html"),
        Form, VerifyRefused,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Extension(context): Extension<Context>,
    Form(fields): Form,
) -> Response {
    let token = Secret::new(fields.get("token").unwrap_or_default());
    match verifications::confirm(&identity, &token, &context).await {
        Ok(()) => pages::done(
            "Your address is confirmed",
            "It is the address of your account.",
            Some((signin::PATH, "Sign in")),
        ),
        Err(VerifyError::TokenInvalid) => pages::no_such_link(StatusCode::UNPROCESSABLE_ENTITY),
        Err(VerifyError::EmailTaken) => pages::error(
            StatusCode::CONFLICT,
            "Another account has this address",
            "Sign in to that account, or choose another address for this one. Nothing was changed.",
        ),
        Err(error) => Error::from(error).into_response(),
    }
}
