//! The commands `users create`, `list`, `disable`, `enable`, `set-role`, `set-password`, `unlock` and `reset-mfa`.

use super::{Error, Services, print};
use audit::events::{Event, EventName};
use clap::{Args, Subcommand};
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;
use foundation::settings::InvalidSetting;
use identity::passwords;
use identity::users;
use identity::users::{NewUser, Role, User};
use identity::{accounts, mfa};
use serde::Serialize;
use std::io;

/// The commands for users.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a user. Without a password on standard input, an initial password is generated and printed.
    Create {
        /// The e-mail address to sign in with.
        #[arg(long, value_parser = parse_email)]
        email: Email,
        /// The user's role.
        #[arg(long, default_value = "user")]
        role: Role,
        /// Read the password from standard input.
        #[arg(long, conflicts_with = "password_hash_stdin")]
        password_stdin: bool,
        /// Read a bcrypt hash of the password ($2a$, $2b$, $2y$) from standard input, for a user of another service;
        /// an Argon2 hash replaces it at the next sign-in.
        #[arg(long)]
        password_hash_stdin: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the users.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Disable a user: all their sessions and tokens end, and they cannot sign in.
    Disable(UserArgs),
    /// Enable a disabled user: they can sign in again.
    Enable(UserArgs),
    /// Change a user's role. They are signed out everywhere.
    SetRole {
        #[command(flatten)]
        args: UserArgs,
        /// The new role.
        #[arg(long)]
        role: Role,
    },
    /// Set a user's password: all their sessions and tokens end, and they are notified by mail. Without
    /// --password-stdin, an initial password is generated and printed.
    SetPassword {
        #[command(flatten)]
        args: UserArgs,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Delete a user's failed sign-in attempts, from all addresses.
    Unlock(UserArgs),
    /// Disable a user's two-step sign-in: all their sessions and tokens end, and they are notified by mail.
    ResetMfa(UserArgs),
}

/// The arguments of a command for one user.
#[derive(Args, Debug)]
pub struct UserArgs {
    /// The e-mail address.
    #[arg(long, value_parser = parse_email)]
    email: Email,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CreatedUser<'a> {
    #[serde(flatten)]
    user: &'a User,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_time_password: Option<&'a str>,
}

/// A password to set.
struct NewPassword {
    hash: String,
    /// The generated password, if none was given.
    generated: Option<Secret>,
}

impl NewPassword {
    /// Reads or generates a password, and hashes it. Fails if the password or the hash is not acceptable.
    async fn read(services: &Services, source: PasswordSource, email: &Email) -> Result<Self, Error> {
        let generated = (source == PasswordSource::Generated).then(|| services.passwords.generate());
        let hash = match (source, &generated) {
            (PasswordSource::HashFromStdin, _) => {
                passwords::parse_imported_hash(&read_line()?).map_err(InvalidSetting)?
            }
            (_, Some(generated)) => hash(services, generated.expose(), email).await?,
            (_, None) => hash(services, &read_line()?, email).await?,
        };
        Ok(Self { hash, generated })
    }

    /// Prints the user, and the password if it was generated.
    fn print(&self, user: &User, json: bool) -> Result<(), Error> {
        let one_time_password = self.generated.as_ref().map(Secret::expose);
        let password_line =
            one_time_password.map(|text| format!("initial password, to change at sign-in: {text}"));
        let lines: Vec<String> = [line(user)].into_iter().chain(password_line).collect();
        print(
            json,
            &CreatedUser {
                user,
                one_time_password,
            },
            &lines,
        )
    }
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    match command {
        Command::Create {
            email,
            role,
            password_stdin,
            password_hash_stdin,
            json,
        } => {
            let source = match (password_stdin, password_hash_stdin) {
                (true, _) => PasswordSource::Stdin,
                (_, true) => PasswordSource::HashFromStdin,
                _ => PasswordSource::Generated,
            };
            create(services, email, role, source, json).await
        }
        Command::List { json } => {
            let users = users::list(&services.db).await?;
            let lines: Vec<String> = users.iter().map(line).collect();
            print(json, &users, &lines)
        }
        Command::Disable(args) => {
            let (user, context) = (find(services, &args).await?, RequestContext::without_request());
            accounts::disable(&services.db, &services.revocations, user.id, &context).await?;
            print(args.json, &user, &[format!("{}  disabled", line(&user))])
        }
        Command::Enable(args) => {
            let user = find(services, &args).await?;
            accounts::enable(&services.db, user.id, &RequestContext::without_request()).await?;
            print(args.json, &user, &[format!("{}  enabled", line(&user))])
        }
        Command::SetRole { args, role } => {
            let (user, mut tx) = (find(services, &args).await?, services.db.begin().await?);
            let (user, announcement) =
                accounts::set_role(&mut tx, &user, role, &RequestContext::without_request()).await?;
            services.commit(tx, announcement).await?;
            print(args.json, &user, &[line(&user)])
        }
        Command::SetPassword { args, password_stdin } => set_password(services, &args, password_stdin).await,
        Command::Unlock(args) => {
            let (user, mut tx) = (find(services, &args).await?, services.db.begin().await?);
            accounts::unlock(&mut tx, user.id, &RequestContext::without_request()).await?;
            tx.commit().await?;
            print(args.json, &user, &[format!("{}  unlocked", line(&user))])
        }
        Command::ResetMfa(args) => {
            let (mails, user) = (services.mails()?, find(services, &args).await?);
            let mut tx = services.db.begin().await?;
            let announcement = mfa::reset(&mut tx, &mails, &user, &RequestContext::without_request()).await?;
            let announcement = announcement
                .ok_or_else(|| Error::NotFound(format!("{} has no two-step sign-in", user.email)))?;
            services.commit(tx, announcement).await?;
            print(
                args.json,
                &user,
                &[format!("{}  two-step sign-in off", line(&user))],
            )
        }
    }
}

async fn find(services: &Services, args: &UserArgs) -> Result<User, Error> {
    let found = users::find_by_email(&services.db, &args.email).await?;
    found.ok_or_else(|| Error::NotFound(format!("no user has the address {}", args.email.as_str())))
}

/// The source of a new password.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PasswordSource {
    /// The password, on standard input.
    Stdin,
    /// A bcrypt hash of the password, on standard input.
    HashFromStdin,
    /// A generated initial password.
    Generated,
}

async fn create(
    services: &Services,
    email: Email,
    role: Role,
    source: PasswordSource,
    json: bool,
) -> Result<(), Error> {
    let password = NewPassword::read(services, source, &email).await?;
    let new = NewUser {
        email,
        role,
        password_hash: password.hash.clone(),
        password_change_required: password.generated.is_some(),
    };
    let context = RequestContext::without_request();
    let mut tx = services.db.begin().await?;
    let user = users::create(&mut tx, &new, context.now).await?;
    Event::success(EventName::UserCreated)
        .user(user.id)
        .record(&mut tx, &context)
        .await?;
    tx.commit().await?;
    password.print(&user, json)
}

async fn set_password(services: &Services, args: &UserArgs, from_stdin: bool) -> Result<(), Error> {
    let (mails, user) = (services.mails()?, find(services, args).await?);
    let source = match from_stdin {
        true => PasswordSource::Stdin,
        false => PasswordSource::Generated,
    };
    let password = NewPassword::read(services, source, &args.email).await?;
    let mut tx = services.db.begin().await?;
    let (hash, context) = (password.hash.as_str(), RequestContext::without_request());
    let change_required = password.generated.is_some();
    let announcement =
        accounts::set_password(&mut tx, &mails, &user, hash, change_required, &context).await?;
    services.commit(tx, announcement).await?;
    password.print(&user, args.json)
}

async fn hash(services: &Services, text: &str, email: &Email) -> Result<String, Error> {
    let password = services.passwords.parse_new_for(text, email.as_str());
    let password = password.map_err(|flaw| InvalidSetting(format!("the password {flaw}")))?;
    Ok(services.passwords.hash(password).await?)
}

/// Returns the text on standard input, without the line end.
fn read_line() -> Result<String, Error> {
    let text = io::read_to_string(io::stdin())?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn line(user: &User) -> String {
    format!("{}  {}  {}", user.id, user.email, user.role.as_str())
}

fn parse_email(text: &str) -> Result<Email, String> {
    Email::parse(text).map_err(|flaw| format!("the address {flaw}"))
}
