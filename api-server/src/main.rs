//! The program that runs the resource API alone. `latchkey` runs it together with the issuer.

use api_server::Api;
use clap::Parser;
use shared::config::{self as settings, Common};
use shared::start::{self, Error, Ground};
use std::process::ExitCode;

/// The Latchkey resource API: posts, users and sessions.
///
/// It does not create the database schema: start the issuer on the same database first.
#[derive(Parser)]
#[command(name = "api-server", version)]
struct Args {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    api: api_server::config::Settings,
}

fn main() -> ExitCode {
    match settings::parse::<Args>(std::env::args_os()) {
        Ok(args) => start::run(run(args)),
        Err(code) => ExitCode::from(code),
    }
}

async fn run(args: Args) -> Result<(), Error> {
    args.common.check_shared("api-server")?;
    let ground = Ground::lay(&args.common, || args.common.given_account_key()).await?;
    let api = Api::open(&ground, &args.api, None);
    let health = api.health(ground.health());
    ground.serve(api.routes(), health).await
}
