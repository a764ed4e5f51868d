//! `/account/two-step`: the pages on which users turn two-step sign-in on and off.

use crate::http::browser::BrowserSession;
use crate::http::consent::require_session;
use crate::http::documentation::{FormErrors, ReauthenticationErrors, SessionErrors};
use crate::http::extract::SessionForm;
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{TwoStepConfirmationForm, TwoStepEnrollmentForm, TwoStepOffForm};
use crate::http::redirects::see_other;
use crate::http::{paths, reauthentication};
use crate::pages::{self, FormState, TwoStepEnrollmentPage, TwoStepOffPage, TwoStepOnPage, text};
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
/// The form turns it on if it is off, and off if it is on.
#[utoipa::path(
    get, path = paths::TWO_STEP, operation_id = "showTwoStep", tag = "Pages", security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Not signed in. Redirect to the sign-in page.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    Context(context): Context,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let is_on = second_factor::is_enabled(&identity.db, session.user.id).await?;
    Ok(renderer.show(|form| match is_on {
        true => off_page(form, &session, &context),
        false => on_page(form, &session, &context),
    }))
}

fn on_page(form: FormState<'_>, session: &Session, context: &RequestContext) -> Response {
    pages::two_step_on(&TwoStepOnPage {
        form,
        email: &session.user.email,
        asks_password: !session.has_recent_sign_in(context.now),
    })
}

fn off_page(form: FormState<'_>, session: &Session, context: &RequestContext) -> Response {
    pages::two_step_off(&TwoStepOffPage {
        form,
        email: &session.user.email,
        asks_password: !session.has_recent_sign_in(context.now),
    })
}

/// Begin to turn two-step sign-in on
///
/// Requires the password if the last sign-in was over ten minutes ago. Shows a secret for an authenticator app, as a QR code and as text,
/// and asks for a first code.
#[utoipa::path(
    post, path = paths::TWO_STEP_ENROLLMENT, operation_id = "enrollTwoStepByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = TwoStepEnrollmentForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The secret.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, or to the page of two-step sign-in if it is on already.",
         headers(("Location"))),
        FormErrors, ReauthenticationErrors,
    )
)]
pub(crate) async fn enroll(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<TwoStepEnrollmentForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    Ok(match begin(&identity, &session, &fields, &context).await {
        Ok(enrollment) => renderer.show(|form| enrollment_page(form, &enrollment)),
        Err(error) => renderer.show_again(error, |form| on_page(form, &session, &context)),
    })
}

async fn begin(
    identity: &Identity,
    session: &Session,
    fields: &TwoStepEnrollmentForm,
    context: &RequestContext,
) -> Result<Enrollment, FormError> {
    let presented = reauthentication::presented_if_asked(fields.password.as_deref(), None)?;
    mfa::enroll(identity, session, presented.as_ref(), context)
        .await
        .map_err(form_error)
}

/// Turn two-step sign-in on
///
/// Takes a first code and shows recovery codes. Ends all other sessions of the user, and the tokens of all apps.
#[utoipa::path(
    post, path = paths::TWO_STEP_CONFIRMATION, operation_id = "confirmTwoStepByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = TwoStepConfirmationForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "Two-step sign-in is on. The page shows the recovery codes.", body = String,
         content_type = "text/html", headers(("Set-Cookie"))),
        (status = 303, description = "Redirect to the sign-in page, or to the page of two-step sign-in if nothing is to be confirmed.",
         headers(("Location"))),
        FormErrors, ReauthenticationErrors,
    )
)]
pub(crate) async fn confirm(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<TwoStepConfirmationForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let enrollment = pending(&identity, &session).await?;
    Ok(match complete(&identity, &session, &fields, &context).await {
        Ok((codes, sid)) => {
            let cookie = replacement_cookie(&session, &sid, &context);
            (cookie, pages::recovery_codes(&codes)).into_response()
        }
        Err(error) => renderer.show_again(error, |form| enrollment_page(form, &enrollment)),
    })
}

/// Returns the pending enrollment of the user, which the page shows again after a wrong code.
async fn pending(identity: &Identity, session: &Session) -> Result<Enrollment, FlowError> {
    let response = match mfa::pending(identity, session).await {
        Ok(Some(enrollment)) => return Ok(enrollment),
        Ok(None) => see_other(paths::TWO_STEP),
        Err(error) => web::Error::from(error).into_response(),
    };
    Err(FlowError::Response(response))
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

/// Turn two-step sign-in off
///
/// Requires the password and a code if the last sign-in was over ten minutes ago. Ends all other sessions of the user, and the tokens of
/// all apps.
#[utoipa::path(
    post, path = paths::TWO_STEP_OFF, operation_id = "turnTwoStepOffByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = TwoStepOffForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "Two-step sign-in is off.", body = String, content_type = "text/html",
         headers(("Set-Cookie"))),
        (status = 303, description = "Redirect to the sign-in page, or to the page of two-step sign-in if it is off already.",
         headers(("Location"))),
        FormErrors, ReauthenticationErrors,
    )
)]
pub(crate) async fn turn_off(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<TwoStepOffForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    Ok(match disable(&identity, &session, &fields, &context).await {
        Ok(sid) => {
            let cookie = replacement_cookie(&session, &sid, &context);
            let page = pages::notify_with_link(&text::of("two-step-is-off"), paths::ACCOUNT);
            (cookie, page).into_response()
        }
        Err(error) => renderer.show_again(error, |form| off_page(form, &session, &context)),
    })
}

async fn disable(
    identity: &Identity,
    session: &Session,
    fields: &TwoStepOffForm,
    context: &RequestContext,
) -> Result<Secret, FormError> {
    let (password, otp) = (fields.password.as_deref(), fields.otp.as_deref());
    let presented = reauthentication::presented_if_asked(password, otp)?;
    mfa::disable(identity, session, presented.as_ref(), context)
        .await
        .map_err(form_error)
}

fn enrollment_page(form: FormState<'_>, enrollment: &Enrollment) -> Response {
    pages::two_step_enrollment(&TwoStepEnrollmentPage { form, enrollment })
}

/// Returns the error of a form. If another browser changed two-step sign-in meanwhile, this one gets its page as it is now.
fn form_error(error: Error) -> FormError {
    match error {
        Error::AlreadyEnabled | Error::NotEnabled => FormError::Final(see_other(paths::TWO_STEP)),
        Error::Credentials(error) => reauthentication::error(error),
    }
}
