//! The grants (RFC 6749), driven by oxide-auth's state machines.
//!
//! Each request gets a small value that is our Authorizer and Issuer: it does the database's part, and
//! keeps why something failed, which the state machines cannot say.

pub(crate) mod access_tokens;
pub(crate) mod authorization;
pub(crate) mod authorization_code;
pub(crate) mod refresh_token;
mod registrar;

use crate::keys::Keyring;
use crate::refresh_tokens::RefreshTokens;
use chrono::{DateTime, Utc};
use oxide_auth::primitives::grant::{Extensions, Grant};
use serde::Serialize;
use shared::clock::Timestamp;
use shared::db::{self, Db};
use shared::events::{Context, Event};
use shared::grants::families::{self, Of};
use shared::revocation::Mirror;
use shared::scope::Scope;
use std::time::Duration;
use url::Url;
use utoipa::ToSchema;

/// What giving tokens needs.
pub(crate) struct Grants {
    pub(crate) db: Db,
    pub(crate) revocations: Mirror,
    pub(crate) keys: Keyring,
    pub(crate) refresh_tokens: RefreshTokens,
    pub(crate) issuer: String,
    pub(crate) audience: String,
    pub(crate) lifetimes: Lifetimes,
}

/// How long what the issuer gives lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetimes {
    /// Access tokens; 600 s at most.
    pub access_token: Duration,
    /// Authorization codes.
    pub code: Duration,
    /// Refresh tokens and their families.
    pub refresh: families::Lifetimes,
    /// How long the JWKS may be cached.
    pub jwks_max_age: Duration,
}

impl Grants {
    /// Ends a family that somebody holds a copy of, along with the event that says so. When it returns, the
    /// end is durable and this process accepts none of its access tokens.
    async fn end_family(&self, id: &str, because: Event, context: &Context) -> Result<(), db::Error> {
        let mut tx = self.db.begin().await?;
        because.record(&mut tx, context).await?;
        families::revoke(&mut tx, Of::Family(id), context).await?;
        tx.commit().await?;
        self.revocations.announce().await;
        Ok(())
    }
}

/// A successful answer (RFC 6749 §5.1).
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenResponse {
    /// A JWT (RFC 9068).
    pub(crate) access_token: String,
    /// `Bearer`
    #[schema(example = "Bearer")]
    pub(crate) token_type: &'static str,
    /// Seconds that the access token lives.
    #[schema(example = 600)]
    pub(crate) expires_in: u64,
    /// Good once.
    pub(crate) refresh_token: String,
    /// What the access token allows.
    pub(crate) scope: Scope,
}

/// What the state machines want to know of a grant.
fn oxide_grant(
    owner_id: i64,
    client_id: &str,
    redirect_uri: Url,
    scope: &Scope,
    until: Timestamp,
) -> Result<Grant, ()> {
    Ok(Grant {
        owner_id: owner_id.to_string(),
        client_id: client_id.to_owned(),
        scope: scope.to_string().parse().map_err(|_| ())?,
        redirect_uri,
        until: oxide_time(until),
        extensions: Extensions::new(),
    })
}

fn oxide_time(moment: Timestamp) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(moment.micros()).unwrap_or_default()
}
