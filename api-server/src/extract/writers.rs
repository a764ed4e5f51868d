//! The extractors for routes that write resources of a user: posts, comments, payments. They answer 403
//! before the body is read.

use super::credentials;
use crate::app::App;
use crate::error::ApiError;
use crate::principal::Principal;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use resources::posts::Actor;
use resources::storage_use::Allowance;
use web::body::Authorization;
use web::error_responses;

/// A user who may write resources of one kind.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The user for whom the call is made, with the permissions on posts and comments.
    pub(crate) actor: Actor,
    /// The credentials and the quota, which each write checks in its own statement or transaction.
    pub(crate) allowance: Allowance,
    /// The caller.
    pub(crate) principal: Principal,
}

impl Writer {
    /// Authenticates the caller. Fails with 401 if that is impossible, and with 403 if the caller lacks this
    /// scope or is a client that calls on its own behalf.
    async fn with_scope(parts: &mut Parts, app: &App, scope: &'static str) -> Result<Self, ApiError> {
        let principal = <Principal as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        principal.require(scope)?;
        Ok(Self {
            actor: principal.user()?.actor(),
            allowance: Allowance {
                authority: principal.authority()?,
                quota: app.quota,
            },
            principal,
        })
    }
}

macro_rules! writers {
    ($($(#[$doc:meta])* $name:ident = $scope:literal;)+) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name(pub(crate) Writer);

        error_responses! {
            $name: Unauthenticated, InvalidToken, CsrfMismatch, PasswordChangeRequired, InsufficientScope, Forbidden;
        }

        impl FromRequestParts<App> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
                Writer::with_scope(parts, app, $scope).await.map(Self)
            }
        }

        impl Authorization<App> for $name {
            async fn check_again(&self, app: &App) -> Result<(), ApiError> {
                let principal = &self.0.principal;
                let checked = credentials::check_again(principal, app).await;
                checked.map_err(|error| principal.attribute(error))
            }
        }
    )+ };
}

writers! {
    /// A user who may write posts.
    PostWriter = "posts:write";
    /// A user who may write comments.
    CommentWriter = "comments:write";
    /// A user who may make payments.
    PaymentWriter = "payments:write";
}
