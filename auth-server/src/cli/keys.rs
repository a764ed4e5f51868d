//! `keys list`.

use super::{Error, Shell, print};
use crate::keys;
use clap::Subcommand;

/// What can be done with signing keys.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the signing keys, oldest first.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: Command, shell: &Shell) -> Result<(), Error> {
    let Command::List { json } = command;
    let keys = keys::list(&shell.db).await?;
    let lines: Vec<String> = keys
        .iter()
        .map(|key| format!("{}  {}  made {}", key.kid, key.state.as_str(), key.created_at))
        .collect();
    print(json, &keys, &lines)
}
