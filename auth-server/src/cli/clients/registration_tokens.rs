//! The commands `clients registration-tokens create`, `list` and `revoke`.

use super::super::{Error, Services, print, print_table};
use clap::{Subcommand, value_parser};
use foundation::duration;
use issuer::registrations::initial_tokens::{
    self, DEFAULT_LIFETIME, MAX_LIFETIME, MAX_USES, NewRegistrationToken, RegistrationToken,
};
use runtime::output::{Cell, Column, Table, cell};
use std::time::Duration;

const COLUMNS: [Column; 2] = [Column::Plain("id"), Column::Labeled("registers")];

/// The commands for initial access tokens.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a token with which others register clients at `/register`. It is printed once and not stored.
    Create {
        /// The number of clients that it can register.
        #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = value_parser!(i64).range(1..=MAX_USES))]
        uses: i64,
        /// The time until it ends, 365d at most. By default 24h.
        #[arg(long, value_name = "TIME", value_parser = parse_lifetime)]
        lifetime: Option<Duration>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the tokens that have not expired.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token. The clients that it registered stay.
    Revoke {
        /// The id of the token.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    let (db, context) = (&services.db, services.context());
    match command {
        Command::Create { uses, lifetime, json } => {
            let lifetime = lifetime.unwrap_or(DEFAULT_LIFETIME);
            let (description, secret) = initial_tokens::create(db, uses, lifetime, &context).await?;
            let created = NewRegistrationToken {
                description: &description,
                token: secret.expose(),
            };
            let secret = format!("token (printed only once): {}", created.token);
            let lines = Table::new(&COLUMNS, [row(&description)]).with_notes([secret]);
            print(json, &created, &lines.to_lines())
        }
        Command::List { json } => {
            let tokens = initial_tokens::list(db, context.now).await?;
            print_table(json, &tokens, &Table::new(&COLUMNS, tokens.iter().map(row)))
        }
        Command::Revoke { id, json } => {
            if !initial_tokens::revoke(db, &id, &context).await? {
                let reason = format!("no initial access token has the id {id:?}");
                return Err(Error::NotFound(reason));
            }
            let revoked = serde_json::json!({ "id": id });
            print(json, &revoked, &[format!("{id} is revoked")])
        }
    }
}

fn row(token: &RegistrationToken) -> [Cell; 2] {
    let (uses, end) = (token.uses_left, token.expires_at);
    [cell(&token.id), Some(format!("{uses} more clients until {end}"))]
}

fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = duration::parse_up_to(MAX_LIFETIME, text)?;
    match lifetime.is_zero() {
        false => Ok(lifetime),
        true => Err("the duration must be at least 1s".to_owned()),
    }
}
