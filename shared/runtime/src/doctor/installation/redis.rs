//! The checks of Redis.

use super::{SYNCHRONIZE, clock_detail};
use crate::doctor::Report;
use crate::settings::CommonSettings;
use std::time::Duration;
use storage::clock_check::{MAX_DIFFERENCE, length};
use storage::redis::{Redis, Unavailable};

/// The oldest version of Redis that can trim the list of revocations by age (`XTRIM … MINID`).
const LEAST_VERSION: (u32, u32) = (6, 2);
/// The most attempts to reach Redis, the first of which includes the connection.
const ATTEMPTS: usize = 5;
/// The pause between them, longer than that after which commands no longer fail at once.
const PAUSE: Duration = Duration::from_millis(600);

/// Adds the findings about Redis.
pub(super) async fn examine(report: &mut Report, common: &CommonSettings) {
    let redis = match common.redis.client() {
        Ok(Some(redis)) => redis,
        Ok(None) => {
            return report.skip(
                "redis",
                "REDIS_URL is not set, so this process must be the only one",
            );
        }
        Err(_) => return report.skip("redis", "REDIS_URL is invalid"),
    };
    match version_of(&redis).await {
        Err(error) => {
            let remedy = "start Redis, and check REDIS_URL, its password and the firewall: until then, nobody signs in \
                          with a password";
            return report.fail("redis", error.to_string(), remedy);
        }
        Ok(version) => examine_version(report, &version),
    }
    let remedy = "run `CONFIG SET maxmemory-policy noeviction`, and write it into redis.conf";
    match redis.eviction().await {
        Ok(None) => report.ok("redis-eviction", "maxmemory-policy is noeviction"),
        Ok(Some(evicts)) => report.fail("redis-eviction", evicts.to_string(), remedy),
        Err(error) => report.fail(
            "redis-eviction",
            error.to_string(),
            "allow the login of the programs to run INFO",
        ),
    }
    match redis.ahead_by().await.map(length) {
        Ok(difference) if difference > MAX_DIFFERENCE => {
            report.warn("redis-clock", clock_detail(difference, "Redis"), SYNCHRONIZE);
        }
        Ok(difference) => report.ok("redis-clock", clock_detail(difference, "Redis")),
        Err(error) => report.skip("redis-clock", error.to_string()),
    }
}

fn examine_version(report: &mut Report, version: &str) {
    if number(version) < LEAST_VERSION {
        let (major, minor) = LEAST_VERSION;
        let remedy = format!("upgrade it to {major}.{minor} or later");
        return report.fail("redis", format!("Redis {version} is too old"), remedy);
    }
    report.ok("redis", format!("Redis {version}"));
}

/// Returns the version of Redis once it answers. The client gives a command less time than a connection takes
/// on a slow network.
async fn version_of(redis: &Redis) -> Result<String, Unavailable> {
    for _ in 1..ATTEMPTS {
        if let Ok(version) = redis.version().await {
            return Ok(version);
        }
        tokio::time::sleep(PAUSE).await;
    }
    redis.version().await
}

/// Returns the first two parts of a version such as `7.4.1`; a part that is no number counts as 0.
fn number(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or_default());
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_without_the_commands_of_revocations_is_reported() {
        for (versions, state) in [
            (["6.0.16", "5.0", "6", "unknown"], "Error"),
            (["6.2.0", "6.10.1", "7.4.1", "10.0"], "Ok"),
        ] {
            for version in versions {
                let mut report = Report::default();
                examine_version(&mut report, version);
                let report = format!("{report:?}");
                let finding = format!("state: {state}, detail: \"Redis {version}");
                assert!(report.contains(&finding), "{finding}: {report}");
            }
        }
    }
}
