//! The commands `clients create`, `list` and `show`.

use super::{Error, Services, print};
use clap::Subcommand;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use identity::grants::clients;
use identity::grants::clients::{Client, ClientType};
use issuer::clients::{Registration, register};
use serde::Serialize;

/// The commands for client applications.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Register a client. The secret of a confidential client is printed once and not stored.
    Create {
        /// `client_id`.
        #[arg(long)]
        id: String,
        /// The name on the consent page.
        #[arg(long)]
        name: String,
        /// The type of client.
        #[arg(long = "type", value_name = "TYPE")]
        kind: ClientType,
        /// A redirect URI; may be repeated.
        #[arg(long = "redirect-uri", value_name = "URI", num_args = 1..)]
        redirect_uris: Vec<String>,
        /// The scope that the client may request, separated by spaces.
        #[arg(long)]
        scope: Scope,
        /// The scope of a request that names no scope.
        #[arg(long)]
        default_scope: Option<Scope>,
        /// The client belongs to the operator of this issuer, not to a third party.
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
struct CreatedClient<'a> {
    #[serde(flatten)]
    client: &'a Client,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<&'a str>,
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
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
            create(services, registration, json).await
        }
        Command::List { json } => {
            let clients = clients::list(&services.db).await?;
            let lines: Vec<String> = clients
                .iter()
                .map(|client| format!("{}  {}", client.id, client.name))
                .collect();
            print(json, &clients, &lines)
        }
        Command::Show { id, json } => {
            let client = clients::find(&services.db, &id).await?;
            let client = client.ok_or_else(|| Error::NotFound(format!("no client has the id {id:?}")))?;
            print(json, &client, &describe(&client))
        }
    }
}

async fn create(services: &Services, registration: Registration, json: bool) -> Result<(), Error> {
    let (client, secret) = register(&services.db, registration, &RequestContext::without_request()).await?;
    let client_secret = secret.as_ref().map(|secret| secret.expose());
    let mut lines = describe(&client);
    lines.extend(client_secret.map(|secret| format!("secret (printed only once): {secret}")));
    print(
        json,
        &CreatedClient {
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
