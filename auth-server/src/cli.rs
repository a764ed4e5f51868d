//! Administration from the shell, on `latchkey` and `auth-server` alike.

mod clients;
mod events;
mod keys;
mod users;

use crate::clients::Error as ClientError;
use crate::config::Settings;
use crate::keys::Error as KeyError;
use clap::Subcommand;
use serde::Serialize;
use shared::config::{Common, Invalid};
use shared::db::Tx;
use shared::db::{self, Db};
use shared::feed::Feed;
use shared::identity::accounts;
use shared::identity::passwords::{self, Passwords};
use shared::identity::users as people;
use shared::mail::Mails;
use shared::revocation::Mirror;
use shared::seal::SealingKey;
use shared::start;
use std::io::{self, Write as _};

/// What can be done besides serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make, list, change, disable and enable users.
    #[command(subcommand)]
    Users(users::Command),
    /// Register and show client applications.
    #[command(subcommand)]
    Clients(clients::Command),
    /// Show, rotate and retire the signing keys.
    #[command(subcommand)]
    Keys(keys::Command),
    /// Show the security events.
    #[command(subcommand)]
    Events(events::Command),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// An argument that cannot work.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The client was not registered.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The user was not made.
    #[error(transparent)]
    User(#[from] people::Error),
    /// The account was not changed.
    #[error(transparent)]
    Account(#[from] accounts::Error),
    /// No hash was computed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// The keys were not changed.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// Standard input or output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Error> for start::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(invalid) => Self::Invalid(invalid),
            Error::Key(error) => error.into(),
            Error::Client(ClientError::Invalid(what)) => Self::Invalid(Invalid(what)),
            other => Self::Other(other.to_string()),
        }
    }
}

/// The sealing keys, each asked for only by what seals under it or signs.
#[derive(Debug)]
pub struct Keys {
    /// Of the issuer.
    pub master: Result<SealingKey, Invalid>,
    /// Of what accounts keep.
    pub account: Result<SealingKey, Invalid>,
}

/// What commands work on.
#[derive(Debug)]
struct Shell {
    db: Db,
    passwords: Passwords,
    settings: Settings,
    keys: Keys,
    feed: Feed,
    revocations: Mirror,
    issuer: String,
}

impl Shell {
    /// Writes mails; fails where the key that seals them is not given.
    fn mails(&self) -> Result<Mails, Invalid> {
        let key = self.keys.account.clone()?;
        Ok(Mails::new(key, &self.issuer))
    }

    /// Makes what was written durable, and what it revoked known.
    async fn commit(&self, tx: Tx) -> Result<(), db::Error> {
        tx.commit().await?;
        self.revocations.announce().await;
        Ok(())
    }
}

/// Runs a command on the database that the settings name. A command that needs no key does without.
pub async fn run(
    command: Command,
    common: &Common,
    settings: &Settings,
    keys: Keys,
) -> Result<(), start::Error> {
    common.check()?;
    let db = common.open_database(2).await?;
    db.migrate().await?;
    let feed = Feed::new(common.redis()?);
    let shell = Shell {
        revocations: Mirror::new(db.clone(), feed.clone()),
        db: db.clone(),
        passwords: Passwords::new(common.password_policy())?,
        settings: settings.clone(),
        keys,
        feed,
        issuer: common.urls(common.listen)?.issuer,
    };
    let done = match command {
        Command::Users(command) => Box::pin(users::run(command, &shell)).await,
        Command::Clients(command) => Box::pin(clients::run(command, &shell)).await,
        Command::Events(command) => events::run(command, &shell).await,
        Command::Keys(command) => Box::pin(keys::run(command, shell)).await,
    };
    db.close().await;
    Ok(done?)
}

/// Prints one JSON value, or the lines for people.
fn print<T: Serialize>(json: bool, value: &T, lines: &[String]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    if json {
        let text = serde_json::to_string(value).map_err(io::Error::from)?;
        return Ok(writeln!(out, "{text}")?);
    }
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
