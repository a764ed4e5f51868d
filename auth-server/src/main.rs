//! The issuer as a separate program.

use auth_server::{Issuer, cli, settings};
use clap::{Parser, Subcommand};
use foundation::settings::InvalidSetting;
use issuer::keys::MasterKeys;
use runtime::doctor::{self, Login};
use runtime::settings::{CommonSettings, SettingsSource};
use runtime::startup::{self, Error, Runtime};
use std::process::ExitCode;
use std::sync::Arc;
use web::program::csrf_route;

/// The Latchkey issuer: an OAuth 2.0 authorization server.
#[derive(Parser)]
#[command(name = "auth-server", version)]
struct Args {
    #[command(flatten)]
    common: CommonSettings,
    #[command(flatten)]
    issuer: settings::IssuerSettings,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The commands. A program without a command serves.
#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Administration(Box<cli::Command>),
    /// Check this installation, and say for each finding what to do.
    Doctor(Box<doctor::Arguments>),
}

fn main() -> ExitCode {
    match runtime::settings::parse(std::env::args_os(), |args| checked(args).map(drop)) {
        Ok((args, source)) => startup::run(run(args, source)),
        Err(code) => ExitCode::from(code),
    }
}

/// Returns the master keys. Fails with the setting for which the server would not start.
fn checked(args: &Args) -> Result<MasterKeys, InvalidSetting> {
    args.issuer.check(&args.common)?;
    args.common.require_redis_in_production("auth-server")?;
    let master_keys = master_keys(args)?;
    args.common.account_key.required()?;
    Ok(master_keys)
}

fn master_keys(args: &Args) -> Result<MasterKeys, InvalidSetting> {
    let given = args.issuer.master_key.read()?;
    let current = given.ok_or_else(settings::no_master_key)?;
    args.issuer.master_key.with_previous(current)
}

fn sealing_keys(args: &Args) -> cli::SealingKeys {
    cli::SealingKeys {
        master: master_keys(args),
        account: args.common.account_key.required(),
    }
}

async fn run(mut args: Args, source: SettingsSource) -> Result<(), Error> {
    match args.command.take() {
        Some(Command::Administration(command)) => {
            args.issuer.check(&args.common)?;
            let keys = sealing_keys(&args);
            return cli::run(*command, &args.common, &args.issuer, keys).await;
        }
        Some(Command::Doctor(arguments)) => return examine(&arguments, &args).await,
        None => {}
    }
    let master_keys = checked(&args)?;
    let account_key = || args.common.account_key.required();
    let runtime = Runtime::prepare(&args.common, source.program(), account_key).await?;
    let issuer = Issuer::open(&runtime, &args.issuer, master_keys).await?;
    let health = issuer.add_health_checks(runtime.health());
    let (policy, cors) = (Arc::clone(&runtime.policy), runtime.cors.clone());
    let csrf = csrf_route(policy, cors, runtime.rate_limiter.clone());
    let routes = issuer.routes().merge(csrf);
    runtime
        .serve(routes, health, source, std::future::ready(()))
        .await
}

/// Runs the command `doctor`.
async fn examine(arguments: &doctor::Arguments, args: &Args) -> Result<(), Error> {
    let (common, issuer) = (&args.common, &args.issuer);
    let checked = checked(args).map(drop);
    let examined = doctor::run(arguments, common, Login::Issuer, checked, async |report, db| {
        Box::pin(auth_server::doctor::examine(
            report,
            db,
            common,
            issuer,
            sealing_keys(args),
        ))
        .await;
    });
    Box::pin(examined).await
}
