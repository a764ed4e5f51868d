//! `/account/passkeys`: the page on which users add, rename and remove passkeys; and `/.well-known/passkey-endpoints`, which leads to it.

use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::consent::require_session;
use crate::http::documentation::{FormErrors, PasskeyErrors, PasskeyNameErrors, SessionErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AccountQuery, PasskeyForm, PasskeyNameForm, PasskeyRemovalForm};
use crate::http::redirects::see_other;
use crate::http::{paths, reauthentication};
use crate::pages::{self, FormState, PasskeyChallenge, PasskeysPage, text};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use foundation::context::RequestContext;
use foundation::ids::Id;
use identity::credential_check;
use identity::passkeys::{self, Name, Passkey};
use identity::sessions::Session;
use serde::Serialize;
use utoipa::ToSchema;
use web::cookies::replacement_cookie;
use web::{Context, Error};

/// The data of the page.
struct Overview {
    passkeys: Vec<Passkey>,
    /// Whether the user signed in recently enough to add and remove passkeys.
    can_change: bool,
    challenge: Option<PasskeyChallenge>,
}

impl Overview {
    /// Reads the data for the browser with this anti-forgery token. There is a challenge if the last sign-in was within ten minutes, and
    /// the user may add a passkey.
    async fn read(
        app: &App,
        session: &Session,
        csrf: &str,
        context: &RequestContext,
    ) -> Result<Self, FlowError> {
        let can_change = session.has_recent_sign_in(context.now);
        let challenge = match &app.relying_party {
            Some(party) if can_change => {
                let begun = passkeys::begin_enrollment(&app.identity, party, session, csrf, context).await;
                begun.map_err(|error| FlowError::Response(Error::internal(&error).into_response()))?
            }
            _ => None,
        };
        Ok(Self {
            passkeys: passkeys::list(&app.identity.db, session.user.id).await?,
            can_change,
            challenge: challenge
                .map(|challenge| PasskeyChallenge::new(challenge, paths::PASSKEYS.to_owned())),
        })
    }

    fn page(self, form: FormState<'_>, name: Option<&str>, context: &RequestContext) -> Response {
        pages::passkeys(PasskeysPage {
            form,
            passkeys: &self.passkeys,
            can_change: self.can_change,
            challenge: self.challenge,
            name,
            user_agent: context.user_agent.as_deref(),
            sign_in: paths::sign_in(Some(paths::PASSKEYS_FLOW)),
            now: context.now,
        })
    }
}

/// Returns the page again, after an error of one of its forms. `name` is that entered for a new passkey.
async fn show_again(
    app: &App,
    session: &Session,
    renderer: FormRenderer,
    error: FormError,
    name: Option<&str>,
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let overview = Overview::read(app, session, renderer.csrf(), context).await?;
    Ok(renderer.show_again(error, |form| overview.page(form, name, context)))
}

/// Show the passkeys
///
/// If the last sign-in was over ten minutes ago, the page leads to the sign-in page in place of the forms that add and remove passkeys.
#[utoipa::path(
    get, path = paths::PASSKEYS, operation_id = "showPasskeys", tag = "Pages", params(AccountQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The page.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, or right after sign-in to the same page.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let just_signed_in = query.signed_in.is_some();
    let session = require_session(session, Some(paths::PASSKEYS_FLOW), just_signed_in)?;
    if just_signed_in {
        // The address must not say so later, when the session has ended.
        return Ok(see_other(paths::PASSKEYS));
    }
    let overview = Overview::read(&app, &session, renderer.csrf(), &context).await?;
    Ok(renderer.show(|form| overview.page(form, None, &context)))
}

/// Add a passkey
///
/// The script of the page submits the form. Requires a sign-in within the last ten minutes. The user gets a notice by mail.
#[utoipa::path(
    post, path = paths::PASSKEYS, operation_id = "addPasskey", tag = "Pages", security((), ("session" = [])),
    request_body(content = PasskeyForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the passkeys, or to the sign-in page.", headers(("Location"))),
        FormErrors, PasskeyErrors,
    )
)]
pub(crate) async fn add(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<PasskeyForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, Some(paths::PASSKEYS_FLOW), false)?;
    match enroll(&app, &session, &fields, &context).await {
        Ok(()) => Ok(see_other(paths::PASSKEYS)),
        Err(error) => show_again(&app, &session, renderer, error, Some(&fields.name), &context).await,
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
    enrolled.map_err(|error| match error {
        passkeys::Error::Credentials(error) => credential_error(error),
        passkeys::Error::Stale => FormError::invalid(&text::of("passkey-not-added-in-time")),
        passkeys::Error::Refused(_) | passkeys::Error::TooLarge => {
            tracing::info!(%error, "a new passkey was refused");
            FormError::invalid(&text::of("passkey-answer-refused"))
        }
        error => error.into(),
    })
}

fn parse_name(text: &str) -> Result<Name, FormError> {
    Name::parse(text).map_err(|_| FormError::invalid(&text::of("passkey-name-invalid")))
}

/// Returns the error of a form of the passkeys. A user whose sign-in is too old is sent to the sign-in page, and returns from there.
fn credential_error(error: credential_check::Error) -> FormError {
    match error {
        credential_check::Error::SignInTooOld => {
            FormError::Final(see_other(&paths::sign_in(Some(paths::PASSKEYS_FLOW))))
        }
        error => reauthentication::error(error),
    }
}

/// Rename a passkey
///
/// The name is for the user alone.
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
    let session = require_session(session, Some(paths::PASSKEYS_FLOW), false)?;
    match set_name(&app, &session, &fields, &context).await {
        Ok(()) => Ok(see_other(paths::PASSKEYS)),
        Err(error) => show_again(&app, &session, renderer, error, None, &context).await,
    }
}

async fn set_name(
    app: &App,
    session: &Session,
    fields: &PasskeyNameForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let name = parse_name(&fields.name)?;
    // A malformed id belongs to no passkey, as that of a removed one.
    let Ok(id) = fields.passkey.parse().map(Id::get) else {
        return Ok(());
    };
    let renamed = passkeys::rename(&app.identity, session, id, &name, context).await;
    renamed.map(drop).map_err(reauthentication::error)
}

/// Remove a passkey
///
/// Requires a sign-in within the last ten minutes. Ends all other sessions of the user, and the tokens of all apps.
#[utoipa::path(
    post, path = paths::PASSKEY_REMOVAL, operation_id = "removePasskeyByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = PasskeyRemovalForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the passkeys, or to the sign-in page.",
         headers(("Location"), ("Set-Cookie"))),
        FormErrors,
    )
)]
pub(crate) async fn remove(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<PasskeyRemovalForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, Some(paths::PASSKEYS_FLOW), false)?;
    let Ok(id) = fields.passkey.parse().map(Id::get) else {
        return Ok(see_other(paths::PASSKEYS));
    };
    match passkeys::remove(&app.identity, &session, id, None, &context).await {
        Ok(Some(sid)) => {
            let cookie = replacement_cookie(&session, &sid, &context);
            Ok((cookie, see_other(paths::PASSKEYS)).into_response())
        }
        Ok(None) => Ok(see_other(paths::PASSKEYS)),
        Err(error) => {
            let error = credential_error(error);
            show_again(&app, &session, renderer, error, None, &context).await
        }
    }
}

/// The pages on which users add and manage passkeys (W3C, A Well-Known URL for Relying Party Passkey Endpoints).
#[derive(Serialize, ToSchema)]
pub(crate) struct PasskeyEndpoints {
    /// The page on which users add a passkey.
    enroll: String,
    /// The page on which users manage their passkeys.
    manage: String,
}

/// Lead to the page of the passkeys
///
/// Password managers look here for the pages on which users add and manage passkeys.
#[utoipa::path(
    get, path = paths::PASSKEY_ENDPOINTS, operation_id = "readPasskeyEndpoints", tag = "Discovery", security(()),
    responses((status = 200, description = "The pages.", body = PasskeyEndpoints))
)]
pub(crate) async fn endpoints(State(app): State<App>) -> Json<PasskeyEndpoints> {
    let page = app.policy.url(paths::PASSKEYS);
    Json(PasskeyEndpoints {
        enroll: page.clone(),
        manage: page,
    })
}
