//! The authorization request (RFC 6749 §4.1.1), driven by oxide-auth: checked when it arrives, and again
//! from the start when the user has consented, so that nothing that changed meanwhile slips through.

mod drive;

use super::Grants;
use crate::params::{Params, REPEATED};
use crate::pkce::CodeChallenge;
use drive::{Drive, Giving};
use oxide_auth::code_grant::authorization::{Error as OxideError, Request};
use oxide_auth::code_grant::error::AuthorizationErrorType;
use oxide_auth_async::code_grant::authorization::{Pending, authorization_code};
use shared::db;
use shared::events::{Context, Event, Name};
use shared::grants::clients::{self, Client};
use shared::grants::consents;
use shared::scope::Scope;
use std::borrow::Cow;

/// The longest request kept, in bytes of all its parameters.
const MAX_LENGTH: usize = 8 * 1024;

/// Why a request goes no further.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The client or the redirect URI is not to be trusted: said on a page, never by a redirect.
    Page(String),
    /// Said to the client, at its registered redirect URI (§4.1.2.1).
    Redirect(String),
    /// Nobody's fault but ours.
    Database(db::Error),
}

/// A request in which everything is right; the user is to be asked.
pub(crate) struct Checked {
    pub(crate) client: Client,
    pub(crate) scope: Scope,
    params: Params,
    code_challenge: CodeChallenge,
    pending: Pending,
}

/// Who consents, in which session.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) user_id: i64,
    pub(crate) session_id: i64,
}

impl Checked {
    /// Where the user will be sent back to: a registered URI.
    pub(crate) fn redirect_uri(&self) -> &str {
        self.params.get("redirect_uri").unwrap_or_default()
    }
}

impl Grants {
    /// Checks a request.
    pub(crate) async fn check_request(&self, params: Params) -> Result<Checked, Refusal> {
        let page = |says: &str| Refusal::Page(says.to_owned());
        if params.len() > MAX_LENGTH {
            return Err(page("The request is too long: it may have 8192 bytes."));
        }
        if let Some(flaw) = params.flaw().filter(|flaw| *flaw != REPEATED) {
            return Err(Refusal::Page(format!("The request cannot be read: {flaw}.")));
        }
        let client_id = params
            .get("client_id")
            .ok_or_else(|| page("The request names no client_id."))?;
        let client = clients::find(&self.db, client_id)
            .await
            .map_err(Refusal::Database)?;
        let client = client.ok_or_else(|| page("No application with this client_id is known here."))?;

        let mut drive = Drive {
            params: &params,
            client: &client,
            code_challenge: None,
            complaint: "",
            giving: None,
        };
        let outcome = authorization_code(&mut drive, &params).await;
        let (code_challenge, complaint) = (drive.code_challenge, drive.complaint);
        let pending = outcome.map_err(|error| match error {
            // The state machine calls a missing response_type unsupported.
            OxideError::Redirect(_) if params.get("response_type").is_none() => Refusal::Redirect(
                self.error_redirect(&params, "invalid_request", "response_type is required"),
            ),
            OxideError::Redirect(mut error) => Refusal::Redirect(self.error_redirect(
                &params,
                error_code(error.description().kind()),
                complaint,
            )),
            _ => page("The redirect_uri is missing, or is not one that the application has registered."),
        })?;
        let scope = pending.pre_grant().scope.to_string().parse().unwrap_or_default();
        let code_challenge = code_challenge.ok_or_else(|| page("The request could not be checked."))?;
        Ok(Checked {
            client,
            scope,
            params,
            code_challenge,
            pending,
        })
    }

    /// Whether the user need not be asked again: they consented to as much before, and the client can
    /// prove who it is or is ours (RFC 6749 §10.2, RFC 8252 §8.6).
    pub(crate) async fn is_remembered(&self, request: &Checked, user_id: i64) -> Result<bool, db::Error> {
        let client = &request.client;
        if !client.first_party && !client.kind.is_confidential() {
            return Ok(false);
        }
        Ok(consents::granted(&self.db, user_id, &client.id)
            .await?
            .covers(&request.scope))
    }

    /// The user said yes: remembers that, and gives where to redirect with a code for the client.
    pub(crate) async fn allow(
        &self,
        request: Checked,
        owner: Owner,
        context: &Context,
    ) -> Result<String, db::Error> {
        let Checked {
            client,
            params,
            code_challenge,
            pending,
            ..
        } = request;
        let giving = Giving {
            grants: self,
            owner,
            context,
            outcome: None,
        };
        let mut drive = Drive {
            params: &params,
            client: &client,
            code_challenge: Some(code_challenge),
            complaint: "",
            giving: Some(giving),
        };
        // The state machine's own redirect would change the registered URI's spelling; ours does not.
        let _ = pending
            .authorize(&mut drive, Cow::Owned(owner.user_id.to_string()))
            .await;
        let outcome = drive.giving.and_then(|giving| giving.outcome);
        let code = outcome.unwrap_or(Err(db::Error::Failed(sqlx::Error::RowNotFound)))?;
        Ok(self.redirect(&params, &[("code", code.expose())]))
    }

    /// The user said no.
    pub(crate) async fn deny(
        &self,
        request: &Checked,
        owner: Owner,
        context: &Context,
    ) -> Result<String, db::Error> {
        let event = Event::failure(Name::Consent)
            .user(owner.user_id)
            .client(&request.client.id);
        event.record_alone(&self.db, context).await?;
        Ok(self.error_redirect(&request.params, "access_denied", "the user denied the request"))
    }

    fn error_redirect(&self, params: &Params, error: &str, says: &str) -> String {
        match says {
            "" => self.redirect(params, &[("error", error)]),
            says => self.redirect(params, &[("error", error), ("error_description", says)]),
        }
    }

    /// The request's redirect URI with an answer, `state` (RFC 6749 §4.1.2) and `iss` (RFC 9207 §2).
    fn redirect(&self, params: &Params, answer: &[(&str, &str)]) -> String {
        let uri = params.get("redirect_uri").unwrap_or_default();
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(answer);
        query.extend_pairs(params.get("state").map(|state| ("state", state)));
        query.append_pair("iss", &self.issuer);
        format!(
            "{uri}{}{}",
            if uri.contains('?') { '&' } else { '?' },
            query.finish()
        )
    }
}

impl Request for Params {
    fn valid(&self) -> bool {
        !self.repeats("client_id") && !self.repeats("redirect_uri")
    }

    fn client_id(&self) -> Option<Cow<'_, str>> {
        self.get("client_id").map(Cow::Borrowed)
    }

    fn scope(&self) -> Option<Cow<'_, str>> {
        self.get("scope").map(Cow::Borrowed)
    }

    fn redirect_uri(&self) -> Option<Cow<'_, str>> {
        self.get("redirect_uri").map(Cow::Borrowed)
    }

    fn state(&self) -> Option<Cow<'_, str>> {
        self.get("state").map(Cow::Borrowed)
    }

    fn response_type(&self) -> Option<Cow<'_, str>> {
        self.get("response_type").map(Cow::Borrowed)
    }

    fn extension(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).map(Cow::Borrowed)
    }
}

/// RFC 6749 §4.1.2.1.
fn error_code(kind: AuthorizationErrorType) -> &'static str {
    match kind {
        AuthorizationErrorType::InvalidScope => "invalid_scope",
        AuthorizationErrorType::UnsupportedResponseType => "unsupported_response_type",
        AuthorizationErrorType::UnauthorizedClient => "unauthorized_client",
        AuthorizationErrorType::AccessDenied => "access_denied",
        AuthorizationErrorType::ServerError => "server_error",
        AuthorizationErrorType::TemporarilyUnavailable => "temporarily_unavailable",
        _ => "invalid_request",
    }
}
