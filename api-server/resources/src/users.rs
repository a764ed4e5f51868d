//! Sign-up.

use foundation::context::RequestContext;
use foundation::duration::in_words;
use foundation::email::Email;
use foundation::secret::Secret;
use identity::Identity;
use identity::accounts;
use identity::email_verifications;
use identity::passwords;
use identity::passwords::{HashedPassword, Password};
use identity::users;
use identity::users::{NewUser, Role, User};
use std::time::Duration;
use storage::db;

/// The reason why an account was not created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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

/// Creates an account with the role `user` and mails a link that confirms its e-mail address. Fails if the address
/// belongs to another account, and with [`Error::TooMany`] if the client's network reached its limit.
pub async fn sign_up(
    identity: &Identity,
    email: Email,
    password: Password,
    context: &RequestContext,
) -> Result<User, Error> {
    if let Some(retry_after) = accounts::count_sign_up(identity, context).await {
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
    tx.commit().await?;
    Ok(user)
}
