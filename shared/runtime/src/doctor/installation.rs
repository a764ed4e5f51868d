//! The checks of the database, of Redis, of the disk and of the backups.

mod redis;

use super::{Arguments, Report};
use crate::settings::CommonSettings;
use foundation::clock::{self, Timestamp};
use foundation::duration::in_words;
use foundation::time_limits;
use rustix::fs::statvfs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};
use storage::clock_check::{ClockCheck, MAX_DIFFERENCE, MAX_UNREPORTED_DIFFERENCE, length};
use storage::db::{DatabaseUrl, Db, Error, Server};

/// The oldest version of PostgreSQL that gets corrections.
const LEAST_POSTGRES: i64 = 14;
/// The free space below which the disk counts as full, in MiB.
const FULL_DISK: u64 = 100;
/// The free space below which the disk counts as nearly full, in MiB.
const NEARLY_FULL_DISK: u64 = 1024;
/// The remedy of a clock that differs.
const SYNCHRONIZE: &str = "synchronize both machines with a time server";

/// The login of a program at PostgreSQL, which decides about the rights that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// The issuer's, which migrates the schema.
    Issuer,
    /// The API's, which has the role `latchkey_api`.
    Api,
}

/// Adds the findings about what every program uses. Returns the database, unless it lacks migrations.
pub(super) async fn examine(
    report: &mut Report,
    arguments: &Arguments,
    common: &CommonSettings,
    login: Login,
) -> Option<Db> {
    time_limits::set_factor(common.time_limit_factor);
    let url = common.database.url(&common.data_dir).ok();
    let file = url.as_ref().and_then(DatabaseUrl::file);
    examine_disk(report, file.and_then(Path::parent).unwrap_or(&common.data_dir));
    examine_backups(report, arguments);
    redis::examine(report, common).await;
    match url {
        Some(url) => Box::pin(examine_database(report, common, &url, login)).await,
        None => {
            report.skip("database", "DATABASE_URL is invalid");
            None
        }
    }
}

fn examine_disk(report: &mut Report, directory: &Path) {
    let place = match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => directory,
    };
    match statvfs(place) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize) / (1024 * 1024);
            examine_free_space(report, place, free);
        }
        Err(error) => {
            let error = io::Error::from(error);
            report.skip("disk", format!("{}: {error}", place.display()));
        }
    }
}

/// Adds the finding about the free space at a place, in MiB.
fn examine_free_space(report: &mut Report, place: &Path, free: u64) {
    let detail = format!("{} has {free} MiB of free space", place.display());
    let remedy = "free space on it, or move the data to a larger one";
    match free {
        0..FULL_DISK => report.fail("disk", detail, remedy),
        FULL_DISK..NEARLY_FULL_DISK => report.warn("disk", detail, remedy),
        NEARLY_FULL_DISK.. => report.ok("disk", detail),
    }
}

fn examine_backups(report: &mut Report, arguments: &Arguments) {
    let Some(directory) = &arguments.backups else {
        return report.skip("backups", "add --backups DIR to check the age of the newest one");
    };
    let (name, limit) = (directory.display(), in_words(arguments.backup_age));
    let remedy = "make a backup, and find out why the last one did not run";
    match newest_file(directory) {
        Err(error) => report.fail(
            "backups",
            format!("{name}: {error}"),
            "name the directory of the backups",
        ),
        Ok(None) => report.fail("backups", format!("{name} has no file with content"), remedy),
        Ok(Some(at)) => {
            let now = clock::now();
            let (age, ahead_by) = (now.since(at), at.since(now));
            if ahead_by > MAX_DIFFERENCE {
                let ahead_by = in_words(ahead_by);
                let detail = format!("the newest file in {name} is dated {ahead_by} in the future");
                let remedy = "correct the clock by which the backups are dated, and make a backup";
                return report.fail("backups", detail, remedy);
            }
            let detail = format!(
                "the newest file in {name} is {} old (limit {limit})",
                in_words(age)
            );
            match age > arguments.backup_age {
                true => report.fail("backups", detail, remedy),
                false => report.ok("backups", detail),
            }
        }
    }
}

/// Returns the time at which the newest file in a directory was written. A backup that failed may have left
/// an empty file, which does not count.
fn newest_file(directory: &Path) -> io::Result<Option<Timestamp>> {
    let mut newest = None;
    for entry in std::fs::read_dir(directory)? {
        let file = entry?.metadata()?;
        if file.is_file() && file.len() > 0 {
            let at = file.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            newest = newest.max(Some(Timestamp::from_micros(0).after(at)));
        }
    }
    Ok(newest)
}

async fn examine_database(
    report: &mut Report,
    common: &CommonSettings,
    url: &DatabaseUrl,
    login: Login,
) -> Option<Db> {
    if let Some(file) = url.file().filter(|file| !file.exists()) {
        let detail = format!("{} does not exist", file.display());
        report.warn(
            "database",
            detail,
            "start the server, which creates it, or correct DATA_DIR or DATABASE_URL",
        );
        return None;
    }
    let db = match common.open_database(2, 1).await {
        Ok(db) => db,
        Err(error) => {
            let remedy = "start the database, and check DATABASE_URL, its password and the firewall";
            report.fail("database", error.to_string(), remedy);
            return None;
        }
    };
    let server = db.server().await;
    match &server {
        Ok(Some(server)) => examine_version(report, server.version),
        Ok(None) => report.ok("database", "SQLite"),
        Err(error) => report.fail("database", error.to_string(), "read the log of the database"),
    }
    examine_clock(report, &db).await;
    let is_current = match login {
        Login::Issuer => examine_migrations(
            report,
            url.pending_migrations().await.map(|pending| pending.len()),
        ),
        // The role of the API cannot read which migrations were applied.
        Login::Api => true,
    };
    if let Ok(Some(server)) = server
        && is_current
    {
        examine_rights(report, &server, login);
    }
    if is_current {
        return Some(db);
    }
    db.close().await;
    None
}

fn examine_version(report: &mut Report, version: i64) {
    let (major, minor) = (version / 10_000, version % 10_000);
    let detail = format!("PostgreSQL {major}.{minor}");
    match major < LEAST_POSTGRES {
        true => report.warn(
            "database",
            detail,
            "upgrade it: this version gets no more corrections",
        ),
        false => report.ok("database", detail),
    }
}

async fn examine_clock(report: &mut Report, db: &Db) {
    match ClockCheck::new(db.clone()).ahead_by().await.map(length) {
        Ok(difference) => {
            let detail = clock_detail(difference, "the database");
            match difference {
                large if large > MAX_DIFFERENCE => report.fail("clock", detail, SYNCHRONIZE),
                small if small > MAX_UNREPORTED_DIFFERENCE => report.warn("clock", detail, SYNCHRONIZE),
                _ => report.ok("clock", detail),
            }
        }
        Err(error) => report.fail("clock", error.to_string(), "read the log of the database"),
    }
}

fn clock_detail(difference: Duration, other: &str) -> String {
    let (seconds, limit) = (difference.as_secs_f64(), MAX_DIFFERENCE.as_secs());
    format!("the clock of this machine differs from that of {other} by {seconds:.1} s (limit {limit} s)")
}

/// Adds the finding about the migrations. Returns whether the schema has all.
fn examine_migrations(report: &mut Report, pending: Result<usize, Error>) -> bool {
    match pending {
        Ok(0) => report.ok("migrations", "the schema is up to date"),
        Ok(pending) => {
            let detail = format!("pending migrations: {pending}");
            report.warn(
                "migrations",
                detail,
                "start the issuer, or run `migrate`: both apply them",
            );
            return false;
        }
        Err(error) => {
            let remedy =
                "use the version that wrote the database, or a newer one, and the login that owns its tables";
            report.fail("migrations", error.to_string(), remedy);
            return false;
        }
    }
    true
}

fn examine_rights(report: &mut Report, server: &Server, login: Login) {
    match login {
        Login::Issuer if !server.has_all_tables => report.fail(
            "rights",
            "the login of DATABASE_URL may not read and write every table",
            "use the login that owns the tables, or make this one a member of its role",
        ),
        Login::Issuer if !server.can_migrate => report.warn(
            "rights",
            "the login of DATABASE_URL may not change the schema, as the migrations of the next version do",
            "run `migrate` of the next version with the login that owns the tables",
        ),
        Login::Api if !server.is_api => report.fail(
            "rights",
            "the login of DATABASE_URL lacks the rights of the role latchkey_api",
            "make it a member (`GRANT latchkey_api TO …`), after the issuer has created the schema",
        ),
        Login::Api if server.reads_secrets => report.warn(
            "rights",
            "the login of DATABASE_URL can read the signing keys or the codes, which the API does not need",
            "give the API a login of its own that is a member of latchkey_api only, and that role no further right",
        ),
        Login::Issuer | Login::Api => report.ok("rights", "the login has the rights that it needs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect(examine: impl FnOnce(&mut Report), finding: &str) {
        let mut report = Report::default();
        examine(&mut report);
        let report = format!("{report:?}");
        assert!(report.contains(finding), "{finding}: {report}");
    }

    #[test]
    fn little_free_space_is_reported() {
        for (free, state) in [(99, "Error"), (100, "Warning"), (1023, "Warning"), (1024, "Ok")] {
            let examine = |report: &mut Report| examine_free_space(report, Path::new("data"), free);
            expect(examine, &format!("state: {state}, detail: \"data has {free} MiB"));
        }
    }

    #[test]
    fn a_version_without_corrections_is_reported() {
        for (version, finding) in [
            (130_021, "state: Warning, detail: \"PostgreSQL 13.21\""),
            (140_000, "state: Ok, detail: \"PostgreSQL 14.0\""),
        ] {
            expect(|report| examine_version(report, version), finding);
        }
    }
}
