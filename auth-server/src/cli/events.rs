//! The command `events list`.

use super::{Error, Services, print};
use audit::events::list;
use audit::events::list::{Filter, SecurityEvent};
use clap::Subcommand;

/// The commands for security events.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List security events, newest first.
    List {
        /// Only events with this name, such as `authn_login_fail`.
        #[arg(long)]
        name: Option<String>,
        /// Only events of the user with this id, or of the deleted account with this pseudonym.
        #[arg(long, value_name = "ID", allow_negative_numbers = true)]
        user: Option<i64>,
        /// Only events that the administrator with this id or pseudonym caused over HTTP.
        #[arg(long, value_name = "ID", allow_negative_numbers = true)]
        administrator: Option<i64>,
        /// The most events to list.
        #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
        limit: u16,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    let Command::List {
        name,
        user,
        administrator,
        limit,
        json,
    } = command;
    let filter = Filter {
        name,
        user_id: user,
        administrator_id: administrator,
    };
    let events = list::newest(&services.db, &filter, None, limit.into()).await?;
    let lines: Vec<String> = events.iter().map(line).collect();
    print(json, &events, &lines)
}

fn line(event: &SecurityEvent) -> String {
    let mut line = format!("{}  {}  {}", event.at, event.name, event.outcome);
    let user = event.user_id.map(|id| id.to_string());
    let administrator = event.administrator_id.map(|id| id.to_string());
    let times = (event.count > 1).then(|| event.count.to_string());
    let optional = [
        ("times", &times),
        ("user", &user),
        ("client", &event.client_id),
        ("by administrator", &administrator),
        ("from", &event.address),
        ("detail", &event.detail),
    ];
    for (label, value) in optional {
        line.extend(value.iter().map(|value| format!("  {label} {value}")));
    }
    format!("{line}  trace {}", event.trace_id)
}
