//! The commands `clients create`, `list`, `show`, `update`, `disable` and `enable`.

use super::{Error, Services, print};
use clap::{ArgGroup, Args, Subcommand};
use foundation::context::RequestContext;
use foundation::scope::Scope;
use identity::grants::clients;
use identity::grants::clients::{Client, ClientType};
use issuer::clients::{ClientChanges, Error as ClientError, Registration, disable, enable, register, update};
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
    Show(ClientArgs),
    /// Change the registration of a client. What is not named stays as it is. If the scope loses a part, all tokens of the
    /// client end.
    #[command(group(ArgGroup::new("changes").required(true).multiple(true)))]
    Update {
        #[command(flatten)]
        args: ClientArgs,
        /// The name on the consent page.
        #[arg(long, group = "changes")]
        name: Option<String>,
        /// A redirect URI; may be repeated. Replaces all present ones.
        #[arg(long = "redirect-uri", value_name = "URI", num_args = 1.., group = "changes")]
        redirect_uris: Option<Vec<String>>,
        /// The scope that the client may request, separated by spaces.
        #[arg(long, group = "changes")]
        scope: Option<Scope>,
        /// The scope of a request that names no scope.
        #[arg(long, group = "changes")]
        default_scope: Option<Scope>,
        /// Whether the client belongs to the operator of this issuer, not to a third party.
        #[arg(long, value_name = "BOOL", group = "changes")]
        first_party: Option<bool>,
    },
    /// Disable a client: all its codes and tokens end, and it can neither begin a flow nor authenticate.
    Disable(ClientArgs),
    /// Enable a disabled client. Its former tokens stay revoked.
    Enable(ClientArgs),
}

/// The arguments of a command for one client.
#[derive(Args, Debug)]
pub struct ClientArgs {
    /// `client_id`.
    id: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
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
                .map(|client| format!("{}  {}{}", client.id, client.name, state(client)))
                .collect();
            print(json, &clients, &lines)
        }
        Command::Show(args) => {
            let client = clients::find(&services.db, &args.id).await?;
            print_client(&client.ok_or(ClientError::NotFound(args.id))?, args.json)
        }
        Command::Update {
            args,
            name,
            redirect_uris,
            scope,
            default_scope,
            first_party,
        } => {
            let changes = ClientChanges {
                name,
                redirect_uris,
                scope,
                default_scope,
                first_party,
            };
            let context = RequestContext::without_request();
            let client = update(&services.db, &services.revocations, &args.id, changes, &context).await?;
            print_client(&client, args.json)
        }
        Command::Disable(args) => {
            let context = RequestContext::without_request();
            let client = disable(&services.db, &services.revocations, &args.id, &context).await?;
            print_client(&client, args.json)
        }
        Command::Enable(args) => {
            let client = enable(&services.db, &args.id, &RequestContext::without_request()).await?;
            print_client(&client, args.json)
        }
    }
}

fn print_client(client: &Client, json: bool) -> Result<(), Error> {
    print(json, client, &describe(client))
}

/// Returns the words that follow the name of a disabled client.
fn state(client: &Client) -> &'static str {
    match client.disabled_at {
        Some(_) => "  disabled",
        None => "",
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
    lines.extend(client.disabled_at.map(|at| format!("disabled: {at}")));
    lines.extend(
        client
            .redirect_uris
            .iter()
            .map(|uri| format!("redirect URI: {uri}")),
    );
    lines
}
