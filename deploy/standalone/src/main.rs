//! Latchkey in one process: the issuer and the API on one origin, on an embedded database by default.

mod banner;
mod demo;
mod first_start;

use auth_server::{Issuer, cli};
use clap::Parser;
use first_start::{ACCOUNT_KEY, MASTER_KEY};
use runtime::config as settings;
use runtime::config::CommonArgs;
use runtime::startup;
use runtime::startup::{Error, Runtime};
use std::process::ExitCode;

/// Latchkey: an OAuth 2.0 issuer and a resource API in one process.
#[derive(Parser)]
#[command(name = "latchkey", version)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    issuer: auth_server::config::IssuerArgs,
    #[command(flatten)]
    api: api_server::config::ApiArgs,
    #[command(subcommand)]
    command: Option<cli::Command>,
}

fn main() -> ExitCode {
    match settings::parse::<Args>(std::env::args_os()) {
        Ok(args) => startup::run(run(args)),
        Err(code) => ExitCode::from(code),
    }
}

async fn run(args: Args) -> Result<(), Error> {
    args.issuer.check(&args.common)?;
    if let Some(command) = args.command {
        let data_dir = &args.common.data_dir;
        let keys = cli::SealingKeys {
            master: first_start::stored_key(MASTER_KEY, args.issuer.master_key(), data_dir),
            account: first_start::stored_key(ACCOUNT_KEY, args.common.account_key.read(), data_dir),
        };
        return Box::pin(cli::run(command, &args.common, &args.issuer, keys)).await;
    }
    let data_dir = &args.common.data_dir;
    let account_key = || {
        args.common.create_data_dir()?;
        first_start::key(ACCOUNT_KEY, args.common.account_key.read(), data_dir)
    };
    let runtime = Runtime::prepare(&args.common, account_key).await?;
    let master_key = first_start::key(MASTER_KEY, args.issuer.master_key(), data_dir)?;
    let issuer = Issuer::open(&runtime, &args.issuer, master_key).await?;
    let password = first_start::bootstrap(&runtime, &args.common.data_dir).await?;
    // The process is its own issuer, so it fetches the key set from its own listener: the public URL may not be
    // reachable from inside.
    let api = api_server::Api::open(&runtime, &args.api, Some(runtime.bound));
    let health = api.health(runtime.health());
    let routes = issuer.routes().merge(api.routes()).merge(demo::routes().into());
    banner::print(&runtime.urls, password.as_ref())?;
    runtime.serve(routes, health).await
}
