//! The callers of the registration endpoint: those that register a client, and the clients that manage their
//! registration.

use super::errors::error_response;
use crate::app::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use foundation::ids::TextId;
use foundation::secret::Secret;
use identity::clients::Client;
use issuer::registrations::{ClientRegistration, initial_tokens};
use web::body::Authorization;
use web::context::request_context;
use web::{Error, PathId, bearer, error_responses};

/// The caller that registers a client, with an initial access token if the request has one. Rejects with 404
/// if clients cannot register themselves, and with 401 if the token is not valid, or missing although it is
/// needed.
pub(crate) struct Registrant(pub(super) Option<Secret>);

/// A client that manages its registration. Rejects with 404 if clients cannot register themselves, with 401
/// if the token is not that of the client in the path, and with 403 if an administrator has disabled the
/// client.
pub(crate) struct RegisteredClient {
    pub(super) client: Client,
    pub(super) token: Secret,
}

error_responses!(
    Registrant: NotFound, Unauthenticated, InvalidToken;
    RegisteredClient: Unauthenticated, InvalidToken, Forbidden;
);

impl FromRequestParts<App> for Registrant {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let policy = require_registration(app)?;
        let Some(token) = presented(parts)? else {
            return match policy {
                ClientRegistration::Open => Ok(Self(None)),
                ClientRegistration::Token | ClientRegistration::Off => Err(unauthenticated()),
            };
        };
        let now = request_context(&parts.extensions)?.now;
        match initial_tokens::is_valid(&app.registrations.db, &token, now).await? {
            true => Ok(Self(Some(token))),
            false => Err(bearer::invalid_token(
                "The initial access token is unknown, expired or used up.".to_owned(),
            )),
        }
    }
}

impl Authorization<App> for Registrant {
    /// The transaction that stores the client also uses the token up, so it need not be checked before.
    async fn check_again(&self, _: &App) -> Result<(), Error> {
        Ok(())
    }
}

impl FromRequestParts<App> for RegisteredClient {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        require_registration(app)?;
        let token = presented(parts)?.ok_or_else(unauthenticated)?;
        let id = PathId::<TextId>::from_request_parts(parts, app).await;
        let id = id.unwrap_or_else(|never| match never {});
        // A malformed id is that of no client, so it is unknown like any other.
        let id = id.or_not_found().map(String::from).unwrap_or_default();
        let now = request_context(&parts.extensions)?.now;
        let client = app.registrations.find(&id, &token, now).await;
        let client = client.map_err(error_response)?;
        Ok(Self { client, token })
    }
}

impl Authorization<App> for RegisteredClient {
    /// The transaction that changes the client checks the token again.
    async fn check_again(&self, _: &App) -> Result<(), Error> {
        Ok(())
    }
}

/// Returns the callers that may register clients. Fails with 404 if there are none.
fn require_registration(app: &App) -> Result<ClientRegistration, Error> {
    match app.registrations.policy {
        ClientRegistration::Off => Err(Error::not_found()),
        policy => Ok(policy),
    }
}

/// Returns the bearer token of a request (RFC 6750 §2.1). Fails with 400 for several `Authorization` headers,
/// and with 401 for a DPoP token.
fn presented(parts: &Parts) -> Result<Option<Secret>, Error> {
    match bearer::token(&parts.headers)? {
        Some(presented) if presented.is_dpop => Err(bearer::invalid_token(
            "The tokens of registrations have the scheme Bearer.".to_owned(),
        )),
        presented => Ok(presented.map(|presented| Secret::new(presented.token))),
    }
}

/// 401: the request has no token, and needs one.
fn unauthenticated() -> Error {
    bearer::unauthenticated(
        "Send an initial access token to register a client, or the registration access token to manage one.",
    )
}
