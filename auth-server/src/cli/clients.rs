//! The commands `clients create`, `list`, `show`, `update`, `rotate-secret`, `disable`, `enable` and
//! `registration-tokens`.

mod arguments;
mod output;
pub(super) mod registration_tokens;

pub(super) use arguments::Command;

use super::{Error, Services, print};
use foundation::json;
use foundation::settings::InvalidSetting;
use http_client::{ForeignUrl, Guard};
use identity::clients;
use issuer::clients::{
    ClientChanges, DEFAULT_OVERLAP, Error as ClientError, MAX_JWKS_BYTES, Registration, disable, enable,
    register, rotate_secret, update,
};
use output::{print_client, print_with_secret, state};
use serde_json::Value;
use std::fmt::Display;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

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
            require_par,
            dpop_bound,
            device,
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
                require_pushed_authorization_requests: require_par,
                dpop_bound_access_tokens: dpop_bound,
                device_authorization: device,
                signed_user_info: false,
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
            require_par,
            dpop_bound,
            device,
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
                require_pushed_authorization_requests: require_par,
                dpop_bound_access_tokens: dpop_bound,
                device_authorization: device,
            };
            let context = services.context();
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

async fn create(services: &Services, registration: Registration, json: bool) -> Result<(), Error> {
    let (client, secret) =
        register(&services.db, &services.issuer, registration, &services.context()).await?;
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
