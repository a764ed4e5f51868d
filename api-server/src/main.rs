//! The program that runs the resource API alone. `latchkey` runs it together with the issuer.

use api_server::Api;
use clap::{Parser, Subcommand};
use foundation::settings::InvalidSetting;
use runtime::doctor::{self, Login};
use runtime::settings::{self, CommonSettings, SettingsSource};
use runtime::startup::{self, Error, Runtime};
use std::process::ExitCode;

/// The Latchkey resource API: posts, comments, payments, users and sessions.
///
/// It does not create the database schema: start the issuer on the same database first.
#[derive(Parser)]
#[command(name = "api-server", version)]
struct Args {
    #[command(flatten)]
    common: CommonSettings,
    #[command(flatten)]
    api: api_server::settings::ApiSettings,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The commands. A program without a command serves.
#[derive(Subcommand)]
enum Command {
    /// Check this installation, and say for each finding what to do.
    Doctor(doctor::Arguments),
}

fn main() -> ExitCode {
    match settings::parse(std::env::args_os(), check) {
        Ok((args, source)) => startup::run(run(args, source)),
        Err(code) => ExitCode::from(code),
    }
}

/// Fails with the setting for which the server would not start.
fn check(args: &Args) -> Result<(), InvalidSetting> {
    args.common.check()?;
    args.common.require_redis_in_production("api-server")?;
    args.common.account_key.required().map(drop)
}

async fn run(args: Args, source: SettingsSource) -> Result<(), Error> {
    if let Some(Command::Doctor(arguments)) = &args.command {
        let (common, api, checked) = (&args.common, &args.api, check(&args));
        let examined = doctor::run(arguments, common, Login::Api, checked, async |report, _| {
            Box::pin(api_server::doctor::examine(report, common, api, false)).await;
        });
        return Box::pin(examined).await;
    }
    check(&args)?;
    let account_key = || args.common.account_key.required();
    let runtime = Runtime::prepare(&args.common, source.program(), account_key).await?;
    let api = Api::open(&runtime, &args.api, None);
    let health = api.add_health_checks(runtime.health());
    let (routes, finish) = api.into_parts();
    runtime.serve(routes, health, source, finish).await
}
