//! Sign-up.

use foundation::context::RequestContext;
use foundation::email::Email;
use identity::Identity;
use identity::accounts;
use identity::email_verifications;
use identity::passwords;
use identity::passwords::{NewPassword, Password};
use identity::users;
use identity::users::{NewUser, Role, User};
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
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        Self::Users(error.into())
    }
}

/// Creates an account with the role `user` and mails a link that confirms its e-mail address. If the limit on mails
/// is reached, creates the account without the mail. Fails if the address belongs to another account.
pub async fn sign_up(
    identity: &Identity,
    email: Email,
    password: Password,
    context: &RequestContext,
) -> Result<User, Error> {
    let (password, _) = NewPassword::Chosen(password).hash(&identity.passwords).await?;
    let new = NewUser {
        email,
        role: Role::User,
        password,
    };
    let may_mail = email_verifications::may_mail_new_account(identity, context).await;
    let mut tx = identity.db.begin().await?;
    let user = accounts::create(&mut tx, &new, context).await?;
    if may_mail {
        email_verifications::mail_new_account(identity, &mut tx, &user, &new.email, context).await?;
    }
    tx.commit().await?;
    Ok(user)
}
