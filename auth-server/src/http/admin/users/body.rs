//! The bodies of requests about users.

use foundation::email::Email;
use foundation::secret::Secret;
use identity::passwords::{
    self, HashedPassword, NewPassword, Password, Passwords, new_password_schema, parse_imported_hash,
};
use identity::users::{NewUser, Role};
use utoipa::ToSchema;
use web::{Error, JsonBody};

/// A user to create.
#[derive(ToSchema)]
#[schema(example = json!({"email": "ann@example.org", "role": "editor"}))]
pub(super) struct UserCreation {
    email: Email,
    /// By default `user`.
    #[schema(required = false)]
    role: Role,
    /// The password. If unset, an initial one is generated.
    #[schema(schema_with = new_password_schema, required = false)]
    password: Option<Password>,
    /// In place of `password`, its bcrypt hash (`$2a$`, `$2b$` or `$2y$`), for a user of another service.
    #[schema(value_type = Option<String>, nullable = false)]
    password_hash: Option<Secret>,
}

/// The changes of a user. An absent field changes nothing.
#[derive(ToSchema)]
#[schema(as = UserChanges, example = json!({"role": "editor"}))]
pub(super) struct UserChanges {
    /// The role.
    #[schema(nullable = false)]
    pub(super) role: Option<Role>,
}

/// A password to set.
#[derive(ToSchema)]
pub(super) struct PasswordSetting {
    /// The password. If unset, an initial one is generated.
    #[schema(schema_with = new_password_schema, required = false)]
    password: Option<Password>,
}

impl UserCreation {
    /// Hashes the password. Returns the user to create, and the password if it was generated.
    pub(super) async fn into_user(
        self,
        passwords: &Passwords,
    ) -> Result<(NewUser, Option<Secret>), passwords::Error> {
        let password = match (self.password, self.password_hash) {
            (Some(password), _) => NewPassword::Chosen(password),
            (None, Some(hash)) => NewPassword::Imported(hash),
            (None, None) => NewPassword::Generated,
        };
        let (password, generated) = password.hash(passwords).await?;
        let new = NewUser {
            email: self.email,
            role: self.role,
            password,
        };
        Ok((new, generated))
    }
}

impl PasswordSetting {
    /// Hashes the password. Returns its hash, and the password if it was generated.
    pub(super) async fn hash(
        self,
        passwords: &Passwords,
    ) -> Result<(HashedPassword, Option<Secret>), passwords::Error> {
        let password = self.password.map_or(NewPassword::Generated, NewPassword::Chosen);
        password.hash(passwords).await
    }
}

pub(super) fn read_creation(body: &JsonBody, passwords: &Passwords) -> Result<UserCreation, Error> {
    let mut fields = body.fields()?;
    let has_password = fields.has("password");
    let email = fields.required("email", Email::parse);
    let role = fields.optional("role", role).unwrap_or(Role::User);
    let address = email.as_ref().map_or("", Email::as_str);
    let password = fields.optional("password", |text| passwords.parse_new_for(text, address));
    let password_hash = fields.optional("password_hash", |hash| match has_password {
        true => Err("cannot be sent along with password".to_owned()),
        false => parse_imported_hash(hash),
    });
    fields.finish(email.map(|email| UserCreation {
        email,
        role,
        password,
        password_hash,
    }))
}

pub(super) fn read_changes(body: &JsonBody) -> Result<UserChanges, Error> {
    let mut fields = body.fields()?;
    let role = fields.optional("role", role);
    fields.finish(Some(UserChanges { role }))
}

/// Reads the new password of the account with this address.
pub(super) fn read_password(
    body: &JsonBody,
    passwords: &Passwords,
    address: &str,
) -> Result<PasswordSetting, Error> {
    let mut fields = body.fields()?;
    let password = fields.optional("password", |text| passwords.parse_new_for(text, address));
    fields.finish(Some(PasswordSetting { password }))
}

fn role(text: &str) -> Result<Role, &'static str> {
    Role::named(text).ok_or("must be user, editor or admin")
}
