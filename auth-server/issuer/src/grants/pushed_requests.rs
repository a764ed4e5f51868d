//! Pushed authorization requests (RFC 9126): the client sends the request to the issuer itself, and the
//! browser carries a reference only. A request is checked when it is pushed and again when it is used, by the
//! code that checks every other.

use super::authorization::CheckedRequest;
use super::authorization_error::AuthorizationError;
use super::interaction::Demands;
use super::{AuthorizationRequest, Grants};
use crate::flows::FlowRequest;
use crate::params::{Params, REPEATED};
use crate::pushed_requests::{self, RequestUri};
use crate::token_error::TokenError;
use clap::ValueEnum;
use foundation::clock::Timestamp;
use identity::clients::{Client, ClientOrigin, ClientType};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// The time for which a pushed request can begin flows. Clients send the browser to the issuer at once.
const LIFETIME: Duration = Duration::from_secs(60);

/// Whether clients push their authorization requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PushedRequestMode {
    /// They cannot.
    Off,
    /// They can, and those that are registered so must.
    On,
    /// All of them must.
    Required,
}

/// The response to a pushed request (RFC 9126 §2.2).
#[derive(Serialize, ToSchema)]
pub struct PushedRequest {
    /// The value of `request_uri` for `/authorize`, valid for one code.
    #[schema(example = "urn:ietf:params:oauth:request_uri:6esc_11ACC5bwc014ltc14eY22c")]
    request_uri: String,
    /// The time in which `/authorize` accepts it, in seconds.
    #[schema(example = 60)]
    expires_in: u64,
}

/// A valid request as it arrived at the authorization endpoint.
pub struct ReceivedRequest {
    /// Its parameters and reference, with which a flow begins.
    pub request: FlowRequest,
    /// Its demands on the user.
    pub demands: Demands,
    /// The checked request; `None` if its client describes itself by a document, for which a user must sign
    /// in first.
    pub checked: Option<CheckedRequest>,
}

impl PushedRequestMode {
    /// Returns whether clients can push their requests.
    pub const fn is_on(self) -> bool {
        !matches!(self, Self::Off)
    }
}

impl Grants {
    /// Stores an authorization request of the client, which the caller has authenticated (RFC 9126 §2). Its
    /// code is bound to the key with the thumbprint `key`, if it is set, as by `dpop_jkt` (RFC 9449 §10.1):
    /// the caller has accepted the proof of the key. Fails if the request is invalid.
    pub async fn push(
        &self,
        client: &Client,
        request: AuthorizationRequest,
        key: Option<String>,
        now: Timestamp,
    ) -> Result<PushedRequest, TokenError> {
        if client.kind == ClientType::Service {
            return Err(TokenError::UnauthorizedClient);
        }
        if request.request_uri.is_some() {
            return Err(TokenError::InvalidRequest(
                "a pushed request has no request_uri".to_owned(),
            ));
        }
        if key.is_some() && request.dpop_jkt.is_some() && key != request.dpop_jkt {
            return Err(TokenError::InvalidRequest(
                "dpop_jkt is not the thumbprint of the key that signed the proof".to_owned(),
            ));
        }
        let params = Params::write(&AuthorizationRequest {
            // HTTP Basic and assertions name the client too.
            client_id: client.id.clone(),
            dpop_jkt: key.or(request.dpop_jkt),
            ..request
        });
        let params = params.map_err(|error| TokenError::Internal(error.to_string()))?;
        self.check_known(&params, now).await.map_err(rejection)?;
        let expires_at = now.after(LIFETIME);
        let request_uri = pushed_requests::create(&self.db, &client.id, params.to_form(), expires_at).await?;
        Ok(PushedRequest {
            request_uri: request_uri.uri(),
            expires_in: LIFETIME.as_secs(),
        })
    }

    /// Reads and validates a request at the authorization endpoint: the pushed one to which `request_uri`
    /// refers, in place of the other parameters (RFC 9126 §4), or that of the parameters. Fails if the
    /// request is invalid, or if it had to be pushed. Fetches no document of a client.
    pub async fn receive(
        &self,
        params: Params,
        now: Timestamp,
    ) -> Result<ReceivedRequest, AuthorizationError> {
        let request_uri = params.get("request_uri").and_then(RequestUri::parse);
        let request_uri = request_uri.filter(|_| self.pushed_requests.is_on());
        let params = match &request_uri {
            Some(request_uri) => self.find_pushed(request_uri, &params, now).await?,
            None => params,
        };
        let mut request = FlowRequest {
            params,
            request_uri,
            received_at: now,
            client_name: None,
        };
        if let Some(demands) = self.check_without_document(&request.params, now).await? {
            return Ok(ReceivedRequest {
                request,
                demands,
                checked: None,
            });
        }
        let checked = self.check_known(&request.params, now).await?;
        if checked.client.origin == ClientOrigin::Administrator {
            request.client_name = Some(checked.client.name.clone());
        }
        let must_push = self.pushed_requests == PushedRequestMode::Required
            || checked.client.require_pushed_authorization_requests;
        if must_push && request.request_uri.is_none() {
            let description = "push the request to the pushed_authorization_request_endpoint first";
            return Err(self.reject(&checked.request, "invalid_request", description));
        }
        Ok(ReceivedRequest {
            request,
            demands: checked.demands,
            checked: Some(checked),
        })
    }

    /// Returns the parameters that the client of the request pushed. The other parameters are ignored, even
    /// if they are repeated.
    async fn find_pushed(
        &self,
        request_uri: &RequestUri,
        params: &Params,
        now: Timestamp,
    ) -> Result<Params, AuthorizationError> {
        params.check_length().map_err(AuthorizationError::page)?;
        if params.repeats("client_id") || params.repeats("request_uri") {
            return Err(AuthorizationError::unreadable(REPEATED));
        }
        if let Some(flaw) = params.flaw().filter(|flaw| *flaw != REPEATED) {
            return Err(AuthorizationError::unreadable(flaw));
        }
        let client_id = params.get("client_id").unwrap_or_default();
        let pushed = pushed_requests::find(&self.db, request_uri, client_id, now).await?;
        let pushed = pushed.ok_or_else(AuthorizationError::invalid_request_uri)?;
        Ok(Params::from_form(pushed.as_bytes()))
    }
}

/// Returns the error of the token endpoint's form for a request that the authorization endpoint would reject
/// (RFC 9126 §2.3).
fn rejection(error: AuthorizationError) -> TokenError {
    match error {
        AuthorizationError::Page(message) => TokenError::InvalidRequest(message),
        AuthorizationError::Redirect(response) => TokenError::Rejected {
            error: response.error,
            description: match response.description {
                "" => "the authorization request is not acceptable, see RFC 6749 §4.1.2.1",
                description => description,
            },
        },
        AuthorizationError::Database(error) => error.into(),
        error @ (AuthorizationError::FlowFinished
        | AuthorizationError::SessionEnded
        | AuthorizationError::Read(_)
        | AuthorizationError::Document(_)) => TokenError::Internal(error.to_string()),
    }
}
