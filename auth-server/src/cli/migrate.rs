//! The command `migrate`.

use super::{Error, print};
use clap::Args;
use storage::db::PendingMigration;

/// The arguments of `migrate`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Print the pending migrations, and change nothing.
    #[arg(long, visible_alias = "dry-run")]
    pub(super) plan: bool,
    /// Print JSON, which also has the statements.
    #[arg(long)]
    json: bool,
}

/// Prints the migrations that are pending or, without `--plan`, that were applied.
pub(super) fn print_migrations(arguments: &Arguments, migrations: &[PendingMigration]) -> Result<(), Error> {
    let state = match arguments.plan {
        true => "pending",
        false => "applied",
    };
    let line = |one: &PendingMigration| format!("{state}  {:04}  {}  {}", one.number, one.name, one.file);
    let mut lines: Vec<String> = migrations.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("the schema is up to date".to_owned());
    }
    print(arguments.json, &migrations, &lines)
}
