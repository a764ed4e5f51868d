//! `/account/two-step`: the pages on which users turn two-step sign-in on and off, and renew the recovery
//! codes.

use crate::http::browser::BrowserSession;
use crate::http::documentation::{FirstCodeErrors, FormErrors, OtherUserErrors, SessionErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AccountForm, AccountQuery, TwoStepConfirmationForm};
use crate::http::reauthentication;
use crate::http::reauthentication::require_recent_sign_in;
use crate::http::redirects::see_other;
use crate::pages::{self, text};
use crate::paths;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use foundation::context::RequestContext;
use foundation::secret::Secret;
use identity::mfa::{self, Error};
use identity::sessions::Session;
use identity::{Enrollment, Identity, second_factor};
use web::Context;
use web::cookies::replacement_cookie;

/// Show the page of two-step sign-in
///
/// If it is off, a form turns it on. If it is on, one form renews the recovery codes, and another turns it
/// off. Requires a sign-in within the last ten minutes.
#[utoipa::path(
    get, path = paths::TWO_STEP, operation_id = "showTwoStep", tag = "Pages", params(AccountQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, which leads back.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let just_signed_in = query.signed_in.is_some();
    let session = require_recent_sign_in(session, paths::TWO_STEP, just_signed_in, &context)?;
    let is_on = second_factor::is_enabled(&identity.db, session.user.id).await?;
    let email = &session.user.email;
    Ok(renderer.for_user(&session).show(|form| match is_on {
        true => pages::two_step_off(form, email),
        false => pages::two_step_on(form, email),
    }))
}

/// Begin to turn two-step sign-in on
///
/// Requires a sign-in within the last ten minutes. Shows a secret for an authenticator app, as a QR code and
/// as text, and asks for a first code.
#[utoipa::path(
    post, path = paths::TWO_STEP_ENROLLMENT, operation_id = "enrollTwoStepByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AccountForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The secret.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, or to the page of two-step sign-in if it is on already.",
         headers(("Location"))),
        FormErrors, OtherUserErrors,
    )
)]
pub(crate) async fn enroll(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, _): SessionForm<AccountForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::TWO_STEP, false, &context)?;
    Ok(match mfa::enroll(&identity, &session, None, &context).await {
        Ok(enrollment) => renderer.show(|form| pages::two_step_enrollment(form, &enrollment)),
        Err(error) => renderer.for_user(&session).show_again(form_error(error), |form| {
            pages::two_step_on(form, &session.user.email)
        }),
    })
}

/// Turn two-step sign-in on
///
/// Requires a sign-in within the last ten minutes. Takes a first code and shows recovery codes. Ends all
/// other sessions of the user, and the tokens of all apps.
#[utoipa::path(
    post, path = paths::TWO_STEP_CONFIRMATION, operation_id = "confirmTwoStepByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = TwoStepConfirmationForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "Two-step sign-in is on. The page shows the recovery codes.", body = String,
         content_type = "text/html", headers(("Set-Cookie"))),
        (status = 303, description = "Redirect to the sign-in page, or to the page of two-step sign-in if nothing is to be confirmed.",
         headers(("Location"))),
        FormErrors, FirstCodeErrors,
    )
)]
pub(crate) async fn confirm(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<TwoStepConfirmationForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::TWO_STEP, false, &context)?;
    let enrollment = pending(&identity, &session, &context).await?;
    Ok(match complete(&identity, &session, &fields, &context).await {
        Ok((codes, sid)) => {
            let cookie = replacement_cookie(&session, &sid, &context);
            let email = &session.user.email;
            let page = pages::recovery_codes(&text::of("two-step-is-on"), &codes, email, context.now);
            (cookie, page).into_response()
        }
        Err(error) => renderer.show_again(error, |form| pages::two_step_enrollment(form, &enrollment)),
    })
}

/// Returns the pending enrollment of the user, which the page shows again after a wrong code.
async fn pending(
    identity: &Identity,
    session: &Session,
    context: &RequestContext,
) -> Result<Enrollment, FlowError> {
    let pending = mfa::pending(identity, session, context).await;
    let pending = pending.map_err(web::Error::from)?;
    pending.ok_or_else(|| FlowError::Response(see_other(paths::TWO_STEP)))
}

async fn complete(
    identity: &Identity,
    session: &Session,
    fields: &TwoStepConfirmationForm,
    context: &RequestContext,
) -> Result<(Vec<String>, Secret), FormError> {
    let otp = reauthentication::code(&fields.otp)?;
    mfa::confirm(identity, session, &otp, context)
        .await
        .map_err(form_error)
}

/// Renew the recovery codes
///
/// Requires a sign-in within the last ten minutes. Shows ten new codes. The former ones no longer work.
#[utoipa::path(
    post, path = paths::RECOVERY_CODES, operation_id = "renewRecoveryCodesByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AccountForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The new recovery codes.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, or to the page of two-step sign-in if it is off.",
         headers(("Location"))),
        FormErrors, OtherUserErrors,
    )
)]
pub(crate) async fn renew_recovery_codes(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, _): SessionForm<AccountForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::TWO_STEP, false, &context)?;
    let renewed = mfa::renew_recovery_codes(&identity, &session, None, &context).await;
    let (change, email) = (text::of("recovery-codes-renewed"), &session.user.email);
    Ok(match renewed {
        Ok(codes) => pages::recovery_codes(&change, &codes, email, context.now),
        Err(error) => renderer
            .for_user(&session)
            .show_again(form_error(error), |form| pages::two_step_off(form, email)),
    })
}

/// Turn two-step sign-in off
///
/// Requires a sign-in within the last ten minutes. Ends all other sessions of the user, and the tokens of all
/// apps.
#[utoipa::path(
    post, path = paths::TWO_STEP_OFF, operation_id = "turnTwoStepOffByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AccountForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "Two-step sign-in is off.", body = String, content_type = "text/html",
         headers(("Set-Cookie"))),
        (status = 303, description = "Redirect to the sign-in page, or to the page of two-step sign-in if it is off already.",
         headers(("Location"))),
        FormErrors, OtherUserErrors,
    )
)]
pub(crate) async fn turn_off(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, _): SessionForm<AccountForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::TWO_STEP, false, &context)?;
    Ok(match mfa::disable(&identity, &session, None, &context).await {
        Ok(sid) => {
            let cookie = replacement_cookie(&session, &sid, &context);
            let page = pages::notify(&text::of("two-step-is-off"), paths::ACCOUNT);
            (cookie, page).into_response()
        }
        Err(error) => renderer.for_user(&session).show_again(form_error(error), |form| {
            pages::two_step_off(form, &session.user.email)
        }),
    })
}

/// Returns the error of a form. If another browser changed two-step sign-in meanwhile, this one gets its page
/// as it is now.
fn form_error(error: Error) -> FormError {
    match error {
        Error::AlreadyEnabled | Error::NotEnabled => FormError::Final(see_other(paths::TWO_STEP)),
        Error::Credentials(error) => reauthentication::error(error, paths::TWO_STEP),
    }
}
