//! Settings of the database, of Redis and of the rate limits.

use crate::db::{self, DatabaseUrl, Db};
use crate::rate_limits::Quotas;
use crate::redis::{Redis, RedisUrl};
use clap::{Args, ValueEnum};
use foundation::settings::{InvalidSetting, create_data_dir, read_parsed};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Settings of the database.
#[derive(Args, Clone, Debug)]
pub struct DatabaseSettings {
    /// The URL of the database, `sqlite:FILE` or `postgres://…` [default: sqlite:DATA_DIR/latchkey.db].
    #[arg(
        long,
        env = "LATCHKEY_DATABASE_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub database_url: Option<DatabaseUrl>,

    /// A file that contains the URL of the database.
    #[arg(long, env = "LATCHKEY_DATABASE_URL_FILE", global = true, value_name = "FILE")]
    pub database_url_file: Option<PathBuf>,

    /// The largest number of connections to PostgreSQL.
    #[arg(long, env = "LATCHKEY_DATABASE_CONNECTIONS", global = true, default_value_t = 10, value_name = "N",
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub database_connections: u32,
}

/// The reason why the database was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting is invalid.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// PostgreSQL is unavailable. The same settings may succeed later.
    #[error(transparent)]
    Unavailable(db::Error),
}

/// Settings of Redis.
#[derive(Args, Clone, Debug)]
pub struct RedisSettings {
    /// The URL of the Redis that all replicas share, `redis://…`, `rediss://…` or `redis+unix:///PATH`
    /// [default: state is kept in the memory of this process].
    #[arg(
        long,
        env = "LATCHKEY_REDIS_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub redis_url: Option<RedisUrl>,

    /// A file that contains the URL of Redis.
    #[arg(long, env = "LATCHKEY_REDIS_URL_FILE", global = true, value_name = "FILE")]
    pub redis_url_file: Option<PathBuf>,
}

/// The setting that turns the rate limits on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RateLimitMode {
    /// In production only: with a listener off loopback, or behind an https URL.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Settings of the rate limits.
#[derive(Args, Clone, Debug)]
pub struct RateLimitSettings {
    /// When to limit the rate of requests: `auto` means in production only.
    #[arg(
        long,
        env = "LATCHKEY_RATE_LIMITS",
        global = true,
        default_value = "auto",
        value_name = "WHEN"
    )]
    pub rate_limits: RateLimitMode,

    /// The number of reads allowed per minute for one user of a client.
    #[arg(long, env = "LATCHKEY_RATE_LIMIT_READS", global = true, default_value_t = 1200, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_reads: u32,

    /// The number of writes allowed per minute for one user of a client.
    #[arg(long, env = "LATCHKEY_RATE_LIMIT_WRITES", global = true, default_value_t = 300, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_writes: u32,

    /// The number of requests allowed per minute from one address (IPv6: from one /64). Those of apps that
    /// authenticate, and those with a valid access token, are not counted.
    #[arg(long, env = "LATCHKEY_RATE_LIMIT_ADDRESS", global = true, default_value_t = 600, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_address: u32,

    /// The number of requests allowed per minute for one app that authenticates at the issuer.
    #[arg(long, env = "LATCHKEY_RATE_LIMIT_CLIENT", global = true, default_value_t = 3000, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_client: u32,
}

impl DatabaseSettings {
    /// Returns the configured URL, or else that of the SQLite file in `data_dir`. Fails if the URL is set
    /// twice or malformed, or if the path of that file cannot be part of a URL.
    pub fn url(&self, data_dir: &Path) -> Result<DatabaseUrl, InvalidSetting> {
        let (url, file) = (&self.database_url, &self.database_url_file);
        match read_parsed("DATABASE_URL", url.as_ref(), file.as_deref())? {
            Some(url) => Ok(url),
            None => format!("sqlite:{}", data_dir.join("latchkey.db").display())
                .parse()
                .map_err(|error| InvalidSetting(format!("DATA_DIR: {error}"))),
        }
    }

    /// Opens the database. On PostgreSQL, at most `connections` connections are opened, and `threads` threads
    /// use them. If no URL is configured, creates `data_dir` for the SQLite file. Fails if the installation
    /// was copied to another database, or if it is being copied into this one.
    pub async fn open(&self, data_dir: &Path, connections: u32, threads: usize) -> Result<Db, OpenError> {
        if self.database_url.is_none() && self.database_url_file.is_none() {
            create_data_dir(data_dir)?;
        }
        let url = self.url(data_dir)?;
        let invalid =
            |reason: &dyn Display| OpenError::from(InvalidSetting(format!("DATABASE_URL: {reason}")));
        let failed = |error: db::Error| match error {
            // A wrong certificate does not become a right one by itself.
            db::Error::Unavailable(sqlx::Error::Tls(_)) => invalid(&error),
            // A file that cannot be opened has a wrong path or a wrong owner.
            db::Error::Unavailable(_) if url.file().is_none() => OpenError::Unavailable(error),
            _ => invalid(&error),
        };
        let db = Db::open(&url, connections, threads).await.map_err(failed)?;
        match db.obstacle().await.map_err(failed)? {
            Some(obstacle) => Err(invalid(&obstacle)),
            None => Ok(db),
        }
    }
}

impl RedisSettings {
    /// Returns the configured URL, if there is one. Fails if it is set twice, or if its file cannot be read
    /// or is malformed.
    pub fn url(&self) -> Result<Option<RedisUrl>, InvalidSetting> {
        let (url, file) = (&self.redis_url, &self.redis_url_file);
        read_parsed("REDIS_URL", url.as_ref(), file.as_deref())
    }

    /// Returns a client for the configured Redis, if there is one. It connects at its first command. Fails
    /// like [`url`](Self::url).
    pub fn client(&self) -> Result<Option<Redis>, InvalidSetting> {
        let redis = self.url()?.as_ref().map(Redis::new).transpose();
        redis.map_err(|error| InvalidSetting(format!("REDIS_URL: {error}")))
    }

    /// Fails in production if Redis evicts keys when its memory is full. Accepts a Redis that is not
    /// available yet, because most requests do not need it:
    /// [`Notifications::follow`](crate::notifications::Notifications::follow) checks it later.
    pub async fn check_eviction(redis: &Redis, is_production: bool) -> Result<(), InvalidSetting> {
        if !is_production {
            return Ok(());
        }
        match redis.eviction().await {
            Ok(None) => {}
            Ok(Some(evicts)) => return Err(InvalidSetting(format!("REDIS_URL: {evicts}"))),
            Err(error) => tracing::warn!(%error, "Redis is not available yet"),
        }
        Ok(())
    }
}

impl RateLimitSettings {
    /// Returns the quotas, or `None` if requests are not limited.
    pub fn quotas(&self, is_production: bool) -> Option<Quotas> {
        let is_on = match self.rate_limits {
            RateLimitMode::Auto => is_production,
            RateLimitMode::On => true,
            RateLimitMode::Off => false,
        };
        is_on.then(|| self.quotas_while_on())
    }

    /// Returns the quotas that apply while requests are limited.
    pub fn quotas_while_on(&self) -> Quotas {
        Quotas {
            reads: self.rate_limit_reads,
            writes: self.rate_limit_writes,
            address: self.rate_limit_address,
            client: self.rate_limit_client,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limits_are_on_in_production_unless_configured_otherwise() {
        let quotas = Quotas {
            reads: 1200,
            writes: 300,
            address: 600,
            client: 3000,
        };
        for (rate_limits, on_loopback, in_production) in [
            (RateLimitMode::Auto, None, Some(quotas)),
            (RateLimitMode::On, Some(quotas), Some(quotas)),
            (RateLimitMode::Off, None, None),
        ] {
            let settings = RateLimitSettings {
                rate_limits,
                rate_limit_reads: 1200,
                rate_limit_writes: 300,
                rate_limit_address: 600,
                rate_limit_client: 3000,
            };
            assert_eq!(settings.quotas(false), on_loopback, "{rate_limits:?}");
            assert_eq!(settings.quotas(true), in_production, "{rate_limits:?}");
        }
    }
}
