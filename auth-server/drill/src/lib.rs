//! The drill of a rotation of the signing keys: it calls every replica of a running installation while the
//! keys are rotated, and reports whether each replica accepted every valid token. It speaks to the replicas
//! by HTTP alone; the caller of [`run`] registers the client and rotates the keys.

mod client;
mod endpoint;
mod latencies;
mod load;
mod report;
mod token;

pub use client::{SCOPE, ServiceClient};
pub use report::Report;

use clap::Args;
use endpoint::{Endpoint, Kind};
use foundation::duration::{in_words, parse_duration};
use foundation::urls::parse_origin;
use load::{Load, POLL};
use report::Rotation;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};
use token::Pool;
use url::Url;

/// The time that a rotation may take in addition to the JWKS max-age, for which a key is staged: the
/// generation of the next key on a busy machine, and the time that every replica has to show a new key.
const ROTATION_ALLOWANCE: Duration = Duration::from_secs(60);

/// The arguments of `keys drill`.
#[derive(Args, Debug)]
pub struct DrillArgs {
    /// The URL of an issuer replica; repeated for each [default: the issuer's URL].
    #[arg(long = "issuer-url", value_name = "URL", value_parser = parse_origin)]
    issuer_urls: Vec<Url>,
    /// The URL of an API replica; repeated for each [default: the issuer's URL].
    #[arg(long = "api-url", value_name = "URL", value_parser = parse_origin)]
    api_urls: Vec<Url>,
    /// The number of rotations. Each waits until the staged key may sign.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rotations: u32,
    /// The time after which the drill ends and fails [default: JWKS_MAX_AGE and a minute for each rotation].
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// The number of calls per second to all API replicas together.
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    requests_per_second: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The result of an attempt to rotate the signing keys.
#[derive(Debug)]
pub enum Attempt {
    /// The keys were rotated.
    Rotated {
        /// The key that was active before.
        from: Option<String>,
        /// The key that is active since.
        to: String,
    },
    /// The keys can be rotated after this time at the earliest.
    TooEarly(Duration),
}

/// The reason why a drill failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The drill found problems, or did not begin.
    #[error("the drill failed: {0}")]
    Failed(String),
    /// Standard output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl DrillArgs {
    /// Returns the time after which the drill ends, whatever is left to do: the given one or, if there is
    /// none, `max_age`, which is that of the JWKS, and [`ROTATION_ALLOWANCE`] for each rotation.
    fn time_limit_at(&self, max_age: Duration) -> Duration {
        let of_rotation = max_age + ROTATION_ALLOWANCE;
        let of_all = of_rotation.saturating_mul(self.rotations);
        self.time_limit.unwrap_or(of_all)
    }
}

/// A drill in progress.
struct Drill<'a, R> {
    args: &'a DrillArgs,
    rotate: R,
    load: Arc<Load>,
    rotations: Vec<Rotation>,
}

/// Rotates the keys with `rotate` under load until all rotations are done, a valid token was refused, a
/// rotation failed, the time limit is over, or `stop` resolves. Prints its progress, unless the output is
/// JSON, and returns the report. `issuer` is the issuer's URL, which the drill calls if the arguments name no
/// replica, `jwks_max_age` the time for which clients may cache the JWKS, and `client` the one whose tokens
/// the drill uses. Fails if a replica did not answer correctly before the first rotation; a failure of
/// `rotate`, which is a message, is a problem in the report.
pub async fn run(
    args: &DrillArgs,
    issuer: &str,
    jwks_max_age: Duration,
    client: ServiceClient,
    rotate: impl AsyncFn() -> Result<Attempt, String>,
    stop: impl Future<Output = ()>,
) -> Result<Report, Error> {
    let issuer = parse_origin(issuer).map_err(Error::Failed)?;
    let mut drill = Drill {
        args,
        rotate,
        load: Arc::new(Load {
            tokens_of: endpoints(Kind::Token, &args.issuer_urls, &issuer)?,
            key_sets_of: endpoints(Kind::KeySet, &args.issuer_urls, &issuer)?,
            apis: endpoints(Kind::Api, &args.api_urls, &issuer)?,
            requests_per_second: args.requests_per_second,
            pool: Pool::default(),
            client,
            is_over: false.into(),
        }),
        rotations: Vec::new(),
    };
    drill.load.rehearse().await.map_err(Error::Failed)?;
    drill.tell(&format!(
        "calling {} endpoints; {} rotations",
        drill.load.endpoints().count(),
        args.rotations
    ))?;
    let (began, limit) = (Instant::now(), args.time_limit_at(jwks_max_age));
    let calls = tokio::spawn(Arc::clone(&drill.load).run());
    let ended_early = tokio::select! {
        rotated = drill.rotate_all() => rotated.err().map(|error| format!("a rotation failed: {error}")),
        () = stop => Some(format!("the drill was stopped after {} rotations", drill.rotations.len())),
        () = tokio::time::sleep(limit) => Some(format!(
            "the time limit of {} was over after {} rotations: does an issuer run that stages keys?",
            in_words(limit),
            drill.rotations.len()
        )),
    };
    let took = began.elapsed();
    drill.load.end();
    // The calls in flight end before the caller disables the client, which ends its tokens.
    if let Err(panicked) = calls.await {
        return Err(Error::Failed(panicked.to_string()));
    }
    Ok(Report::new(&drill.load, drill.rotations, took, ended_early))
}

/// Returns one endpoint of this kind for each URL, or for `default` if there is no URL.
fn endpoints(kind: Kind, urls: &[Url], default: &Url) -> Result<Vec<Arc<Endpoint>>, Error> {
    let urls = match urls {
        [] => std::slice::from_ref(default),
        urls => urls,
    };
    urls.iter()
        .map(|url| Endpoint::new(kind, url).map(Arc::new).map_err(Error::Failed))
        .collect()
}

impl<R: AsyncFn() -> Result<Attempt, String>> Drill<'_, R> {
    /// Rotates as often as the arguments say. Stops after a refused token, because each refusal would also
    /// hit a real client. Fails with a message.
    async fn rotate_all(&mut self) -> Result<(), String> {
        for number in 1..=self.args.rotations {
            let Some((from, to)) = self.rotate_when_ready().await? else {
                return Ok(());
            };
            let rotated_at = Instant::now();
            self.load.probe(&to).await;
            let rotation = Rotation::new(&self.load, from, to, rotated_at);
            let told = self.tell(&format!("rotation {number}: {}", rotation.line()));
            told.map_err(|error| error.to_string())?;
            self.rotations.push(rotation);
        }
        Ok(())
    }

    /// Rotates once the staged key may sign. Returns the keys that were active before and are since, or
    /// `None`, without a rotation, if a valid token is refused meanwhile.
    async fn rotate_when_ready(&self) -> Result<Option<(Option<String>, String)>, String> {
        let mut next_attempt = Instant::now();
        while !self.load.has_refused_token() {
            if next_attempt <= Instant::now() {
                match (self.rotate)().await? {
                    Attempt::Rotated { from, to } => return Ok(Some((from, to))),
                    Attempt::TooEarly(pause) => next_attempt = Instant::now() + pause,
                }
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(None)
    }

    /// Prints a line about the progress, unless the output is JSON.
    fn tell(&self, line: &str) -> io::Result<()> {
        match self.args.json {
            true => Ok(()),
            false => writeln!(io::stdout(), "{line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    const MINUTE: Duration = Duration::from_secs(60);

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: DrillArgs,
    }

    /// Returns the time limit of a drill with these arguments, at this age of the JWKS.
    fn time_limit(args: &[&str], max_age: Duration) -> Duration {
        let command = Command::parse_from([&["drill"], args].concat());
        command.args.time_limit_at(max_age)
    }

    #[test]
    fn a_drill_ends_by_default_after_the_max_age_and_a_minute_for_each_rotation() {
        let max_age = Duration::from_secs(300);
        assert_eq!(time_limit(&[], max_age), 10 * (max_age + MINUTE));
        assert_eq!(time_limit(&["--rotations", "1"], max_age), max_age + MINUTE);
        let day = Duration::from_hours(24);
        assert_eq!(time_limit(&["--rotations", "1000"], day), 1_000 * (day + MINUTE));
    }

    #[test]
    fn a_given_time_limit_takes_the_place_of_the_default() {
        let args = ["--rotations", "1000", "--time-limit", "15s"];
        assert_eq!(time_limit(&args, MINUTE), Duration::from_secs(15));
    }
}
