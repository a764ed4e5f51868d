//! Settings: a flag and a `LATCHKEY_…` variable of one name. What cannot work is refused at the start, in
//! one line, with exit code 64.

mod command_line;
mod rate_limits;
mod sign_in;
mod values;

pub use command_line::{EX_USAGE, complain, parse};
pub use rate_limits::{RateLimits, Switch};
pub use sign_in::SignIn;
pub use values::parse_duration;

use crate::db::{DatabaseUrl, Db};
use crate::files;
use crate::http::{Policy, origin_of};
use crate::identity::{mailed_tokens, passwords, sessions};
use crate::redis::{Redis, RedisUrl};
use crate::seal::SealingKey;
use crate::secret::Secret;
use crate::telemetry::LogFormat;
use clap::Args;
use ipnet::IpNet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;
use values::{parse_network, parse_origin};

/// A setting that cannot work: which, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

/// What every program is told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Settings of every program")]
pub struct Common {
    /// Address to listen on; port 0 takes a free one.
    #[arg(
        long,
        env = "LATCHKEY_LISTEN",
        global = true,
        default_value = "127.0.0.1:8080",
        value_name = "ADDR:PORT"
    )]
    pub listen: SocketAddr,

    /// Where clients reach this program [default: http://localhost:PORT].
    #[arg(long, env = "LATCHKEY_BASE_URL", global = true, value_name = "URL", value_parser = parse_origin)]
    pub base_url: Option<Url>,

    /// The issuer's URL, the `iss` of access tokens [default: the base URL].
    #[arg(long, env = "LATCHKEY_ISSUER", global = true, value_name = "URL", value_parser = parse_origin)]
    pub issuer: Option<Url>,

    /// The `aud` of access tokens [default: the base URL].
    #[arg(long, env = "LATCHKEY_AUDIENCE", global = true, value_name = "URI",
          value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub audience: Option<String>,

    /// Where files are kept: the embedded database and the keys made at the first start.
    #[arg(
        long,
        env = "LATCHKEY_DATA_DIR",
        global = true,
        default_value = "./data",
        value_name = "DIR"
    )]
    pub data_dir: PathBuf,

    /// `sqlite:FILE` or `postgres://…` [default: sqlite:DATA_DIR/latchkey.db].
    #[arg(
        long,
        env = "LATCHKEY_DATABASE_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub database_url: Option<DatabaseUrl>,

    /// Connections to PostgreSQL at most.
    #[arg(long, env = "LATCHKEY_DATABASE_CONNECTIONS", global = true, default_value_t = 10, value_name = "N",
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub database_connections: u32,

    /// `redis://…`, `rediss://…` or `redis+unix:///PATH`, shared by all replicas [default: in this process].
    #[arg(
        long,
        env = "LATCHKEY_REDIS_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub redis_url: Option<RedisUrl>,

    /// The key that seals what accounts keep (one-time password seeds, mails): 32 random bytes, base64url.
    #[arg(
        long,
        env = "LATCHKEY_ACCOUNT_KEY",
        global = true,
        value_name = "KEY",
        hide_env_values = true
    )]
    pub account_key: Option<String>,

    /// The same, in a file.
    #[arg(long, env = "LATCHKEY_ACCOUNT_KEY_FILE", global = true, value_name = "FILE")]
    pub account_key_file: Option<PathBuf>,

    /// Address to serve metrics on, which have no other way out [default: none are].
    #[arg(
        long,
        env = "LATCHKEY_METRICS_LISTEN",
        global = true,
        value_name = "ADDR:PORT"
    )]
    pub metrics_listen: Option<SocketAddr>,

    /// Proxies whose X-Forwarded-For counts, as networks, separated by commas.
    #[arg(long, env = "LATCHKEY_TRUSTED_PROXIES", global = true, value_delimiter = ',', value_name = "CIDR",
          value_parser = parse_network)]
    pub trusted_proxies: Vec<IpNet>,

    /// Further origins whose pages may call with cookies, separated by commas.
    #[arg(long, env = "LATCHKEY_ALLOWED_ORIGINS", global = true, value_delimiter = ',', value_name = "ORIGIN",
          value_parser = parse_origin)]
    pub allowed_origins: Vec<Url>,

    /// Connections served at once; further ones wait.
    #[arg(long, env = "LATCHKEY_MAX_CONNECTIONS", global = true, default_value_t = 10_000, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub max_connections: usize,

    /// How many requests are answered in a minute.
    #[command(flatten)]
    pub rate_limits: RateLimits,

    /// What is beside the password at a sign-in.
    #[command(flatten)]
    pub sign_in: SignIn,

    /// How log lines look.
    #[arg(
        long,
        env = "LATCHKEY_LOG_FORMAT",
        global = true,
        default_value = "auto",
        value_name = "FORMAT"
    )]
    pub log_format: LogFormat,

    /// What is logged, such as `info` or `info,access=warn`.
    #[arg(
        long,
        env = "LATCHKEY_LOG_LEVEL",
        global = true,
        default_value = "info,sqlx=warn",
        value_name = "FILTER"
    )]
    pub log_level: String,

    /// How long a session lives unused.
    #[arg(long, env = "LATCHKEY_SESSION_IDLE", global = true, default_value = "1h", value_name = "TIME",
          value_parser = parse_duration)]
    pub session_idle: Duration,

    /// How long a session lives in all.
    #[arg(long, env = "LATCHKEY_SESSION_MAX", global = true, default_value = "12h", value_name = "TIME",
          value_parser = parse_duration)]
    pub session_max: Duration,

    /// How long the link to a new password works.
    #[arg(long, env = "LATCHKEY_RESET_LINK_LIFETIME", global = true, default_value = "30m", value_name = "TIME",
          value_parser = parse_duration)]
    pub reset_link_lifetime: Duration,

    /// How long the link that confirms an e-mail address works.
    #[arg(long, env = "LATCHKEY_EMAIL_LINK_LIFETIME", global = true, default_value = "24h", value_name = "TIME",
          value_parser = parse_duration)]
    pub email_link_lifetime: Duration,

    /// The shortest new password, in characters.
    #[arg(long, env = "LATCHKEY_PASSWORD_MIN_LENGTH", global = true, default_value_t = 8, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(passwords::MIN_LENGTH as u64..=64))]
    pub password_min_length: usize,

    /// Memory of one password hash (Argon2id), in KiB.
    #[arg(long, env = "LATCHKEY_ARGON2_MEMORY", global = true, default_value_t = 19_456, value_name = "KIB",
          value_parser = clap::value_parser!(u32).range(19_456..=1_048_576))]
    pub argon2_memory: u32,

    /// Passes of one password hash (Argon2id).
    #[arg(long, env = "LATCHKEY_ARGON2_PASSES", global = true, default_value_t = 2, value_name = "N",
          value_parser = clap::value_parser!(u32).range(2..=100))]
    pub argon2_passes: u32,

    /// Password hashes computed at once [default: the number of cores].
    #[arg(long, env = "LATCHKEY_ARGON2_PERMITS", global = true, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub argon2_permits: Option<usize>,
}

/// The URLs of a running program, known once its listener is bound.
#[derive(Clone, Debug)]
pub struct Urls {
    /// Where clients reach it.
    pub base: Url,
    /// `iss`, without a trailing slash.
    pub issuer: String,
    /// `aud`.
    pub audience: String,
}

impl Common {
    /// The database to use.
    pub fn database(&self) -> Result<DatabaseUrl, Invalid> {
        match &self.database_url {
            Some(url) => Ok(url.clone()),
            None => format!("sqlite:{}", self.data_dir.join("latchkey.db").display())
                .parse()
                .map_err(|error| Invalid(format!("DATA_DIR: {error}"))),
        }
    }

    /// Makes the folder that DATA_DIR names, for this user alone.
    pub fn make_data_dir(&self) -> Result<(), Invalid> {
        files::make_private_dir(&self.data_dir)
            .map_err(|error| Invalid(format!("DATA_DIR {}: {error}", self.data_dir.display())))
    }

    /// Opens the database; what cannot be opened is a setting that cannot work.
    pub async fn open_database(&self, connections: u32) -> Result<Db, Invalid> {
        if self.database_url.is_none() {
            self.make_data_dir()?;
        }
        let opened = Db::open(&self.database()?, connections).await;
        opened.map_err(|error| Invalid(format!("DATABASE_URL: {error}")))
    }

    /// The account key, if one was given.
    pub fn account_key(&self) -> Result<Option<SealingKey>, Invalid> {
        read_key(
            "ACCOUNT_KEY",
            self.account_key.as_deref(),
            self.account_key_file.as_deref(),
        )
    }

    /// The account key, of a program that makes none.
    pub fn given_account_key(&self) -> Result<SealingKey, Invalid> {
        self.account_key()?.ok_or_else(|| {
            Invalid(
                "ACCOUNT_KEY is not set: give it, or ACCOUNT_KEY_FILE, 32 random bytes in base64url, the same for \
                 every auth-server and api-server"
                    .to_owned(),
            )
        })
    }

    /// The Redis to use, if there is to be one. It need not answer yet.
    pub fn redis(&self) -> Result<Option<Redis>, Invalid> {
        let redis = self.redis_url.as_ref().map(Redis::new).transpose();
        redis.map_err(|error| Invalid(format!("REDIS_URL: {error}")))
    }

    /// Refuses, in production, a Redis that may drop keys when it is full: a lock would be lifted by a flood.
    /// One that is away is no reason not to start: most requests need none.
    pub async fn check_redis(&self, redis: &Redis) -> Result<(), Invalid> {
        match redis.eviction().await {
            Ok(policy) if policy == "noeviction" => {}
            Ok(policy) if self.is_production() => {
                return Err(Invalid(format!(
                    "REDIS_URL: this Redis may drop keys when its memory is full (maxmemory-policy {policy}): set \
                     maxmemory-policy to noeviction"
                )));
            }
            Ok(policy) => tracing::warn!(policy, "this Redis may drop keys when its memory is full"),
            Err(error) => tracing::warn!(%error, "Redis does not answer yet"),
        }
        Ok(())
    }

    /// The URLs, with defaults that follow the bound address.
    pub fn urls(&self, bound: SocketAddr) -> Result<Urls, Invalid> {
        let base = match &self.base_url {
            Some(url) => url.clone(),
            None => Url::parse(&format!("http://localhost:{}", bound.port()))
                .map_err(|error| Invalid(format!("BASE_URL: {error}")))?,
        };
        let issuer = self.issuer.as_ref().unwrap_or(&base);
        Ok(Urls {
            issuer: origin_of(issuer),
            audience: self.audience.clone().unwrap_or_else(|| origin_of(&base)),
            base,
        })
    }

    /// Refuses combinations that would be insecure where others can reach them.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.is_production() {
            let url = self.issuer.as_ref().or(self.base_url.as_ref());
            match url {
                None => {
                    return Err(Invalid(format!(
                        "BASE_URL is not set, and LISTEN {} is reachable from elsewhere: set it to the https URL \
                         that clients use",
                        self.listen
                    )));
                }
                Some(url) if url.scheme() != "https" => {
                    return Err(Invalid(format!(
                        "the issuer's URL {url} is plain http, and this is no loopback installation: put a proxy \
                         with TLS before it and set BASE_URL to its https URL"
                    )));
                }
                Some(_) => {}
            }
        }
        if self.session_idle > self.session_max {
            return Err(Invalid("SESSION_IDLE is longer than SESSION_MAX".to_owned()));
        }
        self.account_key()?;
        self.sign_in.captcha()?;
        self.database().map(|_| ())
    }

    /// Whether others can reach it: a listener off loopback, or an https base URL.
    pub fn is_production(&self) -> bool {
        let https = |url: &Option<Url>| url.as_ref().is_some_and(|url| url.scheme() == "https");
        !self.listen.ip().is_loopback() || https(&self.base_url) || https(&self.issuer)
    }

    /// Refuses a `program` of many replicas that others can reach and that has nothing to share with them:
    /// each would count failed sign-ins alone.
    pub fn check_shared(&self, program: &str) -> Result<(), Invalid> {
        if self.is_production() && self.redis_url.is_none() {
            return Err(Invalid(format!(
                "REDIS_URL is not set: {program} can have replicas, and without Redis each would count failed \
                 sign-ins alone"
            )));
        }
        Ok(())
    }

    /// Whom handlers trust.
    pub fn policy(&self, urls: &Urls) -> Policy {
        let mut allowed_origins: Vec<String> = self.allowed_origins.iter().map(origin_of).collect();
        allowed_origins.extend([origin_of(&urls.base), urls.issuer.clone()]);
        Policy {
            base_url: urls.base.clone(),
            allowed_origins,
            trusted_proxies: self.trusted_proxies.clone(),
        }
    }

    /// How long sessions live.
    pub fn session_lifetimes(&self) -> sessions::Lifetimes {
        sessions::Lifetimes {
            idle: self.session_idle,
            absolute: self.session_max,
        }
    }

    /// How long the links in mails live.
    pub fn link_lifetimes(&self) -> mailed_tokens::Lifetimes {
        mailed_tokens::Lifetimes {
            password_reset: self.reset_link_lifetime,
            email_verification: self.email_link_lifetime,
        }
    }

    /// What hashing a password costs.
    pub fn password_policy(&self) -> passwords::Policy {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        passwords::Policy {
            memory_kib: self.argon2_memory,
            passes: self.argon2_passes,
            permits: self.argon2_permits.unwrap_or(cores),
            min_length: self.password_min_length,
        }
    }
}

/// A secret given as a value or as a file, without white space around it; `None` if neither is.
pub fn read_secret(name: &str, value: Option<&str>, file: Option<&Path>) -> Result<Option<Secret>, Invalid> {
    let text = match (value, file) {
        (Some(_), Some(_)) => return Err(Invalid(format!("{name} and {name}_FILE are both set: set one"))),
        (None, None) => return Ok(None),
        (Some(value), None) => value.to_owned(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| Invalid(format!("{name}_FILE {}: {error}", file.display())))?,
    };
    Ok(Some(Secret::new(text.trim())))
}

/// A key given as a value or as a file; `None` if neither is.
pub fn read_key(name: &str, value: Option<&str>, file: Option<&Path>) -> Result<Option<SealingKey>, Invalid> {
    let text = read_secret(name, value, file)?;
    let key = text.map(|text| text.expose().parse()).transpose();
    key.map_err(|error| Invalid(format!("{name}: {error}")))
}
