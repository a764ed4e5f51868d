//! Latchkey in one process: the issuer and the API on one origin, on an embedded database by default.

mod backup;
mod banner;
mod copy;
mod demo;
mod first_start;

use auth_server::{Issuer, cli};
use clap::{Parser, Subcommand};
use first_start::{ACCOUNT_KEY, InitialPassword, MASTER_KEY, find_key, load_key, load_or_generate_key};
use foundation::settings::{InvalidSetting, create_data_dir};
use runtime::doctor::{self, Login};
use runtime::settings::{self, CommonSettings, SettingsSource};
use runtime::startup::{self, Error, Runtime};
use std::process::ExitCode;

/// Latchkey: an OAuth 2.0 issuer and a resource API in one process.
#[derive(Parser)]
#[command(name = "latchkey", version)]
struct Args {
    #[command(flatten)]
    common: CommonSettings,
    #[command(flatten)]
    issuer: auth_server::settings::IssuerSettings,
    #[command(flatten)]
    api: api_server::settings::ApiSettings,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The commands. A program without a command serves.
#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Administration(Box<cli::Command>),
    /// Copy the embedded database to FILE, also while the server runs, and check the copy.
    Backup(backup::Arguments),
    /// Put the backup FILE in the place of the embedded database. Ends all sessions and tokens.
    Restore(backup::Arguments),
    /// Check this installation, and say for each finding what to do.
    Doctor(doctor::Arguments),
    /// Copy the embedded installation into an empty PostgreSQL database, where it continues. Run it again if
    /// it was interrupted.
    Copy(copy::Arguments),
}

/// Runs the program with the arguments of this process. Returns its exit code.
pub fn main() -> ExitCode {
    match settings::parse(std::env::args_os(), check) {
        Ok((args, source)) => startup::run(run(args, source)),
        Err(code) => ExitCode::from(code),
    }
}

/// Fails with the setting for which the server would not start.
fn check(args: &Args) -> Result<(), InvalidSetting> {
    args.issuer.check(&args.common)?;
    let (master_key, data_dir) = (&args.issuer.master_key, &args.common.data_dir);
    if let Some(current) = find_key(master_key.read()?, MASTER_KEY, data_dir)? {
        master_key.with_previous(current)?;
    }
    find_key(args.common.account_key.read()?, ACCOUNT_KEY, data_dir).map(drop)
}

async fn run(args: Args, source: SettingsSource) -> Result<(), Error> {
    let checked = check(&args);
    match args.command {
        None => checked.clone()?,
        // It reports an invalid setting as a finding.
        Some(Command::Doctor(_)) => {}
        Some(_) => args.issuer.check(&args.common)?,
    }
    let data_dir = &args.common.data_dir;
    let configured_master_key = args.issuer.master_key.read();
    let configured_account_key = args.common.account_key.read();
    if let Some(command) = args.command {
        let keys = cli::SealingKeys {
            master: configured_master_key
                .and_then(|key| load_key(key, MASTER_KEY, data_dir))
                .and_then(|key| args.issuer.master_key.with_previous(key)),
            account: configured_account_key.and_then(|key| load_key(key, ACCOUNT_KEY, data_dir)),
        };
        let (common, issuer, api) = (&args.common, &args.issuer, &args.api);
        return match command {
            Command::Administration(command) => cli::run(*command, common, issuer, keys).await,
            Command::Backup(arguments) => backup::back_up(&arguments, common, issuer).await,
            Command::Restore(arguments) => backup::restore(&arguments, common, issuer, keys).await,
            Command::Doctor(arguments) => {
                let examined = doctor::run(&arguments, common, Login::Issuer, checked, async |report, db| {
                    Box::pin(auth_server::doctor::examine(report, db, common, issuer, keys)).await;
                    Box::pin(api_server::doctor::examine(report, common, api, true)).await;
                });
                Box::pin(examined).await
            }
            Command::Copy(arguments) => copy::copy(&arguments, common, issuer, keys).await,
        };
    }
    let account_key = || {
        create_data_dir(data_dir)?;
        load_or_generate_key(configured_account_key?, ACCOUNT_KEY, data_dir)
    };
    let runtime = Runtime::prepare(&args.common, source.program(), account_key).await?;
    let master_key = load_or_generate_key(configured_master_key?, MASTER_KEY, data_dir)?;
    let master_keys = args.issuer.master_key.with_previous(master_key)?;
    let issuer = Issuer::open(&runtime, &args.issuer, master_keys).await?;
    let is_production = runtime.is_production;
    let bootstrapped = first_start::bootstrap(&runtime, is_production).await?;
    // The process is its own issuer, so it fetches the key set from its own listener: the public URL may not
    // be reachable from this machine.
    let api = api_server::Api::open(&runtime, &args.api, Some(runtime.bound));
    let health = issuer.add_health_checks(api.add_health_checks(runtime.health()));
    // In production the front page is for strangers.
    let first_password = bootstrapped.password.as_ref().filter(|_| !is_production);
    let place = first_password.map(InitialPassword::place);
    let demo = demo::routes(&runtime, bootstrapped.has_demo_app, place, issuer.brand());
    let (api_routes, finish) = api.into_parts();
    let routes = issuer.routes().merge(api_routes).merge(demo.into());
    banner::print(&runtime.urls, !is_production, &bootstrapped)?;
    runtime.serve(routes, health, source, finish).await
}
