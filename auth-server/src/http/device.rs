//! `GET` and `POST /device`, and `POST /device/confirmation`: a user enters the code of a device, sees which
//! request it is about, and decides (RFC 8628 §3.3).

use super::browser::BrowserSession;
use super::consent::{is_allowed, offers_passkey, require_session};
use super::documentation::{DeviceErrors, FormErrors, SessionErrors};
use super::extract::{PageQuery, SessionForm};
use super::flow::FlowError;
use super::form_page::{FormError, FormRenderer};
use super::forms::{DeviceDecisionForm, DeviceForm, DeviceQuery};
use crate::app::App;
use crate::pages::{self, Field, FormState, text};
use crate::paths;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use foundation::context::RequestContext;
use identity::sessions::Session;
use issuer::device_requests::UserCode;
use issuer::grants::Grants;
use issuer::grants::device_decision::ShownRequest;
use web::Context;

/// Show the page for the code of a device
///
/// The query fills in the code, and nothing else happens.
#[utoipa::path(
    get, path = paths::DEVICE, operation_id = "showDevice", tag = "Pages", params(DeviceQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    PageQuery(query): PageQuery<DeviceQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let code = query.user_code.as_deref().and_then(UserCode::parse);
    let flow = paths::device_flow(code.as_ref());
    let session = require_session(session, Some(&flow), query.signed_in.is_some())?;
    let code = code.as_ref().map(UserCode::to_string).unwrap_or_default();
    Ok(renderer.show(|form| page(form, &session, &code)))
}

fn page(form: FormState<'_>, session: &Session, code: &str) -> Response {
    pages::device(&pages::DevicePage {
        form,
        email: &session.user.email,
        sign_in: another_user(None),
        code,
    })
}

/// Submit the code of a device
///
/// Shows the application, the permissions, and where and when the device asked, for the user to decide.
#[utoipa::path(
    post, path = paths::DEVICE, operation_id = "submitDevice", tag = "Pages", security((), ("session" = [])),
    request_body(content = DeviceForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The form to decide.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, DeviceErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<DeviceForm>,
) -> Result<Response, FlowError> {
    let code = UserCode::parse(&fields.user_code);
    let session = require_session(session, Some(&paths::device_flow(code.as_ref())), false)?;
    match find(&app.grants, code, &session, &context).await {
        Ok((code, request)) => {
            let shown = code.to_string();
            pages::link_languages_to(&paths::with_query(paths::DEVICE, &[("user_code", &shown)]));
            Ok(renderer.show(|form| {
                pages::device_confirmation(&pages::DeviceConfirmationPage {
                    form,
                    email: &session.user.email,
                    sign_in: another_user(Some(&code)),
                    code: &shown,
                    request: &request,
                    now: context.now,
                })
            }))
        }
        Err(error) => Ok(renderer.show_again(error, |form| page(form, &session, &fields.user_code))),
    }
}

/// Returns the path of the page on which another user signs in, who goes on with this code.
fn another_user(code: Option<&UserCode>) -> String {
    paths::sign_in(Some(&paths::device_flow(code)))
}

async fn find(
    grants: &Grants,
    code: Option<UserCode>,
    session: &Session,
    context: &RequestContext,
) -> Result<(UserCode, ShownRequest), FormError> {
    let code = code.ok_or_else(|| FormError::invalid(&text::of("device-code-invalid")).about(Field::Code))?;
    let request = grants.find_device_request(&code, session, context).await?;
    Ok((code, request))
}

/// Decide about the request of a device
///
/// The client receives the decision with its next token request.
#[utoipa::path(
    post, path = paths::DEVICE_CONFIRMATION, operation_id = "confirmDevice", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = DeviceDecisionForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The request was allowed or denied.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors,
    )
)]
pub(crate) async fn confirm(
    State(app): State<App>,
    Context(context): Context,
    SessionForm(session, fields): SessionForm<DeviceDecisionForm>,
) -> Result<Response, FlowError> {
    let is_allowed = is_allowed(&fields.decision)?;
    let session = require_session(session, Some(&paths::device_flow(None)), false)?;
    // An error is reported before the decision, which could not be made again.
    let offers_passkey = is_allowed && offers_passkey(&app, &session, &context).await?;
    let (grants, request) = (&app.grants, &fields.request);
    let decision = grants.decide_device_request(request, is_allowed, &session, &context);
    Ok(match (decision.await?, is_allowed) {
        (true, true) => {
            let offer = offers_passkey.then_some(paths::PASSKEYS);
            pages::notify_with_offer(&text::of("device-allowed"), paths::ACCOUNT, offer)
        }
        (true, false) => pages::notify(&text::of("device-denied"), paths::ACCOUNT),
        (false, _) => pages::error(
            StatusCode::BAD_REQUEST,
            &text::of("device-decided"),
            paths::DEVICE,
        ),
    })
}
