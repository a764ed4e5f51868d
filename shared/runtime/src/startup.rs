//! Starting and ending, the same for every program: settings → ground (port bound, database open) → serve.

use crate::config::{CommonArgs, EX_USAGE, report_error};
use crate::metrics::{Exporter, Metrics};
use crate::{server, telemetry};
use audit::mail::Mails;
use audit::revocation::RevocationMirror;
use foundation::sealing::SealingKey;
use foundation::settings::InvalidSetting;
use foundation::urls::Urls;
use identity::Identity;
use identity::grants::origins::Origins;
use identity::passwords;
use identity::passwords::Passwords;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use storage::db;
use storage::expiring::ExpiringStore;
use storage::notifications::Notifications;
use storage::rate_limits::RateLimiter;
use storage::redis::Redis;
use storage::settings::RedisArgs;
use tokio::net::TcpListener;
use utoipa_axum::router::OpenApiRouter;
use web::health::Health;
use web::{Cors, Policy, openapi, program};

/// Why a program did not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that cannot work.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The listener did not bind, or a file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Argon2 refuses its costs.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

/// What every program stands on.
#[derive(Debug)]
pub struct Runtime {
    /// Bound, not accepting yet.
    pub listener: TcpListener,
    /// The bound address.
    pub bound: SocketAddr,
    /// The program's URLs.
    pub urls: Urls,
    /// Whom handlers trust.
    pub policy: Arc<Policy>,
    /// Users, sessions, sign-in; and the database and the revocations behind them.
    pub identity: Identity,
    /// How often each may call.
    pub rate_limiter: RateLimiter,
    /// Whose pages may read answers, on routes that are not pages themselves.
    pub cors: Cors,
    /// Words between the processes.
    pub notifications: Notifications,
    /// Where files are kept.
    pub data_dir: PathBuf,
    redis: Option<Redis>,
    metrics: Option<Exporter>,
    max_connections: usize,
}

impl Runtime {
    /// Starts logging, binds the port, opens the database. `account_key` gives the key that seals what accounts
    /// keep; it is asked once the settings are known to work.
    pub async fn prepare(
        common: &CommonArgs,
        account_key: impl FnOnce() -> Result<SealingKey, InvalidSetting>,
    ) -> Result<Self, Error> {
        common.check()?;
        let metrics = common
            .metrics
            .metrics_listen
            .map(|address| (address, Metrics::new()));
        let counts = metrics.as_ref().map(|(_, counts)| counts.clone());
        telemetry::start(&common.log, counts).map_err(InvalidSetting)?;
        let metrics = match metrics {
            Some((address, counts)) => Some(Exporter::bind(address, counts).await.map_err(unbound)?),
            None => None,
        };
        let listener = server::bind(common.network.listen).await.map_err(unbound)?;
        let bound = listener.local_addr()?;
        let urls = common.network.urls(bound)?;
        let db = common.open_database(common.database.database_connections).await?;
        let redis = common.redis.client()?;
        if let Some(redis) = &redis {
            RedisArgs::check_eviction(redis, common.network.is_production()).await?;
        }
        let notifications = Notifications::new(redis.clone());
        let account_key = account_key()?;
        let identity = Identity {
            expiring: ExpiringStore::new(redis.clone()),
            throttles: common.sign_in.throttles(),
            captcha: common.sign_in.captcha()?,
            passwords: Passwords::new(common.passwords.policy())?,
            session_lifetimes: common.sessions.lifetimes(),
            link_lifetimes: common.mailed_links.lifetimes(),
            revocations: RevocationMirror::new(db.clone(), notifications.clone()),
            mails: Mails::new(account_key.clone(), &urls.issuer),
            account_key,
            db,
        };
        let policy = Arc::new(common.network.policy(&urls));
        let cors = Cors::KnownOrigins {
            policy: Arc::clone(&policy),
            origins: Origins::new(identity.db.clone()),
        };
        let quotas = common.rate_limits.quotas(common.network.is_production());
        Ok(Self {
            listener,
            bound,
            urls,
            policy,
            identity,
            rate_limiter: RateLimiter::new(quotas),
            cors,
            notifications,
            data_dir: common.data_dir.clone(),
            redis,
            metrics,
            max_connections: common.network.max_connections,
        })
    }

    /// Health with the checks that every program has.
    pub fn health(&self) -> Health {
        let db = self.identity.db.clone();
        let health = Health::default().with_required("database", move || {
            let db = db.clone();
            async move { db.ping().await.map_err(|error| error.to_string()) }
        });
        let Some(redis) = self.redis.clone() else {
            return health;
        };
        health.with_optional("redis", move || {
            let redis = redis.clone();
            async move { redis.ping().await.map_err(|error| error.to_string()) }
        })
    }

    /// Says where it listens, in one line on standard output, and serves until told to end.
    pub async fn serve(self, routes: OpenApiRouter, health: Health) -> Result<(), Error> {
        tokio::spawn(self.identity.revocations.clone().follow());
        tokio::spawn(self.notifications.clone().follow());
        if let Some(redis) = self.redis.clone() {
            tokio::spawn(self.rate_limiter.clone().share_counts(redis));
        }
        if let Some(exporter) = self.metrics {
            tokio::spawn(exporter.serve());
        }
        let common = program::common_routes(
            Arc::clone(&self.policy),
            self.cors,
            self.rate_limiter.clone(),
            health.clone(),
        );
        let routes = openapi::publish(routes.merge(common), &self.urls, self.rate_limiter)
            .map_err(|error| Error::Other(format!("the OpenAPI document: {error}")))?;
        let router = program::with_middleware(routes, self.policy);
        writeln!(io::stdout(), "listening on http://{}", self.bound)?;
        server::run(self.listener, router, self.max_connections, health).await?;
        self.identity.db.close().await;
        Ok(())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn unbound(error: io::Error) -> InvalidSetting {
    InvalidSetting(error.to_string())
}

/// Runs a program to its end, for its exit code: 0, 64 for settings that cannot work, else 1.
pub fn run(program: impl Future<Output = Result<(), Error>>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report_error(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report_error(&error.to_string());
            ExitCode::from(if matches!(error, Error::InvalidSetting(_)) {
                EX_USAGE
            } else {
                1
            })
        }
    }
}
