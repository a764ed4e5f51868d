//! `/account/passkeys`: the page on which users add, rename and remove passkeys, and remove the password.

pub(crate) mod endpoints;
pub(crate) mod password_removal;

use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::documentation::{
    FormErrors, PasskeyErrors, PasskeyNameErrors, PasskeyRemovalErrors, SessionErrors,
};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AfterSignInQuery, PasskeyForm, PasskeyNameForm, PasskeyRemovalForm};
use crate::http::reauthentication;
use crate::http::reauthentication::require_recent_sign_in;
use crate::http::redirects::{see_other, see_other_after};
use crate::pages::{self, Done, EnteredName, Field, FormState, PasskeyChallenge, PasskeysPage, text};
use crate::paths;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use foundation::context::RequestContext;
use foundation::ids::Id;
use identity::passkeys::{self, Name, Passkey, Removal};
use identity::password_changes::can_remove_password;
use identity::sessions::Session;
use identity::users::account::{self, Account};
use web::cookies::replacement_cookie;
use web::{Context, Error};

/// The data of the page.
struct Overview {
    account: Account,
    passkeys: Vec<Passkey>,
    /// The challenge for a new passkey, if the user may add one.
    challenge: Option<PasskeyChallenge>,
    /// The authorization flow that continues afterwards.
    flow: Option<String>,
}

impl Overview {
    /// Reads the data for the browser with this anti-forgery token. If the account was disabled or deleted
    /// meanwhile, fails with a redirect to the sign-in page.
    async fn read(
        app: &App,
        session: &Session,
        csrf: &str,
        flow: Option<&str>,
        context: &RequestContext,
    ) -> Result<Self, FlowError> {
        let (db, user_id) = (&app.identity.db, session.user.id);
        let party = app.relying_party.as_ref().ok_or_else(Error::not_found)?;
        let account = account::find_enabled(db, user_id).await?;
        let account = account.ok_or_else(|| FlowError::Response(see_other(paths::SIGN_IN)))?;
        let passkeys = passkeys::list(db, user_id).await?;
        let challenge = passkeys::begin_enrollment(&app.identity, party, session, &passkeys, csrf, context);
        let challenge = challenge.map_err(|error| Error::internal(&error))?;
        Ok(Self {
            account,
            passkeys,
            challenge: challenge
                .map(|challenge| PasskeyChallenge::new(challenge, paths::of_flow(paths::PASSKEYS, flow))),
            flow: flow.map(str::to_owned),
        })
    }

    fn page(
        self,
        form: FormState<'_>,
        session: &Session,
        entered: Option<EnteredName<'_>>,
        context: &RequestContext,
    ) -> Response {
        pages::passkeys(PasskeysPage {
            form,
            account: &self.account,
            passkeys: &self.passkeys,
            can_remove_password: can_remove_password(session),
            challenge: self.challenge,
            flow: self.flow.as_deref(),
            next: self.flow.as_deref().map(|flow| paths::continuation(flow, &[])),
            entered,
            user_agent: context.user_agent.as_deref(),
            now: context.now,
        })
    }
}

/// Returns a `flow` if it is an authorization flow by its form.
fn authorization_flow(flow: Option<&str>) -> Option<&str> {
    flow.filter(|flow| !flow.is_empty() && paths::is_sealed(flow))
}

/// Returns the session as [`require_recent_sign_in`] does. Within an authorization flow, fails with a redirect
/// to the page on which the flow continues.
fn require_recent_sign_in_or_continue(
    session: Option<Session>,
    flow: Option<&str>,
    just_signed_in: bool,
    context: &RequestContext,
) -> Result<Session, FlowError> {
    let is_recent = |session: &Session| session.has_recent_sign_in(context.now);
    match flow {
        Some(flow) if !session.as_ref().is_some_and(is_recent) => {
            Err(FlowError::Response(see_other(&paths::continuation(flow, &[]))))
        }
        _ => require_recent_sign_in(session, paths::PASSKEYS, just_signed_in, context),
    }
}

/// Returns the page again, after an error of one of its forms, with the name that was entered and the flow
/// that continues afterwards.
async fn show_again(
    app: &App,
    session: &Session,
    renderer: FormRenderer,
    error: FormError,
    (entered, flow): (Option<EnteredName<'_>>, Option<&str>),
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let overview = Overview::read(app, session, renderer.csrf(), flow, context).await?;
    let renderer = renderer.for_user(session);
    Ok(renderer.show_again(error, |form| overview.page(form, session, entered, context)))
}

/// Show the passkeys
///
/// Requires a sign-in within the last ten minutes. The consent page offers the page to a user without a
/// passkey, who then returns to it.
#[utoipa::path(
    get, path = paths::PASSKEYS, operation_id = "showPasskeys", tag = "Pages", params(AfterSignInQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The page.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, which leads back, or in an authorization flow to its consent page.",
         headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AfterSignInQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let just_signed_in = query.signed_in.is_some();
    let flow = authorization_flow(query.flow.as_deref());
    let session = require_recent_sign_in_or_continue(session, flow, just_signed_in, &context)?;
    let overview = Overview::read(&app, &session, renderer.csrf(), flow, &context).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| overview.page(form, &session, None, &context)))
}

/// Add a passkey
///
/// The script of the page submits the form. Requires a sign-in within the last ten minutes. The user gets a
/// notice by mail.
#[utoipa::path(
    post, path = paths::PASSKEYS, operation_id = "addPasskey", tag = "Pages", security((), ("session" = [])),
    request_body(content = PasskeyForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the passkeys, to the consent page of the flow, or to the sign-in page.",
         headers(("Location"))),
        FormErrors, PasskeyErrors,
    )
)]
pub(crate) async fn add(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<PasskeyForm>,
) -> Result<Response, FlowError> {
    let flow = authorization_flow(fields.flow.as_deref());
    let session = require_recent_sign_in_or_continue(session, flow, false, &context)?;
    match enroll(&app, &session, &fields, &context).await {
        Ok(()) => {
            let next = flow.map(|flow| paths::continuation(flow, &[]));
            let next = next.as_deref().unwrap_or(paths::PASSKEYS);
            Ok(see_other_after(Done::PasskeyAdded, next))
        }
        Err(error) => {
            let (passkey, name) = (None, &*fields.name);
            let entered = EnteredName { passkey, name };
            show_again(&app, &session, renderer, error, (Some(entered), flow), &context).await
        }
    }
}

async fn enroll(
    app: &App,
    session: &Session,
    fields: &PasskeyForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let party = app.relying_party.as_ref().ok_or_else(Error::not_found)?;
    let name = parse_name(&fields.name)?;
    let enrolled = passkeys::enroll(&app.identity, party, session, &name, fields.answer(), context).await;
    let flow = authorization_flow(fields.flow.as_deref()).unwrap_or(paths::PASSKEYS);
    enrolled.map_err(|error| match error {
        passkeys::Error::Credentials(error) => reauthentication::error(error, flow),
        passkeys::Error::Stale => FormError::invalid(&text::of("passkey-not-added-in-time")),
        passkeys::Error::Refused(_) | passkeys::Error::TooLarge => {
            tracing::info!(%error, "a new passkey was refused");
            FormError::invalid(&text::of("passkey-answer-refused"))
        }
        error => error.into(),
    })
}

fn parse_name(text: &str) -> Result<Name, FormError> {
    let invalid = |_| FormError::invalid(&text::of("passkey-name-invalid")).about(Field::Name);
    Name::parse(text).map_err(invalid)
}

/// Rename a passkey
///
/// The name is for the user alone. Requires a sign-in within the last ten minutes.
#[utoipa::path(
    post, path = paths::PASSKEY_NAME, operation_id = "renamePasskeyByForm", tag = "Pages", security((), ("session" = [])),
    request_body(content = PasskeyNameForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the passkeys, or to the sign-in page.", headers(("Location"))),
        FormErrors, PasskeyNameErrors,
    )
)]
pub(crate) async fn rename(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<PasskeyNameForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::PASSKEYS, false, &context)?;
    match set_name(&app, &session, &fields, &context).await {
        Ok(true) => Ok(see_other_after(Done::PasskeyRenamed, paths::PASSKEYS)),
        Ok(false) => Ok(see_other(paths::PASSKEYS)),
        Err(error) => {
            let (passkey, name) = (fields.passkey.parse().map(Id::get).ok(), &*fields.name);
            let entered = EnteredName { passkey, name };
            show_again(&app, &session, renderer, error, (Some(entered), None), &context).await
        }
    }
}

/// Renames a passkey, and returns whether the user has it.
async fn set_name(
    app: &App,
    session: &Session,
    fields: &PasskeyNameForm,
    context: &RequestContext,
) -> Result<bool, FormError> {
    let name = parse_name(&fields.name)?;
    // A malformed id belongs to no passkey, as that of a removed one.
    let Ok(id) = fields.passkey.parse().map(Id::get) else {
        return Ok(false);
    };
    match passkeys::rename(&app.identity, session, id, &name, context).await {
        Ok(renamed) => Ok(renamed.is_some()),
        Err(error) => Err(reauthentication::error(error, paths::PASSKEYS)),
    }
}

/// Remove a passkey
///
/// Requires a sign-in within the last ten minutes. Ends all other sessions of the user, and the tokens of all
/// apps.
#[utoipa::path(
    post, path = paths::PASSKEY_REMOVAL, operation_id = "removePasskeyByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = PasskeyRemovalForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the passkeys, or to the sign-in page.",
         headers(("Location"), ("Set-Cookie"))),
        FormErrors, PasskeyRemovalErrors,
    )
)]
pub(crate) async fn remove(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<PasskeyRemovalForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::PASSKEYS, false, &context)?;
    let Ok(id) = fields.passkey.parse().map(Id::get) else {
        return Ok(see_other(paths::PASSKEYS));
    };
    let error = match passkeys::remove(&app.identity, &session, id, None, &context).await {
        Ok(Removal::Removed(sid)) => {
            let cookie = replacement_cookie(&session, &sid, &context);
            let next = see_other_after(Done::PasskeyRemoved, paths::PASSKEYS);
            return Ok((cookie, next).into_response());
        }
        Ok(Removal::Unknown) => return Ok(see_other(paths::PASSKEYS)),
        Ok(Removal::OnlyWayToSignIn) => FormError::new(StatusCode::CONFLICT, &text::of("passkey-only-one")),
        Err(error) => reauthentication::error(error, paths::PASSKEYS),
    };
    show_again(&app, &session, renderer, error, (None, None), &context).await
}
