//! The commands `sessions list` and `end`.

use super::{Error, Services, parse_order, print, print_page};
use clap::Subcommand;
use foundation::cursor::Cursor;
use foundation::ids::Id;
use foundation::list_query::{Order, PageRequest};
use identity::accounts::{self, administration};
use identity::sessions::{self, ListQuery, UserSession};
use runtime::output::{Cell, Column, cell};

const COLUMNS: [Column; 6] = [
    Column::Plain("id"),
    Column::Labeled("user"),
    Column::Labeled("since"),
    Column::Labeled("last used"),
    Column::Labeled("from"),
    Column::Labeled("with"),
];

/// The commands for sessions.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the sessions that have not ended, the newest first, 20 at once.
    List {
        /// Only sessions of the user with this id.
        #[arg(long, value_name = "ID")]
        user: Option<Id>,
        /// The order: `asc` lists the oldest first.
        #[arg(long, value_parser = parse_order)]
        order: Option<Order>,
        /// The cursor of the page, which the page before has printed.
        #[arg(long)]
        cursor: Option<Cursor>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// End a session, with the tokens that first-party apps received in it.
    End {
        /// The id of the session.
        id: Id,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    let (db, context) = (&services.db, services.context());
    match command {
        Command::List {
            user,
            order,
            cursor,
            json,
        } => {
            let query = ListQuery {
                user_id: user,
                page: PageRequest::after(cursor, order),
                refused: Vec::new(),
            };
            let page = sessions::page(db, &query, services.session_lifetimes, context.now).await?;
            print_page(json, &page, &COLUMNS, row)
        }
        Command::End { id, json } => {
            let ended = administration::end_session(db, &services.revocations, id.get(), &context).await;
            ended.map_err(|error| match error {
                accounts::Error::NotFound => Error::NotFound(format!("no session has the id {id}")),
                other => other.into(),
            })?;
            let ended = serde_json::json!({ "id": id.get() });
            print(json, &ended, &[format!("{id} is ended")])
        }
    }
}

fn row(listed: &UserSession) -> [Cell; 6] {
    let session = &listed.session;
    [
        cell(session.id),
        cell(listed.user_id),
        cell(session.created_at),
        cell(session.last_seen_at),
        session.address.clone(),
        session.user_agent.as_ref().map(|agent| format!("{agent:?}")),
    ]
}
