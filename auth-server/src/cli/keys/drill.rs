//! The command `keys drill`: rotates the signing keys under load, and fails if a replica refuses a valid token.

mod endpoint;
mod latencies;
mod load;
mod report;
mod service;
mod token;

use super::super::{Error, Services, print};
use super::key_store;
use clap::Args;
use endpoint::{Endpoint, Kind};
use foundation::clock;
use foundation::context::RequestContext;
use foundation::duration::{in_words, parse_duration};
use foundation::urls::parse_origin;
use issuer::keys::{Error as KeyError, KeyChange, KeyStore, Outcome};
use load::Load;
use report::{Report, Rotation};
use runtime::server::stop_signal;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// The time that every replica has to show a new key after a rotation. The API fetches an announced set for 5 s.
const SEEN_TIMEOUT: Duration = Duration::from_secs(10);
/// The time that every replica has to answer correctly before the first rotation: an issuer may know a new client late.
const REHEARSAL_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a rotation may take in addition to the JWKS max-age, for which a key is staged: the generation of the next key on a
/// busy machine, and [`SEEN_TIMEOUT`].
const ROTATION_ALLOWANCE: Duration = Duration::from_secs(60);
/// The pause between two looks at a condition.
const POLL: Duration = Duration::from_millis(100);

/// The arguments of `keys drill`.
#[derive(Args, Clone, Debug)]
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
    json: bool,
}

impl DrillArgs {
    /// Returns the time after which the drill ends, whatever is left to do: the given one or, if there is none, `max_age`, which is that of
    /// the JWKS, and [`ROTATION_ALLOWANCE`] for each rotation.
    fn time_limit_at(&self, max_age: Duration) -> Duration {
        let of_rotation = max_age + ROTATION_ALLOWANCE;
        let of_all = of_rotation.saturating_mul(self.rotations);
        self.time_limit.unwrap_or(of_all)
    }
}

/// A drill in progress.
struct Drill {
    args: DrillArgs,
    store: KeyStore,
    load: Arc<Load>,
    rotations: Vec<Rotation>,
}

/// Runs a drill with a service client of its own, which is disabled at the end, and prints the report. Fails if a
/// replica did not answer correctly before the first rotation, if the drill found a problem, or if the client could not
/// be disabled.
pub(super) async fn run(args: DrillArgs, services: Services) -> Result<(), Error> {
    let client = service::register(&services).await?;
    let client_id = client.id.clone();
    let drilled = async {
        let load = Arc::new(Load {
            tokens_of: endpoints(&args.issuer_urls, &services.issuer, Kind::Token)?,
            key_sets_of: endpoints(&args.issuer_urls, &services.issuer, Kind::KeySet)?,
            apis: endpoints(&args.api_urls, &services.issuer, Kind::Api)?,
            requests_per_second: args.requests_per_second,
            pool: token::Pool::default(),
            client,
            is_over: false.into(),
        });
        let drill = Drill {
            store: key_store(&services)?,
            load,
            rotations: Vec::new(),
            args: args.clone(),
        };
        drill.run().await
    };
    let report = drilled.await;
    let disabled = service::disable(&services, &client_id).await;
    let report = report?;
    // The report of a long drill is printed even if the database failed since.
    print(args.json, &report, &report.lines())?;
    disabled?;
    match report.problems.as_slice() {
        [] => Ok(()),
        problems => Err(Error::Drill(problems.join("; "))),
    }
}

/// Returns one endpoint of this kind for each URL, or for `default` if there is no URL.
fn endpoints(urls: &[Url], default: &str, kind: Kind) -> Result<Vec<Arc<Endpoint>>, Error> {
    let default = parse_origin(default).map_err(Error::Drill)?;
    let urls = if urls.is_empty() {
        std::slice::from_ref(&default)
    } else {
        urls
    };
    urls.iter()
        .map(|url| Ok(Arc::new(Endpoint::new(kind, url)?)))
        .collect()
}

impl Drill {
    /// Rotates under load until all rotations are done, a valid token was refused, a rotation failed, the time limit is over, or the
    /// process gets a signal to stop. Returns the report. Fails if a replica did not answer correctly before the first
    /// rotation.
    async fn run(mut self) -> Result<Report, Error> {
        let stop = stop_signal()?;
        self.load
            .rehearse(REHEARSAL_TIMEOUT)
            .await
            .map_err(Error::Drill)?;
        self.tell(&format!(
            "calling {} endpoints; {} rotations",
            self.load.endpoints().count(),
            self.args.rotations
        ))?;
        let (began, limit) = (Instant::now(), self.args.time_limit_at(self.store.max_age));
        let calls = tokio::spawn(Arc::clone(&self.load).run());
        let ended_early = tokio::select! {
            rotated = self.rotate_all() => rotated.err().map(|error| format!("a rotation failed: {error}")),
            () = stop => Some(format!("the drill was stopped after {} rotations", self.rotations.len())),
            () = tokio::time::sleep(limit) => Some(format!(
                "the time limit of {} was over after {} rotations: does an issuer run that stages keys?",
                in_words(limit),
                self.rotations.len()
            )),
        };
        let took = began.elapsed();
        self.load.end();
        // The calls in flight end before the client is disabled, which ends its tokens.
        if let Err(panicked) = calls.await {
            return Err(Error::Drill(panicked.to_string()));
        }
        Ok(Report::new(&self.load, self.rotations, took, ended_early))
    }

    /// Rotates as often as the arguments say. Stops after a refused token, because each refusal would also hit a real
    /// client.
    async fn rotate_all(&mut self) -> Result<(), Error> {
        for number in 1..=self.args.rotations {
            let Some(change) = self.rotate().await? else {
                return Ok(());
            };
            let rotated_at = Instant::now();
            let kid = change.active.unwrap_or_default();
            self.load.probe(&kid, SEEN_TIMEOUT).await;
            let rotation = Rotation::new(&self.load, change.kid, kid, rotated_at);
            self.tell(&format!("rotation {number}: {}", rotation.line()))?;
            self.rotations.push(rotation);
        }
        Ok(())
    }

    /// Rotates once the staged key may sign. Returns `None`, without a rotation, if a valid token is refused meanwhile.
    async fn rotate(&self) -> Result<Option<KeyChange>, KeyError> {
        while !self.load.has_refused_token() {
            let pause = match self.store.rotate(&RequestContext::without_request()).await {
                Ok(change) if change.outcome == Outcome::Rotated => return Ok(Some(change)),
                Ok(_) | Err(KeyError::NoneStaged) => POLL,
                Err(KeyError::SignsLater { until, .. }) => until.since(clock::now()).max(POLL),
                Err(error) => return Err(error),
            };
            let began = Instant::now();
            while began.elapsed() < pause && !self.load.has_refused_token() {
                tokio::time::sleep(POLL.min(pause - began.elapsed().min(pause))).await;
            }
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
