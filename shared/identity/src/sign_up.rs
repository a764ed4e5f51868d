//! Sign-up.

use crate::authentication_methods::AuthenticationMethods;
use crate::login::{NewSession, begin_session};
use crate::passwords::{self, HashedPassword, Password};
use crate::services::Identity;
use crate::users::{self, NewUser, Role, User};
use crate::{accounts, email_verifications};
use foundation::context::RequestContext;
use foundation::duration::in_words;
use foundation::email::Email;
use foundation::secret::Secret;
use std::time::Duration;
use storage::db::{self, Tx};
use storage::expiring::Window;

/// The limit of sign-ups from one network, of which each hashes a password and may mail a stranger.
const SIGN_UPS_PER_NETWORK: Window = Window::throttle(100, Duration::from_secs(15 * 60));

/// The reason why an account was not created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The setting SIGN_UP is off.
    #[error("sign-up is turned off; ask an administrator for an account")]
    Off,
    /// The e-mail address belongs to an account, or the database failed.
    #[error(transparent)]
    Users(#[from] users::Error),
    /// The password could not be hashed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// Too many accounts were created from the client's network.
    #[error("too many accounts were created from this network; try again in {}", in_words(*.retry_after))]
    TooMany {
        /// The time until another sign-up is allowed.
        retry_after: Duration,
    },
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        Self::Users(error.into())
    }
}

/// Creates an account with the role `user` and mails a link that confirms its e-mail address. Fails if the
/// address belongs to another account, with [`Error::TooMany`] if the client's network reached its limit, and
/// with [`Error::Off`] if only administrators create accounts.
pub async fn sign_up(
    identity: &Identity,
    email: Email,
    password: Password,
    context: &RequestContext,
) -> Result<User, Error> {
    let (tx, user) = begin(identity, email, password, context).await?;
    tx.commit().await?;
    Ok(user)
}

/// Creates an account like [`sign_up`] and signs in. `former` is the `sid` of the browser's previous session,
/// which ends.
pub async fn sign_up_and_in(
    identity: &Identity,
    email: Email,
    password: Password,
    former: Option<&Secret>,
    context: &RequestContext,
) -> Result<NewSession, Error> {
    let (tx, user) = begin(identity, email, password, context).await?;
    let methods = AuthenticationMethods::Password;
    Ok(begin_session(identity, tx, user, methods, former, context).await?)
}

/// Begins a transaction, which the caller must commit, and creates an account and queues the mail in it.
async fn begin(
    identity: &Identity,
    email: Email,
    password: Password,
    context: &RequestContext,
) -> Result<(Tx, User), Error> {
    if !identity.allows_sign_ups {
        return Err(Error::Off);
    }
    if let Some(retry_after) = count(identity, context).await {
        return Err(Error::TooMany { retry_after });
    }
    let new = NewUser {
        email,
        role: Role::User,
        password: HashedPassword {
            hash: Secret::new(identity.passwords.hash_of_sign_up(password).await?),
            change_required: false,
        },
    };
    let mut tx = identity.db.begin().await?;
    let user = accounts::create(&mut tx, &new, context).await?;
    email_verifications::mail_new_account(identity, &mut tx, &user, &new.email, context).await?;
    Ok((tx, user))
}

/// Counts a sign-up if sign-ups are limited. Returns the time until the next one if the client's network
/// reached its limit, otherwise `None`. The number is not limited while the store is unavailable, because the
/// permits of hashing limit sign-ups too.
async fn count(identity: &Identity, context: &RequestContext) -> Option<Duration> {
    if !identity.limits_sign_ups {
        return None;
    }
    let by_network = SIGN_UPS_PER_NETWORK.count(format!("sign-ups from {}", context.network()));
    let refusal = identity.expiring.take(&[by_network], context.now).await;
    refusal.unwrap_or_default()
}
