//! Start-up and shutdown of every program: [`Runtime::prepare`] binds the port and connects to the database,
//! [`Runtime::serve`] serves until a signal to stop, and [`run`] turns the result into an exit code.

mod error;

pub use error::Error;

use crate::metrics::{Exporter, Metrics};
use crate::reload::{self, Reload};
use crate::server::ConnectionLimits;
use crate::settings::{CommonSettings, EX_USAGE, SettingsSource, report_error};
use crate::telemetry::{LogFilter, LogGuard};
use crate::threads::Threads;
use crate::{server, span_export, telemetry};
use audit::events::EventRecorder;
use audit::figures::{COUNTERS, Timing};
use dpop::Proofs;
use foundation::clock;
use foundation::sealing::SealingKey;
use foundation::settings::InvalidSetting;
use foundation::urls::Urls;
use futures_util::future::LocalBoxFuture;
use identity::Identity;
use identity::origins::Origins;
use identity::passwords::Passwords;
use identity::settings::SignUpMode;
use mail::Mails;
use opentelemetry_sdk::trace::SdkTracerProvider;
use revocation::RevocationMirror;
use std::io::{self, ErrorKind, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use storage::clock_check::ClockCheck;
use storage::expiring::ExpiringStore;
use storage::notifications::Notifications;
use storage::rate_limits::RateLimiter;
use storage::redis::Redis;
use storage::settings::RedisSettings;
use tokio::net::TcpListener;
use tokio::signal::unix::Signal;
use utoipa_axum::router::OpenApiRouter;
use web::health::{Dependency, Health};
use web::program::{self, Program};
use web::{Cors, Policy, documentation};

/// The resources that every program needs before it serves: the bound listener, the database and the shared
/// services.
#[derive(Debug)]
pub struct Runtime {
    /// The bound listener, which does not accept connections yet.
    pub listener: TcpListener,
    /// The bound address, with the actual port if the setting was port 0.
    pub bound: SocketAddr,
    /// The public URLs of the program.
    pub urls: Urls,
    /// The base URL, the trusted origins and the trusted proxies.
    pub policy: Arc<Policy>,
    /// The services of accounts and sign-in, with the database, the revocations and the mail queue.
    pub identity: Identity,
    /// The rate limiter of all routes that are limited.
    pub rate_limiter: RateLimiter,
    /// The origins whose pages may read responses of API routes.
    pub cors: Cors,
    /// The DPoP proofs that were used, for both services of a process.
    pub proofs: Proofs,
    /// The comparison of the clock with that of the database.
    pub clock: ClockCheck,
    /// The notifications between processes.
    pub notifications: Notifications,
    /// The directory of the setting DATA_DIR.
    pub data_dir: PathBuf,
    /// Whether this is a production installation: not one that only this machine can reach over http.
    pub is_production: bool,
    redis: Option<Redis>,
    exporter: Option<Exporter>,
    traces: Option<SdkTracerProvider>,
    threads: Threads,
    connection_limits: ConnectionLimits,
    log_filter: LogFilter,
    hang_ups: Option<Signal>,
    /// Dropped last, so that the last log lines are written.
    _log: LogGuard,
}

impl Runtime {
    /// Checks the settings, starts logging, binds the listeners, connects to the database and creates the
    /// shared services. It starts threads, but no task, and accepts no connection. `program` is the name of
    /// the program in traces and metrics. `account_key` returns the key that seals the secrets of accounts;
    /// it runs after the settings were checked, because it may create a key file.
    ///
    /// Fails if a setting is invalid, a port is in use or the database is unavailable. Redis may be
    /// unavailable.
    pub async fn prepare(
        common: &CommonSettings,
        program: &str,
        account_key: impl FnOnce() -> Result<SealingKey, InvalidSetting>,
    ) -> Result<Self, Error> {
        common.check()?;
        // A reload that comes while the program starts would end it.
        let hang_ups = reload::hang_ups(common)?;
        let metrics = common.metrics.metrics_listen.map(|_| Metrics::new(program));
        let (log, log_filter) = telemetry::start(&common.log, metrics.clone()).map_err(InvalidSetting)?;
        let exporter = match common.metrics.metrics_listen.zip(metrics) {
            Some((address, metrics)) => Some(Exporter::bind(address, metrics).await.map_err(bind_error)?),
            None => None,
        };
        let traces = common.traces.start(program)?;
        let listener = server::listen(common.network.listen).await.map_err(bind_error)?;
        let bound = listener.local_addr()?;
        let urls = common.network.urls(bound)?;
        let threads = Threads::start()?;
        let db = common
            .open_database(common.database.database_connections, threads.count())
            .await?;
        let clock = ClockCheck::new(db.clone());
        // A process whose clock differs starts nevertheless, so that `/readyz` reports it, and serves once
        // the clock is right.
        let _ = clock.measure().await;
        let redis = common.redis.client()?;
        if let Some(redis) = &redis {
            RedisSettings::check_eviction(redis, common.network.is_production()).await?;
        }
        let notifications = Notifications::new(redis.clone());
        let account_key = account_key()?;
        // Both services have the account key, and no other.
        let proofs = Proofs::new(&account_key, redis.clone(), common.dpop.dpop);
        let expiring = ExpiringStore::new(redis.clone());
        let is_production = common.network.is_production();
        let quotas = common.rate_limits.quotas(is_production);
        let identity = Identity {
            allows_sign_ups: common.sign_up.sign_up == SignUpMode::On,
            limits_sign_ups: quotas.is_some(),
            throttles: common.sign_in.throttles(),
            captcha: common.sign_in.captcha()?,
            passwords: Passwords::new(common.passwords.policy())?,
            session_lifetimes: common.sessions.lifetimes(),
            link_lifetimes: common.mailed_links.lifetimes(),
            confirmations_per_domain: common.mailed_links.confirmations_per_domain,
            revocations: RevocationMirror::new(&db, notifications.clone(), |lag| {
                COUNTERS.time(Timing::RevocationLag, lag);
            }),
            events: EventRecorder::new(db.clone()),
            mails: Mails::new(account_key.clone(), &urls.issuer, expiring.clone()),
            expiring,
            account_key,
            db,
        };
        let policy = Arc::new(common.network.policy(&urls));
        let proxies = policy.trusted_proxies.clone();
        let connection_limits = common.network.connection_limits(proxies);
        let cors = Cors::KnownOrigins {
            policy: Arc::clone(&policy),
            origins: Origins::new(identity.db.clone()),
        };
        Ok(Self {
            listener,
            bound,
            urls,
            policy,
            identity,
            rate_limiter: RateLimiter::new(quotas),
            cors,
            proofs,
            clock,
            notifications,
            data_dir: common.data_dir.clone(),
            is_production,
            redis,
            exporter,
            traces,
            threads,
            connection_limits,
            log_filter,
            hang_ups,
            _log: log,
        })
    }

    /// Returns the health checks of every program: the database, the clock, and Redis if it is configured.
    pub fn health(&self) -> Health {
        let (db, clock) = (self.identity.db.clone(), self.clock.clone());
        let health = Health::default()
            .with(Dependency::Required, "database", move || {
                let db = db.clone();
                async move { db.ping().await.map_err(|error| error.to_string()) }
            })
            .with(Dependency::Required, "clock", move || {
                std::future::ready(clock.check().map_err(|error| error.to_string()))
            });
        let Some(redis) = self.redis.clone() else {
            return health;
        };
        health.with(Dependency::Optional, "redis", move || {
            let redis = redis.clone();
            async move { redis.ping().await.map_err(|error| error.to_string()) }
        })
    }

    /// Starts the background tasks, prints the bound address to standard output and serves `routes` until
    /// SIGINT or SIGTERM. At SIGHUP it reads `settings` again. Then awaits `finish` and closes the database.
    /// Fails if it cannot receive signals or if standard output is closed.
    pub fn serve(
        self,
        routes: OpenApiRouter,
        health: Health,
        settings: SettingsSource,
        finish: impl Future<Output = ()> + 'static,
    ) -> LocalBoxFuture<'static, Result<(), Error>> {
        // Boxed, so that the compiler makes its only copy in this crate.
        Box::pin(self.serve_until_stopped(routes, health, settings, Box::pin(finish)))
    }

    async fn serve_until_stopped(
        self,
        routes: OpenApiRouter,
        health: Health,
        settings: SettingsSource,
        finish: LocalBoxFuture<'static, ()>,
    ) -> Result<(), Error> {
        tokio::spawn(self.clock.clone().follow());
        tokio::spawn(self.identity.revocations.clone().follow());
        tokio::spawn(self.notifications.clone().follow());
        tokio::spawn(self.identity.events.clone().follow());
        COUNTERS.begin(clock::now());
        let (db, clock) = (self.identity.db.clone(), self.clock.clone());
        tokio::spawn(clock.run(move || COUNTERS.follow(db.clone())));
        if let Some(redis) = self.redis.clone() {
            tokio::spawn(self.rate_limiter.clone().share_counts(redis));
        }
        if let Some(exporter) = self.exporter {
            tokio::spawn(exporter.serve());
        }
        if let Some(hang_ups) = self.hang_ups {
            let reload = Reload {
                hang_ups,
                source: settings,
                log: self.log_filter,
                rate_limiter: self.rate_limiter.clone(),
                policy: Arc::clone(&self.policy),
                urls: self.urls.clone(),
            };
            tokio::spawn(reload.follow());
        }
        let common = program::common_routes(&self.policy, self.cors, health.clone());
        let routes = documentation::publish(routes.merge(common), &self.urls, self.rate_limiter);
        let program = Program::new(routes, self.policy, self.clock.clone()).traced(self.traces.is_some());
        // A supervisor may send signals as soon as it has read the line.
        let stop = server::stop_signal()?;
        writeln!(io::stdout(), "listening on http://{}", self.bound)?;
        server::tell_ready();
        let handle = move |request| program.clone().handle(request);
        let (threads, limits) = (&self.threads, self.connection_limits);
        server::run(self.listener, handle, threads, limits, health, stop).await;
        finish.await;
        self.identity.events.finish().await;
        if self.clock.check().is_ok() {
            COUNTERS.finish(&self.identity.db).await;
        }
        if let Some(traces) = self.traces {
            span_export::finish(traces).await;
        }
        // The threads still run, because closing a connection is input and output of its thread.
        self.identity.db.close().await;
        Ok(())
    }
}

fn bind_error(error: io::Error) -> Error {
    match error.kind() {
        // The process that has the address may end, and the network that has it may come up.
        ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable => Error::Io(error),
        _ => Error::InvalidSetting(InvalidSetting(error.to_string())),
    }
}

/// Runs a program and returns its exit code: 0 on success, 64 for an invalid setting, 1 for any other error.
pub fn run(program: impl Future<Output = Result<(), Error>>) -> ExitCode {
    // Servers start further runtimes, one for each further thread.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
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
            match error {
                Error::InvalidSetting(_) => ExitCode::from(EX_USAGE),
                _ => ExitCode::FAILURE,
            }
        }
    }
}
