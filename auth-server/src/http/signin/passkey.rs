//! `POST /signin/passkey`: sign in with a passkey.

use super::{former_session, show_again, signed_in};
use crate::app::App;
use crate::http::documentation::{FlowErrors, FormErrors, PasskeySignInErrors};
use crate::http::extract::PageForm;
use crate::http::flow::{self, FlowCookie, FlowError};
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::PasskeySignInForm;
use crate::pages::PasskeyChallenge;
use crate::paths;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use foundation::context::RequestContext;
use identity::login::NewSession;
use identity::passkeys;
use web::{Context, Error};

/// Returns a challenge for the sign-in page in the browser with this anti-forgery token; `None` if no passkey
/// can belong to this installation.
pub(super) fn challenge(
    app: &App,
    csrf: &str,
    flow: Option<&str>,
    context: &RequestContext,
) -> Option<PasskeyChallenge> {
    let party = app.relying_party.as_ref()?;
    match party.begin_sign_in(&app.identity.account_key, csrf, context.now) {
        Ok(challenge) => Some(PasskeyChallenge::new(challenge, paths::sign_in(flow))),
        Err(error) => {
            tracing::error!(%error, "the sign-in page has no challenge for passkeys");
            None
        }
    }
}

/// Sign in with a passkey
///
/// The script of the sign-in page submits the form. Starts or renews a session, as the sign-in form does, and
/// requires neither the password nor a code.
#[utoipa::path(
    post, path = paths::PASSKEY_SIGN_IN, operation_id = "submitPasskey", tag = "Pages", security(()),
    request_body(content = PasskeySignInForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Signed in. Redirect to the page on which the flow continues, or to the account outside a flow.",
         headers(("Location"), ("Set-Cookie"))),
        FormErrors, FlowErrors, PasskeySignInErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    headers: HeaderMap,
    cookie: FlowCookie,
    renderer: FormRenderer,
    PageForm(fields): PageForm<PasskeySignInForm>,
) -> Result<Response, FlowError> {
    let flow = flow::find(&app, fields.flow.as_deref(), cookie, context.now).await?;
    Ok(match sign_in(&app, &fields, &headers, &context).await {
        Ok(session) => signed_in(&app.identity, &session.sid, flow.parameter),
        Err(error) => show_again(&app, renderer, error, ("", &flow), &headers, &context).await?,
    })
}

async fn sign_in(
    app: &App,
    fields: &PasskeySignInForm,
    headers: &HeaderMap,
    context: &RequestContext,
) -> Result<NewSession, FormError> {
    let party = app.relying_party.as_ref().ok_or_else(Error::not_found)?;
    let former = former_session(headers).map_err(FormError::Final)?;
    let signed_in = passkeys::sign_in(&app.identity, party, fields.answer(), former.as_ref(), context);
    Ok(signed_in.await?)
}
