//! The client of the Redis server that replicas share. Redis holds only state that may be lost. Every command fails
//! with [`Unavailable`] if Redis does not respond in time.

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use ::redis::io::tcp::TcpSettings;
use ::redis::{Client, Cmd, FromRedisValue, IntoConnectionInfo as _, Pipeline, RedisError, ScriptInvocation};
use foundation::random;
use foundation::sync::lock;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time limit of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_millis(250);
/// The time after a timed-out command during which further commands fail at once, so that requests do not queue up.
const FAIL_FAST_PERIOD: Duration = Duration::from_millis(500);
/// The time limit of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// The prefix of every key and channel, which separates them from those of other programs.
const PREFIX: &str = "latchkey:";

/// The URL of a Redis server: `redis://…`, `rediss://…` with TLS, or `redis+unix:///PATH`.
#[derive(Clone)]
pub struct RedisUrl(Client);

/// The error of a command: Redis failed or did not respond in time.
#[derive(Debug, thiserror::Error)]
#[error("Redis: {0}")]
pub struct Unavailable(String);

/// The reason why Redis may lose keys that matter.
#[derive(Debug, thiserror::Error)]
#[error(
    "this Redis evicts keys when its memory is full (maxmemory-policy {0}): set maxmemory-policy to noeviction"
)]
pub struct Evicts(String);

/// A connection to Redis that reconnects automatically. Clones share it.
#[derive(Clone, Debug)]
pub struct Redis(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    connection: ConnectionManager,
    timed_out_at: Mutex<Option<Instant>>,
}

impl Redis {
    /// Creates a client that connects at its first command. Must be called in a tokio runtime.
    pub fn new(url: &RedisUrl) -> Result<Self, Unavailable> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            // `run` has its own time limit, which includes the wait for a connection.
            .set_response_timeout(None)
            .set_number_of_retries(2)
            .set_min_delay(Duration::from_millis(20))
            .set_max_delay(Duration::from_millis(200));
        Ok(Self(Arc::new(Inner {
            connection: ConnectionManager::new_lazy_with_config(url.0.clone(), config)?,
            client: url.0.clone(),
            timed_out_at: Mutex::default(),
        })))
    }

    /// Returns the Redis key for `name`, with the prefix of this program.
    pub fn key(&self, name: &str) -> String {
        format!("{PREFIX}{name}")
    }

    /// Returns the Redis channel for `name`. It contains the database number, because channels span all databases.
    fn channel(&self, name: &str) -> String {
        let database = self.0.client.get_connection_info().redis_settings().db();
        format!("{PREFIX}{database}:{name}")
    }

    /// Runs a command and returns its result.
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.run(command.query_async(&mut connection)).await
    }

    /// Runs a script atomically and returns its result.
    pub async fn script<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.run(script.invoke_async(&mut connection)).await
    }

    /// Sends several commands at once and returns their results.
    pub async fn pipeline<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.run(commands.query_async(&mut connection)).await
    }

    /// Checks that Redis responds.
    pub async fn ping(&self) -> Result<(), Unavailable> {
        self.query::<String>(&::redis::cmd("PING")).await.map(|_| ())
    }

    /// Publishes a message to all subscribers of a channel.
    pub async fn publish(&self, channel: &str, text: &str) -> Result<(), Unavailable> {
        let mut command = ::redis::cmd("PUBLISH");
        command.arg(self.channel(channel)).arg(text);
        self.query::<i64>(&command).await.map(|_| ())
    }

    /// Opens a connection that receives the messages of a channel.
    pub async fn subscribe(&self, channel: &str) -> Result<PubSub, Unavailable> {
        let subscribing = async {
            let mut connection = self.0.client.get_async_pubsub().await?;
            connection.subscribe(self.channel(channel)).await?;
            Ok::<_, RedisError>(connection)
        };
        let subscribed = tokio::time::timeout(CONNECT_TIMEOUT, subscribing).await;
        Ok(subscribed.map_err(|_| Unavailable("no subscription within 2 s".to_owned()))??)
    }

    /// Returns the random id of the data set, and creates it if it is missing. It changes when Redis is emptied or
    /// replaced.
    pub async fn epoch(&self) -> Result<String, Unavailable> {
        let key = self.key("epoch");
        let get = Cmd::get(&key);
        if let Some(epoch) = self.query::<Option<String>>(&get).await? {
            return Ok(epoch);
        }
        // If several processes race, the first one sets the id and all of them read it.
        self.query::<bool>(&Cmd::set_nx(&key, random::id())).await?;
        let epoch: Option<String> = self.query(&get).await?;
        epoch.ok_or_else(|| Unavailable("a written key is missing".to_owned()))
    }

    /// Reads `maxmemory-policy`. Returns [`Evicts`] if Redis evicts keys when its memory is full, because a flood of
    /// keys could then lift a lockout.
    pub async fn eviction(&self) -> Result<Option<Evicts>, Unavailable> {
        let mut info = ::redis::cmd("INFO");
        info.arg("memory");
        let text: String = self.query(&info).await?;
        let policy = text
            .lines()
            .find_map(|line| line.strip_prefix("maxmemory_policy:"));
        let policy = policy.map_or("unknown", str::trim);
        Ok((policy != "noeviction").then(|| Evicts(policy.to_owned())))
    }

    /// Runs a command within [`COMMAND_TIMEOUT`].
    async fn run<T>(&self, command: impl Future<Output = Result<T, RedisError>>) -> Result<T, Unavailable> {
        let timed_out_at = *lock(&self.0.timed_out_at);
        if timed_out_at.is_some_and(|at| at.elapsed() < FAIL_FAST_PERIOD) {
            return Err(Unavailable("a recent command timed out".to_owned()));
        }
        match tokio::time::timeout(COMMAND_TIMEOUT, command).await {
            Ok(result) => Ok(result?),
            Err(_) => {
                *lock(&self.0.timed_out_at) = Some(Instant::now());
                Err(Unavailable("no response within 250 ms".to_owned()))
            }
        }
    }
}

impl From<RedisError> for Unavailable {
    fn from(error: RedisError) -> Self {
        Self(error.to_string())
    }
}

impl FromStr for RedisUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let schemes = ["redis://", "rediss://", "redis+unix://"];
        if !schemes.iter().any(|scheme| text.starts_with(scheme)) {
            return Err("a Redis URL must begin with redis://, rediss:// or redis+unix://".to_owned());
        }
        // Detects a peer that vanished without closing the connection, so that the client reconnects soon.
        let settings = TcpSettings::default().set_nodelay(true);
        #[cfg(target_os = "linux")]
        let settings = settings.set_user_timeout(CONNECT_TIMEOUT);
        let info = text.into_connection_info().map_err(|error| error.to_string())?;
        let info = info.set_tcp_settings(settings);
        Client::open(info).map(Self).map_err(|error| error.to_string())
    }
}

impl std::fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RedisUrl(…)")
    }
}
