//! Conversions of grants and tokens to the types of oxide-auth.

use crate::grants::TokenResponse;
use crate::token_error::TokenError;
use chrono::{DateTime, Utc};
use foundation::clock::Timestamp;
use foundation::scope::Scope;
use oxide_auth::primitives::grant::{Extensions, Grant};
use oxide_auth::primitives::issuer::{IssuedToken, TokenType};
use url::Url;

/// Returns a grant as the state machines represent it. Fails if oxide-auth cannot represent the scope.
pub(super) fn oxide_grant(
    user_id: i64,
    client_id: &str,
    redirect_uri: Url,
    scope: Scope,
    expires_at: Timestamp,
) -> Result<Grant, ()> {
    Ok(Grant {
        owner_id: user_id.to_string(),
        client_id: client_id.to_owned(),
        scope: scope.to_string().parse().map_err(|_| ())?,
        redirect_uri,
        until: DateTime::from_timestamp_micros(expires_at.micros()).unwrap_or_default(),
        extensions: Extensions::new(),
    })
}

/// Returns the tokens of a response as the state machine of a new grant represents them. Fails if there is no response.
pub(super) fn issued_token(
    result: &Result<TokenResponse, TokenError>,
    until: DateTime<Utc>,
) -> Result<IssuedToken, ()> {
    let response = result.as_ref().map_err(|_| ())?;
    Ok(IssuedToken {
        token: response.access_token.clone(),
        refresh: response.refresh_token.clone(),
        until,
        token_type: TokenType::Bearer,
    })
}
