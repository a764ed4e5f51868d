//! The client of the Redis server that replicas share. Redis holds only state that may be lost. Every command
//! fails with [`Unavailable`] if Redis does not respond in time.

mod info;

pub use info::Evicts;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use ::redis::io::tcp::TcpSettings;
use ::redis::{
    Arg, Client, Cmd, FromRedisValue, IntoConnectionInfo as _, Pipeline, RedisError, Script, ScriptInvocation,
};
use foundation::clock::Timestamp;
use foundation::sync::lock;
use foundation::{random, time_limits};
use opentelemetry::KeyValue;
use opentelemetry::trace::TraceContextExt as _;
use std::borrow::Cow;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time limit of a command, which the factor of [`time_limits`] multiplies.
const COMMAND_TIMEOUT: Duration = Duration::from_millis(250);
/// The time after a timed-out command during which further commands fail at once, so that requests do not
/// queue up.
const FAIL_FAST_PERIOD: Duration = Duration::from_millis(500);
/// The time limit of a connection attempt, which the factor of [`time_limits`] multiplies.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// The prefix of every key and channel, which separates them from those of other programs.
const PREFIX: &str = "latchkey:";

/// A function for scripts, to be put before them. It returns the id of this run of the Redis server. A server
/// that crashed and starts again may have lost its last writes, and one that takes the place of another may
/// lack some of them, so what it knows counts from its start.
const RUN_ID: &str = r"
local function run_id()
  return string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
end
";

/// The function that [`data_set_script`] describes, which calls that of [`RUN_ID`].
const DATA_SET: &str = r"
local function data_set(key)
  local id = redis.call('GET', key)
  return id and id .. ':' .. run_id()
end
";

/// Sets the random part of the id of the data set, which is the argument, unless there is one. Returns the
/// id. Writes only if it must, because a Redis whose memory is full refuses writes.
const ENSURE_DATA_SET: &str = r"
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
return data_set(KEYS[1])
";

/// Claims the first key. Its arguments are the time to live in milliseconds, the present time, and the
/// earliest time of another claim, in microseconds. The second key has the run of the server and the time
/// since which it has the claims: an emptied Redis does not know what was claimed before, and neither does
/// one that started again. Returns 1, 0 if the key was claimed, or -1 if that is unknown.
const CLAIM: &str = r"
local run = run_id()
local known_run, since = string.match(redis.call('GET', KEYS[2]) or '', '^(%w+) (%d+)$')
if known_run ~= run then
  since = ARGV[2]
  redis.call('SET', KEYS[2], run .. ' ' .. since)
end
if tonumber(ARGV[3]) <= tonumber(since) then return -1 end
if redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 1 end
return 0
";

/// The result of a [claim](Redis::claim).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The caller is the first.
    Granted,
    /// Another caller was first.
    Taken,
    /// Redis was emptied or started since another claim was possible, so another caller may have been first.
    Unknown,
}

/// The URL of a Redis server: `redis://…`, `rediss://…` with TLS, or `redis+unix:///PATH`.
#[derive(Clone)]
pub struct RedisUrl(Client);

/// The error of a command: Redis failed or did not respond in time.
#[derive(Debug, thiserror::Error)]
#[error("Redis: {0}")]
pub struct Unavailable(String);

/// A connection to Redis that reconnects automatically. Clones share it.
#[derive(Clone, Debug)]
pub struct Redis(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    connection: ConnectionManager,
    timed_out_at: Mutex<Option<Instant>>,
    failures: AtomicU64,
    claim: Script,
    data_set: Script,
}

impl Redis {
    /// Creates a client that connects at its first command. Must be called in a tokio runtime.
    pub fn new(url: &RedisUrl) -> Result<Self, Unavailable> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(time_limits::multiplied(CONNECT_TIMEOUT)))
            // `run` has its own time limit, which includes the wait for a connection.
            .set_response_timeout(None)
            .set_number_of_retries(2)
            .set_min_delay(Duration::from_millis(20))
            .set_max_delay(Duration::from_millis(200));
        Ok(Self(Arc::new(Inner {
            connection: ConnectionManager::new_lazy_with_config(url.0.clone(), config)?,
            client: url.0.clone(),
            timed_out_at: Mutex::default(),
            failures: AtomicU64::default(),
            claim: Script::new(&[RUN_ID, CLAIM].concat()),
            data_set: data_set_script(ENSURE_DATA_SET),
        })))
    }

    /// Returns the Redis key for `name`, with the prefix of this program.
    pub fn key(&self, name: &str) -> String {
        format!("{PREFIX}{name}")
    }

    /// Returns the Redis channel for `name`. It contains the database number, because channels span all
    /// databases.
    fn channel(&self, name: &str) -> String {
        let database = self.0.client.get_connection_info().redis_settings().db();
        format!("{PREFIX}{database}:{name}")
    }

    /// Runs a command and returns its result.
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.run(|| command_name(command), command.query_async(&mut connection))
            .await
    }

    /// Runs a script atomically and returns its result.
    pub async fn script<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.run(|| "EVALSHA".into(), script.invoke_async(&mut connection))
            .await
    }

    /// Sends several commands at once and returns their results.
    pub async fn pipeline<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, Unavailable> {
        let mut connection = self.0.connection.clone();
        self.run(|| "PIPELINE".into(), commands.query_async(&mut connection))
            .await
    }

    /// Claims a name among those of a kind, for this time and by one command. Nobody can have claimed it
    /// before `claimable_since`. Only the first of several callers gets [`Claim::Granted`]. `now` is the
    /// present time.
    pub async fn claim(
        &self,
        kind: &str,
        name: &str,
        claimable_since: Timestamp,
        time_to_live: Duration,
        now: Timestamp,
    ) -> Result<Claim, Unavailable> {
        let mut script = self.0.claim.prepare_invoke();
        // The hash tag puts both keys into one slot of a Redis cluster.
        script
            .key(self.key(&format!("{{{kind}}}:{name}")))
            .key(self.key(&format!("{{{kind}}}:since")))
            .arg(u64::try_from(time_to_live.as_millis()).unwrap_or(u64::MAX).max(1))
            .arg(now.micros())
            .arg(claimable_since.micros());
        Ok(match self.script::<i64>(&script).await? {
            1 => Claim::Granted,
            0 => Claim::Taken,
            _ => Claim::Unknown,
        })
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
        let limit = time_limits::multiplied(CONNECT_TIMEOUT);
        let subscribed = tokio::time::timeout(limit, subscribing).await;
        Ok(subscribed.map_err(|_| Unavailable(format!("no subscription within {limit:?}")))??)
    }

    /// Returns the id of the data set, and creates it if it is missing: a random text in the key `data_set`,
    /// and the run of the server. It changes when Redis is emptied, replaced or started again.
    pub async fn data_set(&self) -> Result<String, Unavailable> {
        let mut script = self.0.data_set.prepare_invoke();
        script.key(self.key("data_set")).arg(random::id());
        self.script(&script).await
    }

    /// Returns the number of commands of this process that have failed. If it changed, Redis may have been
    /// replaced by an older copy of itself, also one with the same id of the data set and the same run, such
    /// as a virtual machine that was set back.
    pub fn failures(&self) -> u64 {
        self.0.failures.load(Ordering::Relaxed)
    }

    /// Runs a command within [`COMMAND_TIMEOUT`], in a span of this name if the caller runs in one.
    async fn run<T>(
        &self,
        name: impl FnOnce() -> Cow<'static, str>,
        command: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, Unavailable> {
        let timed_out_at = *lock(&self.0.timed_out_at);
        if timed_out_at.is_some_and(|at| at.elapsed() < FAIL_FAST_PERIOD) {
            return Err(Unavailable("a recent command timed out".to_owned()));
        }
        let trace = traces::call(name);
        if let Some(context) = &trace {
            context
                .span()
                .set_attribute(KeyValue::new("db.system.name", "redis"));
        }
        let limit = time_limits::multiplied(COMMAND_TIMEOUT);
        let result = match tokio::time::timeout(limit, command).await {
            Ok(result) => result.map_err(Unavailable::from),
            Err(_) => {
                *lock(&self.0.timed_out_at) = Some(Instant::now());
                Err(Unavailable(format!("no response within {limit:?}")))
            }
        };
        if result.is_err() {
            self.0.failures.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(context) = trace {
            traces::end(&context, result.is_err().then(|| "unavailable".into()));
        }
        result
    }
}

/// Returns a script that can call `data_set(key)`, where the key is `data_set`. The function returns the id
/// of the data set, as [`Redis::data_set`] does, or false if the key is missing.
pub fn data_set_script(text: &str) -> Script {
    Script::new(&[RUN_ID, DATA_SET, text].concat())
}

/// Returns the name of a command, which is its first argument. The others are not recorded.
fn command_name(command: &Cmd) -> Cow<'static, str> {
    match command.args_iter().next() {
        Some(Arg::Simple(name)) => String::from_utf8_lossy(name).into_owned().into(),
        _ => "command".into(),
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

foundation::opaque_debug!(RedisUrl);
