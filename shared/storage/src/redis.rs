//! The Redis that replicas share. What it holds may be forgotten; what cannot be asked of it in time is not
//! guessed.

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use ::redis::io::tcp::TcpSettings;
use ::redis::{Client, Cmd, FromRedisValue, IntoConnectionInfo as _, Pipeline, RedisError, ScriptInvocation};
use foundation::random;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An answer that takes longer never comes: those who wait for it are told so.
const TIMEOUT: Duration = Duration::from_millis(250);
/// After a time-out others need not wait for theirs: for so long they fail at once.
const REST: Duration = Duration::from_millis(500);
/// How long a first connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// What every key and channel begins with.
const PREFIX: &str = "latchkey:";

/// Where Redis is: `redis://…`, `rediss://…` with TLS, or `redis+unix:///PATH`.
#[derive(Clone)]
pub struct RedisUrl(Client);

/// Redis does not answer, or not in time.
#[derive(Debug, thiserror::Error)]
#[error("Redis: {0}")]
pub struct Unavailable(String);

/// A connection that comes back by itself. Cheap to clone; the clones share it.
#[derive(Clone, Debug)]
pub struct Redis(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    connection: ConnectionManager,
    timed_out_at: Mutex<Option<Instant>>,
}

impl Redis {
    /// Connects at its first use; needs a running tokio.
    pub fn new(url: &RedisUrl) -> Result<Self, Unavailable> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            // The time limit is ours: theirs would not count the wait for a connection.
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

    /// The name of something of ours: no other program on the same Redis has it.
    pub fn name(&self, what: &str) -> String {
        format!("{PREFIX}{what}")
    }

    /// The name of a channel. Channels are not divided by database as keys are.
    fn channel(&self, what: &str) -> String {
        let database = self.0.client.get_connection_info().redis_settings().db();
        format!("{PREFIX}{database}:{what}")
    }

    /// Runs a command.
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.in_time(command.query_async(&mut connection)).await
    }

    /// Runs a script, in one step whatever others do.
    pub async fn script<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.in_time(script.invoke_async(&mut connection)).await
    }

    /// Runs commands together.
    pub async fn pipeline<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.in_time(commands.query_async(&mut connection)).await
    }

    /// Whether it answers.
    pub async fn ping(&self) -> Result<(), Unavailable> {
        self.query::<String>(&::redis::cmd("PING")).await.map(|_| ())
    }

    /// Tells everybody who listens on the channel.
    pub async fn publish(&self, channel: &str, text: &str) -> Result<(), Unavailable> {
        let mut command = ::redis::cmd("PUBLISH");
        command.arg(self.channel(channel)).arg(text);
        self.query::<i64>(&command).await.map(|_| ())
    }

    /// A connection that hears what is said on the channel from now on.
    pub async fn subscribe(&self, channel: &str) -> Result<PubSub, Unavailable> {
        let subscribing = async {
            let mut connection = self.0.client.get_async_pubsub().await?;
            connection.subscribe(self.channel(channel)).await?;
            Ok::<_, RedisError>(connection)
        };
        let subscribed = tokio::time::timeout(CONNECT_TIMEOUT, subscribing).await;
        Ok(subscribed.map_err(|_| Unavailable("no subscription in 2 s".to_owned()))??)
    }

    /// What names this very data set: another name says that it was emptied, or is another Redis.
    pub async fn epoch(&self) -> Result<String, Unavailable> {
        let name = self.name("epoch");
        let read = ::redis::Cmd::get(&name);
        if let Some(epoch) = self.query::<Option<String>>(&read).await? {
            return Ok(epoch);
        }
        // Of several processes at once one names it.
        self.query::<bool>(&::redis::Cmd::set_nx(&name, random::id()))
            .await?;
        let named: Option<String> = self.query(&read).await?;
        named.ok_or_else(|| Unavailable("it keeps nothing".to_owned()))
    }

    /// What it does when its memory is full, by its own word.
    pub async fn eviction(&self) -> Result<String, Unavailable> {
        let mut info = ::redis::cmd("INFO");
        info.arg("memory");
        let text: String = self.query(&info).await?;
        let policy = text
            .lines()
            .find_map(|line| line.strip_prefix("maxmemory_policy:"));
        Ok(policy.map_or("unknown", str::trim).to_owned())
    }

    async fn in_time<T>(&self, asked: impl Future<Output = Result<T, RedisError>>) -> Result<T, Unavailable> {
        if self.timed_out().is_some_and(|at| at.elapsed() < REST) {
            return Err(Unavailable("it did not answer just now".to_owned()));
        }
        match tokio::time::timeout(TIMEOUT, asked).await {
            Ok(answer) => Ok(answer?),
            Err(_) => {
                *self.0.timed_out_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                Err(Unavailable("no answer in 250 ms".to_owned()))
            }
        }
    }

    fn timed_out(&self) -> Option<Instant> {
        *self.0.timed_out_at.lock().unwrap_or_else(PoisonError::into_inner)
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
        let known = ["redis://", "rediss://", "redis+unix://"];
        if !known.iter().any(|scheme| text.starts_with(scheme)) {
            return Err("a Redis URL begins with redis://, rediss:// or redis+unix://".to_owned());
        }
        // A connection whose other end is gone without a word is given up soon, and made anew.
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
