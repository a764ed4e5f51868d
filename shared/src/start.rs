//! Starting and ending, the same for every program: settings → ground (port bound, database open) → serve.

use crate::config::{Common, EX_USAGE, Invalid, Urls, complain};
use crate::db;
use crate::ephemeral::Ephemeral;
use crate::feed::Feed;
use crate::grants::origins::Origins;
use crate::http::health::Health;
use crate::http::{self, Cors, Policy};
use crate::identity::Identity;
use crate::identity::passwords::{self, Passwords};
use crate::limits::Limits;
use crate::mail::Mails;
use crate::metrics::{Exporter, Metrics};
use crate::redis::Redis;
use crate::revocation::Mirror;
use crate::seal::SealingKey;
use crate::{serve, telemetry};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use utoipa_axum::router::OpenApiRouter;

/// Why a program did not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that cannot work.
    #[error(transparent)]
    Invalid(#[from] Invalid),
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
pub struct Ground {
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
    pub limits: Limits,
    /// Whose pages may read answers, on routes that are not pages themselves.
    pub cors: Cors,
    /// Words between the processes.
    pub feed: Feed,
    /// Where files are kept.
    pub data_dir: PathBuf,
    redis: Option<Redis>,
    metrics: Option<Exporter>,
    max_connections: usize,
}

impl Ground {
    /// Starts logging, binds the port, opens the database. `account_key` gives the key that seals what accounts
    /// keep; it is asked once the settings are known to work.
    pub async fn lay(
        common: &Common,
        account_key: impl FnOnce() -> Result<SealingKey, Invalid>,
    ) -> Result<Self, Error> {
        common.check()?;
        let metrics = common.metrics_listen.map(|address| (address, Metrics::new()));
        let counts = metrics.as_ref().map(|(_, counts)| counts.clone());
        telemetry::start(common.log_format, &common.log_level, counts).map_err(Invalid)?;
        let metrics = match metrics {
            Some((address, counts)) => Some(Exporter::bind(address, counts).await.map_err(unbound)?),
            None => None,
        };
        let listener = serve::bind(common.listen).await.map_err(unbound)?;
        let bound = listener.local_addr()?;
        let urls = common.urls(bound)?;
        let db = common.open_database(common.database_connections).await?;
        let redis = common.redis()?;
        if let Some(redis) = &redis {
            common.check_redis(redis).await?;
        }
        let feed = Feed::new(redis.clone());
        let account_key = account_key()?;
        let identity = Identity {
            ephemeral: Ephemeral::new(redis.clone()),
            throttles: common.sign_in.throttles(),
            captcha: common.sign_in.captcha()?,
            passwords: Passwords::new(common.password_policy())?,
            lifetimes: common.session_lifetimes(),
            links: common.link_lifetimes(),
            revocations: Mirror::new(db.clone(), feed.clone()),
            mails: Mails::new(account_key.clone(), &urls.issuer),
            account_key,
            db,
        };
        let policy = Arc::new(common.policy(&urls));
        let cors = Cors::Registered {
            policy: Arc::clone(&policy),
            origins: Origins::new(identity.db.clone()),
        };
        let quotas = common.rate_limits.quotas(common.is_production());
        Ok(Self {
            listener,
            bound,
            urls,
            policy,
            identity,
            limits: Limits::new(quotas),
            cors,
            feed,
            data_dir: common.data_dir.clone(),
            redis,
            metrics,
            max_connections: common.max_connections,
        })
    }

    /// Health with the checks that every program has.
    pub fn health(&self) -> Health {
        let db = self.identity.db.clone();
        let health = Health::default().with("database", move || {
            let db = db.clone();
            async move { db.ping().await.map_err(|error| error.to_string()) }
        });
        let Some(redis) = self.redis.clone() else {
            return health;
        };
        health.with_help_of("redis", move || {
            let redis = redis.clone();
            async move { redis.ping().await.map_err(|error| error.to_string()) }
        })
    }

    /// Says where it listens, in one line on standard output, and serves until told to end.
    pub async fn serve(self, routes: OpenApiRouter, health: Health) -> Result<(), Error> {
        tokio::spawn(self.identity.revocations.clone().follow());
        tokio::spawn(self.feed.clone().follow());
        if let Some(redis) = self.redis.clone() {
            tokio::spawn(self.limits.clone().pool(redis));
        }
        if let Some(exporter) = self.metrics {
            tokio::spawn(exporter.serve());
        }
        let common = http::common_routes(
            Arc::clone(&self.policy),
            self.cors,
            self.limits.clone(),
            health.clone(),
        );
        let routes = http::openapi::publish(routes.merge(common), &self.urls, self.limits)
            .map_err(|error| Error::Other(format!("the OpenAPI document: {error}")))?;
        let router = http::finish(routes, self.policy);
        writeln!(io::stdout(), "listening on http://{}", self.bound)?;
        serve::run(self.listener, router, self.max_connections, health).await?;
        self.identity.db.close().await;
        Ok(())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn unbound(error: io::Error) -> Invalid {
    Invalid(error.to_string())
}

/// Runs a program to its end, for its exit code: 0, 64 for settings that cannot work, else 1.
pub fn run(program: impl Future<Output = Result<(), Error>>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(if matches!(error, Error::Invalid(_)) {
                EX_USAGE
            } else {
                1
            })
        }
    }
}
