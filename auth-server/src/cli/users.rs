//! `users create|list|disable|enable`.

use super::{Error, Shell, print};
use clap::{Args, Subcommand};
use serde::Serialize;
use shared::config::Invalid;
use shared::events::{Context, Event, Name};
use shared::identity::accounts;
use shared::identity::email::Email;
use shared::identity::users::{self, NewUser, Role, User};
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
        #[arg(long)]
        password_stdin: bool,
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

pub(super) async fn run(command: Command, shell: &Shell) -> Result<(), Error> {
    match command {
        Command::Create {
            email,
            role,
            password_stdin,
            json,
        } => create(shell, email, role, password_stdin, json).await,
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
    }
}

async fn find(shell: &Shell, whom: &Whom) -> Result<User, Error> {
    let found = users::find_by_email(&shell.db, &whom.email).await?;
    found.ok_or_else(|| Error::NotFound(format!("there is no user {}", whom.email.as_str())))
}

async fn create(shell: &Shell, email: Email, role: Role, from_stdin: bool, json: bool) -> Result<(), Error> {
    let (text, one_time) = match from_stdin {
        true => (
            io::read_to_string(io::stdin())?
                .trim_end_matches(['\r', '\n'])
                .to_owned(),
            false,
        ),
        false => (shell.passwords.one_time().expose().to_owned(), true),
    };
    let password = shell
        .passwords
        .choose(&text)
        .map_err(|what| Invalid(format!("the password {what}")))?;
    let new = NewUser {
        email,
        role,
        password_hash: shell.passwords.hash(password).await?,
        password_change_required: one_time,
    };
    let context = Context::shell();
    let mut tx = shell.db.begin().await?;
    let user = users::create(&mut tx, &new, context.now).await?;
    Event::success(Name::UserCreated)
        .user(user.id)
        .record(&mut tx, &context)
        .await?;
    tx.commit().await?;
    let one_time_password = one_time.then_some(text.as_str());
    let mut lines = vec![line(&user)];
    lines
        .extend(one_time_password.map(|text| format!("one-time password, to be changed at sign-in: {text}")));
    print(
        json,
        &Created {
            user: &user,
            one_time_password,
        },
        &lines,
    )
}

fn line(user: &User) -> String {
    format!("{}  {}  {}", user.id, user.email, user.role.as_str())
}

fn parse_email(text: &str) -> Result<Email, String> {
    Email::parse(text).map_err(|what| format!("the address {what}"))
}
