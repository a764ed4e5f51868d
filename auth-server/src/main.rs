//! The issuer as a separate program.

use auth_server::{Issuer, cli, settings};
use clap::Parser;
use runtime::settings::CommonSettings;
use runtime::startup;
use runtime::startup::{Error, Runtime};
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
    command: Option<cli::Command>,
}

fn main() -> ExitCode {
    match runtime::settings::parse::<Args>(std::env::args_os()) {
        Ok(args) => startup::run(run(args)),
        Err(code) => ExitCode::from(code),
    }
}

async fn run(args: Args) -> Result<(), Error> {
    args.issuer.check(&args.common)?;
    let master_key = args.issuer.master_key.read();
    let master_key = master_key.and_then(|given| given.ok_or_else(settings::no_master_key));
    let master_keys = master_key.and_then(|key| args.issuer.master_key.with_previous(key));
    if let Some(command) = args.command {
        let keys = cli::SealingKeys {
            master: master_keys,
            account: args.common.account_key.required(),
        };
        return cli::run(command, &args.common, &args.issuer, keys).await;
    }
    args.common.require_redis_in_production("auth-server")?;
    let master_keys = master_keys?;
    let runtime = Runtime::prepare(&args.common, || args.common.account_key.required()).await?;
    let issuer = Issuer::open(&runtime, &args.issuer, master_keys).await?;
    let health = issuer.add_health_checks(runtime.health());
    let (policy, cors) = (Arc::clone(&runtime.policy), runtime.cors.clone());
    let csrf = csrf_route(policy, cors, runtime.rate_limiter.clone());
    runtime.serve(issuer.routes().merge(csrf), health).await
}
