//! The program that runs the resource API alone. `latchkey` runs it together with the issuer.

use api_server::Api;
use clap::Parser;
use foundation::settings::InvalidSetting;
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
    check(&args)?;
    let runtime = Runtime::prepare(&args.common, || args.common.account_key.required()).await?;
    let api = Api::open(&runtime, &args.api, None);
    let health = api.add_health_checks(runtime.health());
    runtime.serve(api.routes(), health, source).await
}
