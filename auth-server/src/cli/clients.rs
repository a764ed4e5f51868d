//! The commands `clients create`, `list`, `show`, `update`, `rotate-secret`, `disable`, `enable` and
//! `registration-tokens`.

mod arguments;
mod output;
pub(super) mod registration_tokens;

pub(super) use arguments::Command;

use super::{Error, Services, print_table};
use foundation::json;
use foundation::settings::InvalidSetting;
use http_client::{ForeignUrl, Guard};
use identity::clients::{self, list};
use issuer::clients::{
    ClientChanges, DEFAULT_OVERLAP, Error as ClientError, MAX_JWKS_BYTES, Registration, disable, enable,
    register, rotate_secret, update,
};
use output::{print_client, print_with_secret};
use runtime::output::{Column, Table, cell};
use serde_json::Value;
use std::fmt::Display;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use storage::paging::read_all;

const COLUMNS: [Column; 3] = [Column::Plain("id"), Column::Plain("name"), Column::Plain("state")];

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    match command {
        Command::Create(args) => {
            let uri = args.backchannel_logout_uri;
            let registration = Registration {
                redirect_uris: args.redirect_uris,
                post_logout_redirect_uris: args.post_logout_redirect_uris,
                backchannel_logout_uri: parse_url("backchannel_logout_uri", uri, services)?,
                default_scope: args.default_scope,
                first_party: args.first_party,
                refresh_cookie: args.refresh_cookie,
                refresh_retry_window: args.refresh_retry_window,
                jwks: args.jwks.as_deref().map(read_jwks).transpose()?,
                jwks_uri: parse_url("jwks_uri", args.jwks_uri, services)?,
                require_pushed_authorization_requests: args.require_par,
                dpop_bound_access_tokens: args.dpop_bound,
                device_authorization: args.device,
                ..Registration::new(args.id, args.name, args.kind, args.scope)
            };
            let (db, context) = (&services.db, services.context());
            let (client, secret) = register(db, &services.issuer, registration, &context).await?;
            print_with_secret(&client, secret.as_ref(), args.json)
        }
        Command::List(args) => {
            let read = async |cursor| list::page(&services.db, &args.query(cursor)).await;
            let clients = read_all(read).await?;
            let rows = clients.iter().map(|client| {
                let state = client.disabled_at.map(|_| "disabled".to_owned());
                [cell(&client.id), cell(&client.name), state]
            });
            print_table(args.json, &clients, &Table::new(&COLUMNS, rows))
        }
        Command::Show(args) => {
            let client = clients::find(&services.db, &args.id).await?;
            print_client(&client.ok_or(ClientError::NotFound(args.id))?, args.json)
        }
        Command::Update(args) => {
            let changes = ClientChanges {
                name: args.name,
                redirect_uris: args.redirect_uris,
                post_logout_redirect_uris: args.post_logout_redirect_uris,
                backchannel_logout_uri: match args.backchannel_logout_uri.as_deref() {
                    Some("") => Some(None),
                    _ => {
                        parse_url("backchannel_logout_uri", args.backchannel_logout_uri, services)?.map(Some)
                    }
                },
                scope: args.scope,
                default_scope: args.default_scope,
                first_party: args.first_party,
                refresh_cookie: args.refresh_cookie,
                refresh_retry_window: args.refresh_retry_window,
                jwks: args.jwks.as_deref().map(read_jwks).transpose()?,
                jwks_uri: parse_url("jwks_uri", args.jwks_uri, services)?,
                require_pushed_authorization_requests: args.require_par,
                dpop_bound_access_tokens: args.dpop_bound,
                device_authorization: args.device,
            };
            let (db, revocations, issuer) = (&services.db, &services.revocations, &services.issuer);
            let (id, context) = (&args.client.id, services.context());
            let client = update(db, revocations, issuer, id, changes, &context).await?;
            print_client(&client, args.client.json)
        }
        Command::RotateSecret { args, overlap } => {
            let context = services.context();
            let overlap = overlap.unwrap_or(DEFAULT_OVERLAP);
            let (client, secret) = rotate_secret(&services.db, &args.id, overlap, &context).await?;
            print_with_secret(&client, Some(&secret), args.json)
        }
        Command::Disable(args) => {
            let context = services.context();
            let client = disable(&services.db, &services.revocations, &args.id, &context).await?;
            print_client(&client, args.json)
        }
        Command::Enable(args) => {
            let client = enable(&services.db, &args.id, &services.context()).await?;
            print_client(&client, args.json)
        }
        Command::RegistrationTokens(command) => registration_tokens::run(command, services).await,
    }
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
