//! The command `figures show`.

use super::{Error, Services, print_table};
use audit::figures::Window;
use clap::Subcommand;
use issuer::figures::{self, Durations, Figures};
use runtime::output::{Cell, Column, Table, cell};

const COLUMNS: [Column; 4] = [
    Column::Plain("figure"),
    Column::Plain("value"),
    Column::Labeled("p50"),
    Column::Labeled("p99"),
];

/// The commands for figures.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the figures of all processes together.
    Show {
        /// The time that the figures cover: `hour`, `day` or `week`.
        #[arg(long, default_value = "hour", value_parser = parse_window)]
        window: Window,
        /// Print JSON, which also has the figures of each period.
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    let Command::Show { window, json } = command;
    let figures = figures::read(&services.db, window, services.clock.now()).await?;
    print_table(json, &figures, &table(&figures))
}

fn parse_window(text: &str) -> Result<Window, &'static str> {
    Window::named(text).ok_or("a window is hour, day or week")
}

fn table(figures: &Figures) -> Table {
    let total = &figures.total;
    let grants = &total.grants;
    let counts = [
        ("requests", total.requests),
        ("errors of callers (4xx)", total.client_errors),
        ("errors of the service (5xx)", total.server_errors),
        ("sign-ins", total.sign_ins),
        ("failed sign-ins", total.failed_sign_ins),
        ("grants of authorization_code", grants.authorization_code),
        ("grants of refresh_token", grants.refresh_token),
        ("grants of client_credentials", grants.client_credentials),
        ("grants of device_code", grants.device_code),
        ("alerts about reuse", total.reuse_alerts),
        ("refused password hashes", total.refused_hashes),
    ];
    let counts = counts.map(|(name, count)| [cell(name), cell(count), None, None]);
    let durations = [
        row("until a revocation takes effect", &total.revocation_lag),
        row("until a password is hashed", &total.hashing_wait),
    ];
    let age = figures.key_age.map(|seconds| {
        let age = Some(format!("{seconds} s"));
        [cell("age of the signing key"), age, None, None]
    });
    Table::new(&COLUMNS, counts.into_iter().chain(durations).chain(age))
}

fn row(name: &str, durations: &Durations) -> [Cell; 4] {
    match (durations.p50, durations.p99) {
        (Some(p50), Some(p99)) => {
            let [p50, p99] = [p50, p99].map(|time| Some(format!("{time} ms")));
            [cell(name), None, p50, p99]
        }
        _ => [cell(name), cell("not measured"), None, None],
    }
}
