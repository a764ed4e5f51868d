//! `clients create|list|show`.

use super::{Error, Shell, print};
use crate::clients::{Registration, register};
use clap::Subcommand;
use serde::Serialize;
use shared::events::Context;
use shared::grants::clients::{self, Client, ClientType};
use shared::scope::Scope;

/// What can be done with client applications.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Register a client. The secret of a confidential one is shown once.
    Create {
        /// `client_id`.
        #[arg(long)]
        id: String,
        /// The name shown at consent.
        #[arg(long)]
        name: String,
        /// What kind of program it is.
        #[arg(long = "type", value_name = "TYPE")]
        kind: ClientType,
        /// Where its users may be sent back to; may be repeated.
        #[arg(long = "redirect-uri", value_name = "URI", num_args = 1..)]
        redirect_uris: Vec<String>,
        /// What it may ask for, separated by spaces.
        #[arg(long)]
        scope: Scope,
        /// What it gets when it asks for nothing.
        #[arg(long)]
        default_scope: Option<Scope>,
        /// It is ours, rather than a third party's.
        #[arg(long)]
        first_party: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the clients.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show one client.
    Show {
        /// `client_id`.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Serialize)]
struct Created<'a> {
    #[serde(flatten)]
    client: &'a Client,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<&'a str>,
}

pub(super) async fn run(command: Command, shell: &Shell) -> Result<(), Error> {
    match command {
        Command::Create {
            id,
            name,
            kind,
            redirect_uris,
            scope,
            default_scope,
            first_party,
            json,
        } => {
            let registration = Registration {
                id,
                name,
                kind,
                redirect_uris,
                scope,
                default_scope,
                first_party,
            };
            create(shell, registration, json).await
        }
        Command::List { json } => {
            let clients = clients::list(&shell.db).await?;
            let lines: Vec<String> = clients
                .iter()
                .map(|client| format!("{}  {}", client.id, client.name))
                .collect();
            print(json, &clients, &lines)
        }
        Command::Show { id, json } => {
            let client = clients::find(&shell.db, &id).await?;
            let client = client.ok_or_else(|| Error::NotFound(format!("no client has the id {id:?}")))?;
            print(json, &client, &describe(&client))
        }
    }
}

async fn create(shell: &Shell, registration: Registration, json: bool) -> Result<(), Error> {
    let (client, secret) = register(&shell.db, registration, &Context::shell()).await?;
    let client_secret = secret.as_ref().map(|secret| secret.expose());
    let mut lines = describe(&client);
    lines.extend(client_secret.map(|secret| format!("secret, shown this once: {secret}")));
    print(
        json,
        &Created {
            client: &client,
            client_secret,
        },
        &lines,
    )
}

fn describe(client: &Client) -> Vec<String> {
    let mut lines = vec![
        format!("id: {}", client.id),
        format!("name: {}", client.name),
        format!("scope: {}", client.scope),
        format!("default scope: {}", client.default_scope),
        format!("first party: {}", client.first_party),
    ];
    lines.extend(
        client
            .redirect_uris
            .iter()
            .map(|uri| format!("redirect URI: {uri}")),
    );
    lines
}
