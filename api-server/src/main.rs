//! The program that runs the resource API alone. `latchkey` runs it together with the issuer.

use api_server::Api;
use clap::Parser;
use runtime::settings::{self, CommonSettings};
use runtime::startup;
use runtime::startup::{Error, Runtime};
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
    match settings::parse::<Args>(std::env::args_os()) {
        Ok(args) => startup::run(run(args)),
        Err(code) => ExitCode::from(code),
    }
}

async fn run(args: Args) -> Result<(), Error> {
    args.common.require_redis_in_production("api-server")?;
    let runtime = Runtime::prepare(&args.common, || args.common.account_key.required()).await?;
    let api = Api::open(&runtime, &args.api, None);
    let health = api.add_health_checks(runtime.health());
    runtime.serve(api.routes(), health).await
}
