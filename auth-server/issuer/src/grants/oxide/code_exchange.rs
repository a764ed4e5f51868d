//! The checks of the exchange of a code (RFC 6749 §4.1.3), in the order of oxide-auth's state machine.

use crate::codes::{ExchangedCode, PresentedCode};
use chrono::DateTime;
use foundation::clock::Timestamp;
use oxide_auth::code_grant::accesstoken::{AccessToken, Authorization, Input, Output, Request};
use oxide_auth::primitives::grant::{Extensions, Grant};
use std::borrow::Cow;
use url::Url;

/// An exchange whose code is to be claimed.
pub(in crate::grants) struct CodeExchange {
    checks: AccessToken,
    redirect_uri: Url,
}

impl CodeExchange {
    /// Begins the exchange of a code that an authenticated client presents. Returns `None` if the request is
    /// refused.
    pub(in crate::grants) fn begin(presented: PresentedCode<'_>) -> Option<Self> {
        let redirect_uri = Url::parse(presented.redirect_uri).ok()?;
        let mut checks = AccessToken::new(&ExchangeRequest(presented));
        let Output::Authenticate { .. } = checks.advance(Input::None) else {
            return None;
        };
        let Output::Recover { .. } = checks.advance(Input::Authenticated) else {
            return None;
        };
        Some(Self { checks, redirect_uri })
    }

    /// Returns whether tokens may be issued for the claimed code. `expires_at` is a time after now. The claim
    /// has checked the client, the redirect URI, the PKCE challenge and the expiry of the code already.
    pub(in crate::grants) fn permits(mut self, code: &ExchangedCode, expires_at: Timestamp) -> bool {
        let Ok(scope) = code.family.scope.to_string().parse() else {
            return false;
        };
        let grant = Grant {
            owner_id: code.family.user_id.to_string(),
            client_id: code.family.client_id.clone(),
            scope,
            redirect_uri: self.redirect_uri,
            until: DateTime::from_timestamp_micros(expires_at.micros()).unwrap_or_default(),
            extensions: Extensions::new(),
        };
        let Output::Extend { .. } = self.checks.advance(Input::Recovered(Some(Box::new(grant)))) else {
            return false;
        };
        let access_extensions = Extensions::new();
        let issue = self.checks.advance(Input::Extended { access_extensions });
        matches!(issue, Output::Issue { .. })
    }
}

/// The request as the state machine reads it: complete, from an authenticated client.
struct ExchangeRequest<'a>(PresentedCode<'a>);

impl Request for ExchangeRequest<'_> {
    fn valid(&self) -> bool {
        true
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.0.code))
    }

    fn authorization(&self) -> Authorization<'_> {
        Authorization::None
    }

    fn client_id(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.0.client_id))
    }

    fn redirect_uri(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(self.0.redirect_uri))
    }

    fn grant_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed("authorization_code"))
    }

    fn extension(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }
}
