//! The commands `consents list` and `revoke`.

use super::{Error, Services, parse_order, print, print_page};
use audit::events::EventRecorder;
use clap::Subcommand;
use foundation::ids::{Id, TextId};
use foundation::list_query::{Order, PageRequest};
use identity::accounts::{self, administration};
use identity::consents::list::{self, Consent, ListQuery, Position};
use runtime::output::{Cell, Column, cell};

const COLUMNS: [Column; 6] = [
    Column::Plain("id"),
    Column::Labeled("user"),
    Column::Labeled("client"),
    Column::Labeled("scope"),
    Column::Labeled("since"),
    Column::Labeled("last used"),
];

/// The commands for consents.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the apps to which users have given access, by user and app, 20 at once.
    List {
        /// Only consents of the user with this id.
        #[arg(long, value_name = "ID")]
        user: Option<Id>,
        /// Only consents to the client with this id.
        #[arg(long, value_name = "ID", allow_hyphen_values = true)]
        client: Option<TextId>,
        /// The order: `desc` lists the largest ids first.
        #[arg(long, value_parser = parse_order)]
        order: Option<Order>,
        /// The cursor of the page, which the page before has printed.
        #[arg(long)]
        cursor: Option<Position>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a consent, with the tokens of the app for this user.
    Revoke {
        /// The id of the consent.
        #[arg(allow_hyphen_values = true)]
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    let (db, revocations) = (&services.db, &services.revocations);
    match command {
        Command::List {
            user,
            client,
            order,
            cursor,
            json,
        } => {
            let query = ListQuery {
                user_id: user,
                client_id: client,
                page: PageRequest::after(cursor, order),
                refused: Vec::new(),
            };
            print_page(json, &list::page(db, &query).await?, &COLUMNS, row)
        }
        Command::Revoke { id, json } => {
            let (events, context) = (EventRecorder::new(db.clone()), services.context());
            let revoked = administration::revoke_consent(db, revocations, &events, &id, &context).await;
            revoked.map_err(|error| match error {
                accounts::Error::NotFound => Error::NotFound(format!("no consent has the id {id:?}")),
                other => other.into(),
            })?;
            let revoked = serde_json::json!({ "id": id });
            print(json, &revoked, &[format!("{id} is revoked")])
        }
    }
}

fn row(consent: &Consent) -> [Cell; 6] {
    let access = &consent.access;
    [
        cell(&consent.id),
        cell(consent.user_id),
        cell(&consent.client_id),
        Some(format!("{:?}", access.scope)),
        cell(access.granted_at),
        access.last_used_at.map(|time| time.to_string()),
    ]
}
