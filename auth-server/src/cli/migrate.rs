//! The command `migrate`.

use super::{Error, print_table};
use clap::Args;
use runtime::output::{Column, Table, cell};
use storage::db::PendingMigration;

const COLUMNS: [Column; 4] = [
    Column::Plain("state"),
    Column::Plain("number"),
    Column::Plain("name"),
    Column::Plain("file"),
];

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
    let rows = migrations.iter().map(|one| {
        let number = Some(format!("{:04}", one.number));
        [cell(state), number, cell(one.name), cell(&one.file)]
    });
    let up_to_date = migrations.is_empty();
    let up_to_date = up_to_date.then(|| "the schema is up to date".to_owned());
    print_table(
        arguments.json,
        &migrations,
        &Table::new(&COLUMNS, rows).with_notes(up_to_date),
    )
}
