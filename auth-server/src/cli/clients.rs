//! The commands `clients create`, `list`, `show`, `update`, `rotate-secret`, `disable` and `enable`.

mod output;

use super::{Error, Services, print};
use clap::{ArgGroup, Args, Subcommand};
use foundation::context::RequestContext;
use foundation::duration;
use foundation::json;
use foundation::scope::Scope;
use foundation::settings::InvalidSetting;
use http_client::{ForeignUrl, Guard};
use identity::grants::clients;
use identity::grants::clients::ClientType;
use issuer::clients::{
    ClientChanges, DEFAULT_OVERLAP, Error as ClientError, MAX_JWKS_BYTES, MAX_OVERLAP, MAX_RETRY_WINDOW,
    Registration, disable, enable, register, rotate_secret, update,
};
use output::{print_client, print_with_secret, state};
use serde_json::Value;
use std::fmt::Display;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
        /// A URI to which the browser may return after a logout; may be repeated.
        #[arg(long = "post-logout-redirect-uri", value_name = "URI", num_args = 1..)]
        post_logout_redirect_uris: Vec<String>,
        /// The URL that gets a logout token when a session of the client ends.
        #[arg(long, value_name = "URL")]
        backchannel_logout_uri: Option<String>,
        /// The scope that the client may request, separated by spaces.
        #[arg(long)]
        scope: Scope,
        /// The scope of a request that names no scope.
        #[arg(long)]
        default_scope: Option<Scope>,
        /// The client belongs to the operator of this issuer, not to a third party.
        #[arg(long)]
        first_party: bool,
        /// The issuer keeps the refresh token of a single-page app in a cookie that scripts cannot read. Every redirect URI must be
        /// same-site with the issuer.
        #[arg(long)]
        refresh_cookie: bool,
        /// The time after a refresh in which the same refresh token gets the same successor again while that is unused, so that a
        /// lost response or a second tab does not end the grant; 60s at most. By default 10s with --refresh-cookie, otherwise 0s.
        #[arg(long, value_name = "TIME", value_parser = parse_retry_window)]
        refresh_retry_window: Option<Duration>,
        /// A file with the public keys of a client that authenticates by signed assertions and not by a secret: a JWK set.
        #[arg(long, value_name = "FILE")]
        jwks: Option<PathBuf>,
        /// The URL of such a JWK set, in place of a file. The issuer fetches it.
        #[arg(long, value_name = "URL", conflicts_with = "jwks")]
        jwks_uri: Option<String>,
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
    /// Change the registration of a client. An option that is left out changes nothing. If the scope loses a part, all tokens of the
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
        /// A URI to which the browser may return after a logout; may be repeated. Replaces all present ones.
        #[arg(long = "post-logout-redirect-uri", value_name = "URI", num_args = 1.., group = "changes")]
        post_logout_redirect_uris: Option<Vec<String>>,
        /// The URL that gets a logout token when a session of the client ends. An empty text removes it.
        #[arg(long, value_name = "URL", group = "changes")]
        backchannel_logout_uri: Option<String>,
        /// The scope that the client may request, separated by spaces.
        #[arg(long, group = "changes")]
        scope: Option<Scope>,
        /// The scope of a request that names no scope.
        #[arg(long, group = "changes")]
        default_scope: Option<Scope>,
        /// Whether the client belongs to the operator of this issuer, not to a third party.
        #[arg(long, value_name = "BOOL", group = "changes")]
        first_party: Option<bool>,
        /// Whether the issuer keeps the refresh token of a single-page app in a cookie that scripts cannot read.
        #[arg(long, value_name = "BOOL", group = "changes")]
        refresh_cookie: Option<bool>,
        /// The time after a refresh in which the same refresh token gets the same successor again while that is unused; 60s at
        /// most.
        #[arg(long, value_name = "TIME", value_parser = parse_retry_window, group = "changes")]
        refresh_retry_window: Option<Duration>,
        /// A file with the JWK set that replaces the present keys.
        #[arg(long, value_name = "FILE", group = "changes")]
        jwks: Option<PathBuf>,
        /// The URL of the JWK set that replaces the present keys.
        #[arg(long, value_name = "URL", group = "changes", conflicts_with = "jwks")]
        jwks_uri: Option<String>,
    },
    /// Give a confidential client a new secret, which is printed once and not stored. A client has at most two valid secrets:
    /// another rotation within the overlap ends the oldest one.
    RotateSecret {
        #[command(flatten)]
        args: ClientArgs,
        /// The time for which the former secret stays valid; 24h by default, 0s ends it at once, 30d at most.
        #[arg(long, value_name = "TIME", value_parser = parse_overlap)]
        overlap: Option<Duration>,
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

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    match command {
        Command::Create {
            id,
            name,
            kind,
            redirect_uris,
            post_logout_redirect_uris,
            backchannel_logout_uri,
            scope,
            default_scope,
            first_party,
            refresh_cookie,
            refresh_retry_window,
            jwks,
            jwks_uri,
            json,
        } => {
            let registration = Registration {
                id,
                name,
                kind,
                redirect_uris,
                post_logout_redirect_uris,
                backchannel_logout_uri: parse_url(
                    "backchannel_logout_uri",
                    backchannel_logout_uri,
                    services,
                )?,
                scope,
                default_scope,
                first_party,
                refresh_cookie,
                refresh_retry_window,
                jwks: jwks.as_deref().map(read_jwks).transpose()?,
                jwks_uri: parse_url("jwks_uri", jwks_uri, services)?,
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
            post_logout_redirect_uris,
            backchannel_logout_uri,
            scope,
            default_scope,
            first_party,
            refresh_cookie,
            refresh_retry_window,
            jwks,
            jwks_uri,
        } => {
            let changes = ClientChanges {
                name,
                redirect_uris,
                post_logout_redirect_uris,
                backchannel_logout_uri: match backchannel_logout_uri.as_deref() {
                    Some("") => Some(None),
                    _ => parse_url("backchannel_logout_uri", backchannel_logout_uri, services)?.map(Some),
                },
                scope,
                default_scope,
                first_party,
                refresh_cookie,
                refresh_retry_window,
                jwks: jwks.as_deref().map(read_jwks).transpose()?,
                jwks_uri: parse_url("jwks_uri", jwks_uri, services)?,
            };
            let context = RequestContext::without_request();
            let client = update(
                &services.db,
                &services.revocations,
                &services.issuer,
                &args.id,
                changes,
                &context,
            )
            .await?;
            print_client(&client, args.json)
        }
        Command::RotateSecret { args, overlap } => {
            let context = RequestContext::without_request();
            let overlap = overlap.unwrap_or(DEFAULT_OVERLAP);
            let (client, secret) = rotate_secret(&services.db, &args.id, overlap, &context).await?;
            print_with_secret(&client, Some(&secret), args.json)
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

async fn create(services: &Services, registration: Registration, json: bool) -> Result<(), Error> {
    let (client, secret) = register(
        &services.db,
        &services.issuer,
        registration,
        &RequestContext::without_request(),
    )
    .await?;
    print_with_secret(&client, secret.as_ref(), json)
}

/// Reads a JWK set. Fails if the file cannot be read, is too large or is not JSON.
fn read_jwks(path: &Path) -> Result<Value, Error> {
    let invalid = |reason: &dyn Display| InvalidSetting(format!("{}: {reason}", path.display()));
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| invalid(&error))?;
    let read = file.take(MAX_JWKS_BYTES as u64 + 1).read_to_end(&mut text);
    if read.map_err(|error| invalid(&error))? > MAX_JWKS_BYTES {
        return Err(invalid(&"a JWK set must have at most 64 KiB").into());
    }
    Ok(json::parse(&text).map_err(|error| invalid(&error))?)
}

/// Parses a URL of a client. Fails if the issuer may not call it.
fn parse_url(name: &str, text: Option<String>, services: &Services) -> Result<Option<ForeignUrl>, Error> {
    let guard = Guard::of_server(&services.issuer);
    let parse = |text: String| {
        let url = guard.parse(&text);
        url.map_err(|flaw| InvalidSetting(format!("the {name} {text:?}: {flaw}")))
    };
    Ok(text.map(parse).transpose()?)
}

fn parse_overlap(text: &str) -> Result<Duration, String> {
    duration::parse_up_to(MAX_OVERLAP, text)
}

fn parse_retry_window(text: &str) -> Result<Duration, String> {
    duration::parse_up_to(MAX_RETRY_WINDOW, text)
}
