//! The commands for security events.

use super::{Error, Services, parse_order, print, print_table};
use audit::events::list::{self, Filter, Outcome, POLL_INTERVAL, SecurityEvent, Tail};
use audit::events::refusals;
use clap::{Args, Subcommand};
use foundation::clock::Timestamp;
use foundation::list_query::Order;
use runtime::output::{Cell, Column, Table, cell};
use runtime::server::stop_signal;
use std::io::{self, ErrorKind, Write as _};
use std::{slice, thread};
use storage::db::{self, Db};
use tokio::sync::mpsc;

const COLUMNS: [Column; 10] = [
    Column::Plain("time"),
    Column::Plain("event"),
    Column::Plain("outcome"),
    Column::Labeled("times"),
    Column::Labeled("user"),
    Column::Labeled("client"),
    Column::Labeled("by administrator"),
    Column::Labeled("from"),
    Column::Labeled("detail"),
    Column::Labeled("trace"),
];

/// The commands for security events.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List security events, the newest first by default.
    List(ListArgs),
    /// Print security events as they are recorded, until Ctrl-C.
    Tail {
        #[command(flatten)]
        selection: Selection,
        /// Only events with this outcome.
        #[arg(long, value_parser = parse_outcome)]
        outcome: Option<Outcome>,
        /// Print JSON, an event on each line.
        #[arg(long)]
        json: bool,
    },
    /// Group the failed events of the last day, or since a chosen time, by kind and cause.
    Refusals {
        #[command(flatten)]
        selection: Selection,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The selection of events.
#[derive(Args, Debug)]
pub struct Selection {
    /// Only events with this name, such as `authn_login_fail`.
    #[arg(long)]
    name: Option<String>,
    /// Only events of the user with this id, or of the deleted account with this pseudonym.
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    user: Option<i64>,
    /// Only events that the administrator with this id or pseudonym caused over HTTP.
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    administrator: Option<i64>,
    /// Only events of the client with this id.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    client: Option<String>,
    /// Only events that were caused from this IP address.
    #[arg(long)]
    address: Option<String>,
    /// Only events of the response with this correlation id.
    #[arg(long, value_name = "ID")]
    trace: Option<String>,
    /// Only events with this detail, which has at most 500 characters.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    detail: Option<String>,
    /// Only events at this time or later, in RFC 3339.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only events before this time, in RFC 3339.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
}

/// The events to list.
#[derive(Args, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    selection: Selection,
    /// Only events with this outcome.
    #[arg(long, value_parser = parse_outcome)]
    outcome: Option<Outcome>,
    /// The order: `asc` lists the oldest first.
    #[arg(long, value_parser = parse_order)]
    order: Option<Order>,
    /// The most events to list.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Selection {
    fn filter(self, outcome: Option<Outcome>) -> Filter {
        Filter {
            name: self.name,
            user_id: self.user,
            administrator_id: self.administrator,
            client_id: self.client,
            address: self.address,
            trace_id: self.trace,
            detail: self.detail,
            outcome,
            since: self.since,
            until: self.until,
        }
    }
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    let db = &services.db;
    match command {
        Command::List(args) => {
            let filter = args.selection.filter(args.outcome);
            let order = args.order.unwrap_or(Order::Descending);
            let events = list::first(db, &filter, order, args.limit.into()).await?;
            print_table(args.json, &events, &table(&events))
        }
        Command::Tail {
            selection,
            outcome,
            json,
        } => match tail(db, &selection.filter(outcome), json).await {
            // Nobody reads the pipe any more.
            Err(Error::Io(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            ended => ended,
        },
        Command::Refusals { selection, json } => {
            let filter = refusals::filter(&selection.filter(None), services.clock.now());
            let found = refusals::read(db, &filter).await?;
            let (further, entries) = (found.further_groups, refusals::MAX_ENTRIES);
            let smaller = (further > 0).then(|| format!("{further} smaller groups are not listed"));
            let older = match found.searched_since {
                Some(time) => format!("events before {time} were not searched"),
                None => format!("only the newest {entries} entries are grouped"),
            };
            let notes = smaller.into_iter().chain(found.has_older.then_some(older));
            print_table(json, &found, &table(&found.groups).with_notes(notes))
        }
    }
}

/// Prints the events that fit the condition as they are recorded, until a signal to stop. Waits while the
/// database is unavailable.
async fn tail(db: &Db, filter: &Filter, json: bool) -> Result<(), Error> {
    let stop = stop_signal()?;
    let mut tail = Tail::of_new(db).await?;
    let (sender, mut reads) = mpsc::channel::<Result<Vec<SecurityEvent>, db::Error>>(1);
    // A pipe that nobody reads may block for ever. The program does not wait for this thread when it ends.
    let printer = thread::spawn(move || {
        while let Some(read) = reads.blocking_recv() {
            match read {
                Ok(events) => events.iter().try_for_each(|event| {
                    // Columns cannot align with events that are still to come.
                    let lines = table(slice::from_ref(event)).to_lines();
                    print(json, event, &lines)
                })?,
                Err(error) => writeln!(io::stderr(), "{error}; trying again")?,
            }
        }
        Ok::<_, Error>(())
    });
    let follow = async {
        loop {
            let (read, is_full) = match tail.read(db, filter).await {
                Ok((events, is_full)) => (Ok(events), is_full),
                Err(error @ db::Error::Unavailable(_)) => (Err(error), false),
                Err(error) => return Err(Error::from(error)),
            };
            if sender.send(read).await.is_err() {
                return Ok(());
            }
            if !is_full {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    };
    tokio::select! {
        () = stop => Ok(()),
        ended = follow => {
            ended?;
            // The thread ended although nobody stopped the program, so it could not print.
            printer.join().unwrap_or(Ok(()))
        }
    }
}

fn parse_outcome(text: &str) -> Result<Outcome, &'static str> {
    Outcome::named(text).ok_or("an outcome is success or failure")
}

fn parse_time(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("a time is written like 2026-11-27T16:05:00Z")
}

fn table(events: &[SecurityEvent]) -> Table {
    Table::new(&COLUMNS, events.iter().map(row))
}

fn row(event: &SecurityEvent) -> [Cell; 10] {
    [
        cell(event.at),
        cell(&event.name),
        cell(&event.outcome),
        event.repetitions().map(|count| count.to_string()),
        event.user_id.map(|id| id.to_string()),
        event.client_id.clone(),
        event.administrator_id.map(|id| id.to_string()),
        event.address.clone(),
        event.detail.clone(),
        cell(&event.trace_id),
    ]
}
