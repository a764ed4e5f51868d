//! `users create|list|enable|disable|set-role|set-password|unlock|reset-mfa`.

use super::{Error, Shell, print};
use clap::{Args, Subcommand};
use serde::Serialize;
use shared::config::Invalid;
use shared::events::{Context, Event, Name};
use shared::identity::accounts;
use shared::identity::email::Email;
use shared::identity::passwords;
use shared::identity::users::{self, NewUser, Role, User};
use shared::secret::Secret;
use std::io;

/// What can be done with users.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a user. Without --password-stdin a one-time password is made and shown.
    Create {
        /// The e-mail address to sign in with.
        #[arg(long, value_parser = parse_email)]
        email: Email,
        /// What the user may do at most.
        #[arg(long, default_value = "user")]
        role: Role,
        /// Read the password from standard input.
        #[arg(long, conflicts_with = "password_hash_stdin")]
        password_stdin: bool,
        /// Read a bcrypt hash of the password ($2a$, $2b$, $2y$) from standard input, such as another service kept;
        /// it is replaced by one of ours when the user signs in.
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
    /// Disable a user: every session and token of theirs ends, and they cannot sign in.
    Disable(Whom),
    /// Let a disabled user sign in again.
    Enable(Whom),
    /// Give a user another role. They are signed out everywhere.
    SetRole {
        #[command(flatten)]
        whom: Whom,
        /// What the user may do at most.
        #[arg(long)]
        role: Role,
    },
    /// Set another password: every session and token of the user ends, and they are told by mail. Without
    /// --password-stdin a one-time password is made and shown.
    SetPassword {
        #[command(flatten)]
        whom: Whom,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Forget a user's failed sign-ins, from whatever addresses.
    Unlock(Whom),
    /// Turn a user's two-step sign-in off: every session and token of theirs ends, and they are told by mail.
    ResetMfa(Whom),
}

/// One user.
#[derive(Args, Debug)]
pub struct Whom {
    /// The e-mail address.
    #[arg(long, value_parser = parse_email)]
    email: Email,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Created<'a> {
    #[serde(flatten)]
    user: &'a User,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_time_password: Option<&'a str>,
}

/// A password to be set.
struct Chosen {
    hash: String,
    /// One that was made to be used once, for whoever runs the command.
    one_time: Option<Secret>,
}

impl Chosen {
    async fn read(shell: &Shell, given: Given, email: &Email) -> Result<Self, Error> {
        let one_time = (given == Given::Nothing).then(|| shell.passwords.one_time());
        let hash = match (given, &one_time) {
            (Given::Hash, _) => passwords::imported(&read_line()?).map_err(Invalid)?,
            (_, Some(made)) => hash(shell, made.expose(), email).await?,
            (_, None) => hash(shell, &read_line()?, email).await?,
        };
        Ok(Self { hash, one_time })
    }

    /// Shows the user, and the password if nobody knows it yet.
    fn print(&self, user: &User, json: bool) -> Result<(), Error> {
        let one_time_password = self.one_time.as_ref().map(Secret::expose);
        let shown =
            one_time_password.map(|text| format!("one-time password, to be changed at sign-in: {text}"));
        let lines: Vec<String> = [line(user)].into_iter().chain(shown).collect();
        print(
            json,
            &Created {
                user,
                one_time_password,
            },
            &lines,
        )
    }
}

pub(super) async fn run(command: Command, shell: &Shell) -> Result<(), Error> {
    match command {
        Command::Create {
            email,
            role,
            password_stdin,
            password_hash_stdin,
            json,
        } => {
            let given = match (password_stdin, password_hash_stdin) {
                (true, _) => Given::Password,
                (_, true) => Given::Hash,
                _ => Given::Nothing,
            };
            create(shell, email, role, given, json).await
        }
        Command::List { json } => {
            let users = users::list(&shell.db).await?;
            let lines: Vec<String> = users.iter().map(line).collect();
            print(json, &users, &lines)
        }
        Command::Disable(whom) => {
            let (user, context) = (find(shell, &whom).await?, Context::shell());
            accounts::disable(&shell.db, &shell.revocations, user.id, &context).await?;
            print(whom.json, &user, &[format!("{}  disabled", line(&user))])
        }
        Command::Enable(whom) => {
            let user = find(shell, &whom).await?;
            accounts::enable(&shell.db, user.id, &Context::shell()).await?;
            print(whom.json, &user, &[format!("{}  enabled", line(&user))])
        }
        Command::SetRole { whom, role } => {
            let (user, mut tx) = (find(shell, &whom).await?, shell.db.begin().await?);
            let user = accounts::set_role(&mut tx, &user, role, &Context::shell()).await?;
            shell.commit(tx).await?;
            print(whom.json, &user, &[line(&user)])
        }
        Command::SetPassword { whom, password_stdin } => set_password(shell, &whom, password_stdin).await,
        Command::Unlock(whom) => {
            let (user, mut tx) = (find(shell, &whom).await?, shell.db.begin().await?);
            accounts::unlock(&mut tx, user.id, &Context::shell()).await?;
            shell.commit(tx).await?;
            print(whom.json, &user, &[format!("{}  unlocked", line(&user))])
        }
        Command::ResetMfa(whom) => {
            let (mails, user) = (shell.mails()?, find(shell, &whom).await?);
            let mut tx = shell.db.begin().await?;
            if !accounts::reset_mfa(&mut tx, &mails, &user, &Context::shell()).await? {
                let nothing = format!("{} has no two-step sign-in", user.email);
                return Err(Error::NotFound(nothing));
            }
            shell.commit(tx).await?;
            print(
                whom.json,
                &user,
                &[format!("{}  two-step sign-in off", line(&user))],
            )
        }
    }
}

async fn find(shell: &Shell, whom: &Whom) -> Result<User, Error> {
    let found = users::find_by_email(&shell.db, &whom.email).await?;
    found.ok_or_else(|| Error::NotFound(format!("there is no user {}", whom.email.as_str())))
}

/// What is on standard input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    Password,
    Hash,
    Nothing,
}

async fn create(shell: &Shell, email: Email, role: Role, given: Given, json: bool) -> Result<(), Error> {
    let password = Chosen::read(shell, given, &email).await?;
    let new = NewUser {
        email,
        role,
        password_hash: password.hash.clone(),
        password_change_required: password.one_time.is_some(),
    };
    let context = Context::shell();
    let mut tx = shell.db.begin().await?;
    let user = users::create(&mut tx, &new, context.now).await?;
    Event::success(Name::UserCreated)
        .user(user.id)
        .record(&mut tx, &context)
        .await?;
    tx.commit().await?;
    password.print(&user, json)
}

async fn set_password(shell: &Shell, whom: &Whom, from_stdin: bool) -> Result<(), Error> {
    let (mails, user) = (shell.mails()?, find(shell, whom).await?);
    let given = match from_stdin {
        true => Given::Password,
        false => Given::Nothing,
    };
    let password = Chosen::read(shell, given, &whom.email).await?;
    let mut tx = shell.db.begin().await?;
    let stored = (password.hash.as_str(), password.one_time.is_some());
    accounts::set_password(&mut tx, &mails, &user, stored, &Context::shell()).await?;
    shell.commit(tx).await?;
    password.print(&user, whom.json)
}

async fn hash(shell: &Shell, text: &str, email: &Email) -> Result<String, Error> {
    let password = shell.passwords.choose_for(text, email.as_str());
    let password = password.map_err(|what| Invalid(format!("the password {what}")))?;
    Ok(shell.passwords.hash(password).await?)
}

/// Standard input without the end of its line.
fn read_line() -> Result<String, Error> {
    let text = io::read_to_string(io::stdin())?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn line(user: &User) -> String {
    format!("{}  {}  {}", user.id, user.email, user.role.as_str())
}

fn parse_email(text: &str) -> Result<Email, String> {
    Email::parse(text).map_err(|what| format!("the address {what}"))
}
