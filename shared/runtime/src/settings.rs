//! The settings: each is a flag, a `LATCHKEY_…` environment variable and a key of the settings file, of the same
//! name.
//!
//! Each crate defines its own settings; this module combines those that every program has. A program with an
//! invalid setting prints one line and exits with code 64.

mod command_line;
mod network;
mod values;

pub use command_line::{
    EX_USAGE, RELOADED_SETTINGS, SETTINGS_OF_ONE_SERVICE, SettingsSource, parse, report_error,
};
pub use network::NetworkSettings;

use crate::metrics::MetricsSettings;
use crate::span_export::TraceSettings;
use crate::telemetry::LogSettings;
use clap::Args;
use dpop::DpopSettings;
use foundation::settings::InvalidSetting;
use foundation::time_limits;
use identity::settings::{
    AccountKeySettings, MailedLinkSettings, PasswordSettings, SessionSettings, SignInSettings, SignUpSettings,
};
use std::path::PathBuf;
use storage::db::Db;
use storage::settings::{DatabaseSettings, OpenError, RateLimitSettings, RedisSettings};

/// The heading of the common settings in `--help`.
const HEADING: &str = "Settings of every program";

/// The settings of every program.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = HEADING)]
pub struct CommonSettings {
    /// A TOML file whose keys are the names of the flags. Flags and variables take precedence over it.
    #[arg(long, env = "LATCHKEY_CONFIG", global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Settings of the listener, the public URLs and the trusted proxies and origins.
    #[command(flatten)]
    pub network: NetworkSettings,

    /// The directory of the SQLite database, if DATABASE_URL is not set, and of the keys that `latchkey`
    /// generates at its first start.
    #[arg(
        long,
        env = "LATCHKEY_DATA_DIR",
        global = true,
        default_value = "./data",
        value_name = "DIR"
    )]
    pub data_dir: PathBuf,

    /// Settings of the database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// Settings of Redis.
    #[command(flatten)]
    pub redis: RedisSettings,

    /// Settings of the account key.
    #[command(flatten)]
    pub account_key: AccountKeySettings,

    /// The setting of DPoP proofs.
    #[command(flatten)]
    pub dpop: DpopSettings,

    /// Settings of the metrics.
    #[command(flatten)]
    pub metrics: MetricsSettings,

    /// Settings of the traces.
    #[command(flatten)]
    pub traces: TraceSettings,

    /// Settings of the rate limits.
    #[command(flatten)]
    pub rate_limits: RateLimitSettings,

    /// Settings of sign-in: the limits on failed sign-ins, and the captcha.
    #[command(flatten)]
    pub sign_in: SignInSettings,

    /// The setting of sign-up.
    #[command(flatten)]
    pub sign_up: SignUpSettings,

    /// Settings of the log.
    #[command(flatten)]
    pub log: LogSettings,

    /// Settings of sessions.
    #[command(flatten)]
    pub sessions: SessionSettings,

    /// Settings of the links in mails.
    #[command(flatten)]
    pub mailed_links: MailedLinkSettings,

    /// Settings of passwords.
    #[command(flatten)]
    pub passwords: PasswordSettings,

    /// The factor that multiplies the time limits of a request and of its steps: the arrival of the body, a
    /// database statement, a Redis command, and the waits for a connection and for the turn to hash a
    /// password. For a machine so slow that it answers 408 or 503 while nothing is wrong.
    #[arg(long, env = "LATCHKEY_TIME_LIMIT_FACTOR", global = true, default_value_t = 1, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub time_limit_factor: u32,
}

impl CommonSettings {
    /// Fails if a value is invalid or a combination is insecure in production. The listen addresses and
    /// the eviction policy of Redis are checked later, in
    /// [`Runtime::prepare`](crate::startup::Runtime::prepare).
    pub fn check(&self) -> Result<(), InvalidSetting> {
        self.network.check()?;
        self.log.filter().map_err(InvalidSetting)?;
        self.traces.headers()?;
        self.sessions.check()?;
        self.account_key.read()?;
        self.sign_in.captcha()?;
        self.redis.url()?;
        self.database.url(&self.data_dir).map(|_| ())
    }

    /// Fails if this is production and REDIS_URL is not set. Called by programs that can have replicas,
    /// because each replica would count failed sign-ins alone; `program` is named in the error.
    pub fn require_redis_in_production(&self, program: &str) -> Result<(), InvalidSetting> {
        let has_redis = self.redis.redis_url.is_some() || self.redis.redis_url_file.is_some();
        match has_redis || !self.network.is_production() {
            true => Ok(()),
            false => Err(InvalidSetting(format!(
                "REDIS_URL is not set: {program} can have replicas, and without Redis each would count failed \
                 sign-ins alone"
            ))),
        }
    }

    /// Opens the database, after the time limits of this process were set. On PostgreSQL, at most
    /// `connections` connections are opened, and `threads` threads use them.
    pub async fn open_database(&self, connections: u32, threads: usize) -> Result<Db, OpenError> {
        time_limits::set_factor(self.time_limit_factor);
        self.database.open(&self.data_dir, connections, threads).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_help_an_environment_variable_and_the_common_heading() {
        let command = CommonSettings::augment_args(clap::Command::new("program"));
        assert!(command.get_arguments().count() > 0);
        for arg in command.get_arguments() {
            let id = arg.get_id();
            let long = arg.get_long().unwrap_or_else(|| panic!("{id} has no long flag"));
            let variable = format!("LATCHKEY_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(
                arg.get_env().and_then(|name| name.to_str()),
                Some(variable.as_str())
            );
            assert!(arg.get_help().is_some(), "{id} has no help");
            assert_eq!(arg.get_help_heading(), Some(HEADING), "{id}");
            assert!(!arg.is_hide_set(), "{id} is hidden");
        }
    }

    #[test]
    fn the_help_shows_every_setting_below_the_common_heading() {
        let mut command = CommonSettings::augment_args(clap::Command::new("program"));
        let flags: Vec<String> = command
            .get_arguments()
            .filter_map(|arg| arg.get_long().map(|long| format!("--{long} <")))
            .collect();
        let help = command.render_long_help().to_string();
        let (_, below) = help.split_once(&format!("{HEADING}:")).unwrap();
        for flag in flags {
            assert!(below.contains(&flag), "{flag} is not below {HEADING:?}:\n{help}");
        }
    }
}
