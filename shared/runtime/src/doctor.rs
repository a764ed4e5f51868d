//! The command `doctor` of every program: it checks an installation, and says for each finding what to do.
//! Here are the checks that the programs share; each program adds its own to the [`Report`].

mod front_door;
mod installation;
mod report;

pub use installation::Login;
pub use report::Report;

use crate::settings::CommonSettings;
use crate::startup::Error;
use clap::Args;
use foundation::duration::{parse_duration, parse_up_to};
use foundation::settings::InvalidSetting;
use foundation::urls::parse_origin;
use front_door::FrontDoor;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use storage::db::Db;
use url::Url;

/// The longest time for which a connection is kept without requests.
const MAX_IDLE: Duration = Duration::from_hours(1);

/// The arguments of `doctor`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Test the installation at this URL as its clients reach it, through its proxy, and nothing else. That
    /// works from any machine.
    #[arg(long, value_name = "URL", value_parser = parse_origin)]
    public: Option<Url>,
    /// With --public: test whether a connection survives this time between two requests, which takes as long.
    /// 0s does not test it.
    #[arg(long, value_name = "TIME", value_parser = parse_idle, default_value = "60s", requires = "public")]
    idle: Duration,
    /// With --public: a second address of this machine, not behind the NAT of the usual one, to test whether
    /// the server tells clients apart. Without it, that is tested with 127.0.0.2 on loopback, and elsewhere
    /// with IPv4 and IPv6.
    #[arg(long, value_name = "IP", requires = "public")]
    address: Option<IpAddr>,
    /// With --public: test the longest redirect, to the --redirect-uri of this app. Without an app, a shorter
    /// one is tested.
    #[arg(long, value_name = "ID", requires = "public", requires = "redirect_uri")]
    client: Option<String>,
    /// A registered redirect URI of the app.
    #[arg(long, value_name = "URI", requires = "client")]
    redirect_uri: Option<String>,
    /// Check the age of the newest file in this directory of backups.
    #[arg(long, value_name = "DIR", conflicts_with = "public")]
    backups: Option<PathBuf>,
    /// The age from which on the newest backup is too old.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "26h")]
    backup_age: Duration,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn parse_idle(text: &str) -> Result<Duration, String> {
    parse_up_to(MAX_IDLE, text)
}

/// Checks the installation, or with `--public` its front door, and prints the findings. `checked` is the
/// result of the check of the settings, and `further` are the checks of the program, which get the database
/// if its schema is up to date. Fails if a finding is an error.
pub async fn run(
    arguments: &Arguments,
    common: &CommonSettings,
    login: Login,
    checked: Result<(), InvalidSetting>,
    further: impl AsyncFnOnce(&mut Report, Option<&Db>),
) -> Result<(), Error> {
    let mut report = Report::default();
    if let Some(url) = &arguments.public {
        Box::pin(FrontDoor::examine(&mut report, url, arguments)).await;
    } else {
        match checked {
            Ok(()) => report.ok("settings", "the server starts with them"),
            Err(invalid) => report.fail(
                "settings",
                invalid.to_string(),
                "change the setting: `config show` tells its origin",
            ),
        }
        let db = Box::pin(installation::examine(&mut report, arguments, common, login)).await;
        further(&mut report, db.as_ref()).await;
        if let Some(db) = db {
            db.close().await;
        }
    }
    report.print(arguments.json)?;
    report.result()
}
