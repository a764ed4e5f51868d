//! The administration commands of `latchkey` and `auth-server`.

mod clients;
mod consents;
mod events;
mod figures;
mod keys;
mod migrate;
mod sessions;
mod tokens;
mod users;

use crate::settings::IssuerSettings;
use clap::Subcommand;
use foundation::clock::Clock;
use foundation::context::RequestContext;
use foundation::list_query::{self, Order};
use foundation::sealing::SealingKey;
use foundation::settings::InvalidSetting;
use futures_util::future::LocalBoxFuture;
use identity::passwords::{self, Passwords};
use identity::{SessionLifetimes, accounts, administrators};
use issuer::clients::Error as ClientError;
use issuer::grants::PreviewRefusal;
use issuer::keys::{Error as KeyError, MasterKeys};
use mail::Mails;
use revocation::RevocationMirror;
use runtime::output::{self, Cell, Column, Table};
use runtime::settings::CommonSettings;
use runtime::startup;
use serde::Serialize;
use std::fmt::Display;
use std::io;
use storage::clock_check::ClockCheck;
use storage::db::{self, Db};
use storage::expiring::ExpiringStore;
use storage::notifications::Notifications;
use storage::paging::{HasCursor, Page};

/// The administration commands. A program without a command serves.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create, list, change, sign out, disable and enable users.
    #[command(subcommand)]
    Users(users::Command),
    /// Register, list, change, disable and enable client applications, and rotate their secrets.
    #[command(subcommand)]
    Clients(clients::Command),
    /// List and end the sessions of users.
    #[command(subcommand)]
    Sessions(sessions::Command),
    /// List and revoke the consents of users to apps.
    #[command(subcommand)]
    Consents(consents::Command),
    /// Show the claims of the tokens that an app would get for a user.
    #[command(subcommand)]
    Tokens(tokens::Command),
    /// List, rotate and retire the signing keys, test their rotation, and change the master key.
    #[command(subcommand)]
    Keys(keys::Command),
    /// List and follow the security events, and group the refusals among them.
    #[command(subcommand)]
    Events(events::Command),
    /// Show what the processes counted: sign-ins, grants, requests, revocations.
    #[command(subcommand)]
    Figures(figures::Command),
    /// Apply the missing migrations of the schema, as every start of the server and every other command does.
    Migrate(migrate::Arguments),
}

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// An argument or a setting is invalid.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The client was not registered or changed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The account was not created or changed.
    #[error(transparent)]
    Account(#[from] accounts::Error),
    /// The password was not hashed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// The keys were not changed.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A verifier lacks the staged key, and nobody could be asked.
    #[error("{0}; add --yes to rotate the keys nevertheless")]
    Unconfirmed(KeyError),
    /// The administrator did not confirm the rotation.
    #[error("the keys are unchanged")]
    Declined,
    /// The drill of the signing keys failed.
    #[error(transparent)]
    Drill(#[from] drill::Error),
    /// The initial access token was not created or revoked.
    #[error(transparent)]
    RegistrationToken(#[from] administrators::Error),
    /// The app would get no tokens.
    #[error("the app would get no tokens: {0}")]
    NoTokens(PreviewRefusal),
    /// A service that the command needs did not start.
    #[error(transparent)]
    Startup(#[from] startup::Error),
    /// The named object does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// Standard input or output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Error> for startup::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidSetting(invalid) => Self::InvalidSetting(invalid),
            Error::Key(error) => crate::startup_error(error),
            Error::Startup(error) => error,
            Error::Client(ClientError::Invalid(flaw)) => Self::InvalidSetting(InvalidSetting(flaw.reason)),
            other => Self::Other(other.to_string()),
        }
    }
}

/// The sealing keys, or the reasons why they cannot be read. A command fails with such an error only if it
/// needs the key.
#[derive(Debug)]
pub struct SealingKeys {
    /// The keys that seal the signing keys and the installation secret.
    pub master: Result<MasterKeys, InvalidSetting>,
    /// The key that seals account secrets and mails.
    pub account: Result<SealingKey, InvalidSetting>,
}

/// The services that commands use.
#[derive(Debug)]
struct Services {
    db: Db,
    passwords: Passwords,
    settings: IssuerSettings,
    session_lifetimes: SessionLifetimes,
    keys: SealingKeys,
    notifications: Notifications,
    revocations: RevocationMirror,
    issuer: String,
    audience: String,
    /// The clock by which the command is judged.
    clock: Clock,
}

impl Command {
    /// Returns whether the command runs although the clock of this machine differs from that of the database:
    /// it reads, it ends what may be lost or stolen, or it changes only the schema.
    const fn runs_with_wrong_clock(&self) -> bool {
        use clients::registration_tokens::Command as Tokens;
        use {clients::Command as Clients, keys::Command as Keys, users::Command as Users};
        matches!(
            self,
            Self::Users(Users::List { .. } | Users::Disable(_) | Users::SignOut(_))
                | Self::Clients(
                    Clients::List { .. }
                        | Clients::Show(_)
                        | Clients::Disable(_)
                        | Clients::RegistrationTokens(Tokens::List { .. } | Tokens::Revoke { .. })
                )
                | Self::Keys(
                    Keys::List { .. }
                        | Keys::Verifiers { .. }
                        | Keys::Retire {
                            compromised: true,
                            ..
                        }
                )
                | Self::Sessions(_)
                | Self::Consents(_)
                | Self::Events(_)
                | Self::Figures(_)
                | Self::Migrate(_)
        )
    }
}

impl Services {
    /// Returns the context of the command.
    fn context(&self) -> RequestContext {
        RequestContext::of_command(self.clock)
    }

    /// Returns the outbox of mails. Fails if the account key, which seals them, is missing.
    ///
    /// Its mails are outside the limit of a mailbox. The limit protects people from mails that strangers
    /// cause over HTTP; a command is run by an administrator, whose change of an account its user must learn
    /// of.
    fn mails(&self) -> Result<Mails, InvalidSetting> {
        let key = self.keys.account.clone()?;
        Ok(Mails::new(key, &self.issuer, ExpiringStore::new(None)))
    }
}

/// Migrates the configured database and runs a command on it. Fails if a setting is invalid or the command
/// fails.
pub fn run<'a>(
    command: Command,
    common: &'a CommonSettings,
    settings: &'a IssuerSettings,
    keys: SealingKeys,
) -> LocalBoxFuture<'a, Result<(), startup::Error>> {
    // Boxed, so that the compiler makes its only copy in this crate.
    Box::pin(async move {
        common.check()?;
        let pending = match &command {
            Command::Migrate(_) => {
                let url = common.database.url(&common.data_dir)?;
                url.pending_migrations().await?
            }
            _ => Vec::new(),
        };
        if let Command::Migrate(arguments) = &command
            && arguments.plan
        {
            return Ok(migrate::print_migrations(arguments, &pending)?);
        }
        let db = common.open_database(2, 1).await?;
        db.migrate().await?;
        let check = ClockCheck::new(db.clone());
        let clock = match check.measure().await {
            Err(differs) if !command.runs_with_wrong_clock() => Err(differs),
            _ => check.clock(),
        };
        let clock = clock.map_err(|differs| startup::Error::Other(differs.to_string()))?;
        let notifications = Notifications::new(common.redis.client()?);
        let urls = common.network.urls(common.network.listen)?;
        let services = Services {
            revocations: RevocationMirror::new(&db, notifications.clone(), |_| ()),
            db: db.clone(),
            passwords: Passwords::new(common.passwords.policy())?,
            settings: settings.clone(),
            session_lifetimes: common.sessions.lifetimes(),
            keys,
            notifications,
            issuer: urls.issuer,
            audience: urls.audience,
            clock,
        };
        let result = match command {
            Command::Users(command) => users::run(command, &services).await,
            Command::Clients(command) => clients::run(command, &services).await,
            Command::Sessions(command) => sessions::run(command, &services).await,
            Command::Consents(command) => consents::run(command, &services).await,
            Command::Tokens(command) => tokens::run(command, &services).await,
            Command::Events(command) => events::run(command, &services).await,
            Command::Figures(command) => figures::run(command, &services).await,
            Command::Keys(command) => keys::run(command, services).await,
            Command::Migrate(arguments) => migrate::print_migrations(&arguments, &pending),
        };
        db.close().await;
        Ok(result?)
    })
}

/// Prints `value` as one line of JSON if `json` is set, and `lines` otherwise.
fn print(json: bool, value: &impl Serialize, lines: &[String]) -> Result<(), Error> {
    print_table(json, value, &Table::of_lines(lines.to_vec()))
}

/// Prints `value` as one line of JSON if `json` is set, and `table` otherwise.
fn print_table(json: bool, value: &impl Serialize, table: &Table) -> Result<(), Error> {
    Ok(output::print(json, value, table)?)
}

/// Prints a page of a list: a row for each item and the cursor of the next page, or JSON with these.
fn print_page<T, const N: usize>(
    json: bool,
    page: &Page<T>,
    columns: &'static [Column; N],
    row: fn(&T) -> [Cell; N],
) -> Result<(), Error>
where
    T: HasCursor<Cursor: Display> + Serialize,
{
    let next = page.next().map(|cursor| cursor.to_string());
    let further = next.iter().map(|cursor| format!("next page: --cursor={cursor}"));
    let table = Table::new(columns, page.items.iter().map(row)).with_notes(further);
    let value = serde_json::json!({ "items": page.items, "next": next });
    print_table(json, &value, &table)
}

fn parse_text(text: &str) -> Result<String, &'static str> {
    list_query::parse_text(text).ok_or("a text has more than blanks, and no control characters")
}

fn parse_order(text: &str) -> Result<Order, &'static str> {
    Order::named(text).ok_or("an order is asc or desc")
}
