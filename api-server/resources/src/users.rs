//! Sign-up.

use shared::db;
use shared::events::{Context, Event, Name};
use shared::identity::Identity;
use shared::identity::email::Email;
use shared::identity::passwords::{self, Password};
use shared::identity::users::{self, NewUser, Role, User};
use shared::identity::verifications;

/// Why an account was not created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The e-mail address belongs to an account, or the database failed.
    #[error(transparent)]
    Users(#[from] users::Error),
    /// The password could not be hashed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        Self::Users(error.into())
    }
}

/// Creates an account with the role `user` and mails a link that confirms its e-mail address.
pub async fn sign_up(
    identity: &Identity,
    email: Email,
    password: Password,
    context: &Context,
) -> Result<User, Error> {
    let new = NewUser {
        email,
        role: Role::User,
        password_hash: identity.passwords.hash(password).await?,
        password_change_required: false,
    };
    let may_mail = verifications::may_welcome(identity, context).await;
    let mut tx = identity.db.begin().await?;
    let user = users::create(&mut tx, &new, context.now).await?;
    Event::success(Name::UserCreated)
        .user(user.id)
        .record(&mut tx, context)
        .await?;
    if may_mail {
        verifications::welcome(identity, &mut tx, &user, &new.email, context).await?;
    }
    tx.commit().await?;
    Ok(user)
}
