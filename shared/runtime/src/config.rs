//! Configuration: each setting is a flag and a `LATCHKEY_…` environment variable of the same name.
//!
//! The argument groups stand beside the code that they configure; this module composes them. A value that cannot work
//! is refused at start-up in one line, with exit code 64.

mod command_line;
mod network;
mod values;

pub use command_line::{EX_USAGE, parse, report_error};
pub use network::NetworkArgs;

use crate::metrics::MetricsArgs;
use crate::telemetry::LogArgs;
use clap::Args;
use foundation::private_files;
use foundation::settings::InvalidSetting;
use identity::settings::{AccountKeyArgs, MailedLinkArgs, PasswordArgs, SessionArgs, SignInArgs};
use std::path::PathBuf;
use storage::db::Db;
use storage::settings::{DatabaseArgs, RateLimitArgs, RedisArgs};

/// The settings that every program has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Settings of every program")]
pub struct CommonArgs {
    /// The listener, the public URLs and the trusted parties.
    #[command(flatten)]
    pub network: NetworkArgs,

    /// The folder of files: the embedded database, and the keys that the first start generates.
    #[arg(
        long,
        env = "LATCHKEY_DATA_DIR",
        global = true,
        default_value = "./data",
        value_name = "DIR"
    )]
    pub data_dir: PathBuf,

    /// The database.
    #[command(flatten)]
    pub database: DatabaseArgs,

    /// Redis.
    #[command(flatten)]
    pub redis: RedisArgs,

    /// The account key.
    #[command(flatten)]
    pub account_key: AccountKeyArgs,

    /// Metrics.
    #[command(flatten)]
    pub metrics: MetricsArgs,

    /// The rate limits.
    #[command(flatten)]
    pub rate_limits: RateLimitArgs,

    /// The limits of failed sign-ins, and the captcha.
    #[command(flatten)]
    pub sign_in: SignInArgs,

    /// Logs.
    #[command(flatten)]
    pub log: LogArgs,

    /// Sessions.
    #[command(flatten)]
    pub sessions: SessionArgs,

    /// The links in mails.
    #[command(flatten)]
    pub mailed_links: MailedLinkArgs,

    /// Passwords.
    #[command(flatten)]
    pub passwords: PasswordArgs,
}

impl CommonArgs {
    /// Refuses values that cannot work, and combinations that are insecure in production.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        self.network.check()?;
        self.sessions.check()?;
        self.account_key.read()?;
        self.sign_in.captcha()?;
        self.database.url(&self.data_dir).map(|_| ())
    }

    /// Refuses, in production, a `program` that can have replicas and has no Redis to share state with them.
    pub fn check_shared(&self, program: &str) -> Result<(), InvalidSetting> {
        self.redis.check_shared(program, self.network.is_production())
    }

    /// Creates the folder that DATA_DIR names, for this user alone.
    pub fn create_data_dir(&self) -> Result<(), InvalidSetting> {
        private_files::create_dir(&self.data_dir)
            .map_err(|error| InvalidSetting(format!("DATA_DIR {}: {error}", self.data_dir.display())))
    }

    /// Opens the database with at most `connections` connections.
    pub async fn open_database(&self, connections: u32) -> Result<Db, InvalidSetting> {
        self.database.open(&self.data_dir, connections).await
    }
}
