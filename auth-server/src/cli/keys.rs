//! `keys list|rotate|retire`.

use super::{Error, Shell, print};
use crate::keys::{self, Change, Done, Key, KeyStore};
use clap::Subcommand;
use shared::clock::Timestamp;

/// What can be done with signing keys.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the signing keys, oldest first.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let the staged key sign from now on, and stage the next one.
    Rotate {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Rotate away from the active key, or delete a retired one whose last token is dead.
    Retire {
        /// `kid`.
        kid: String,
        /// Somebody else may have the key: delete it at once, and accept no token that it signed.
        #[arg(long)]
        compromised: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: Command, shell: Shell) -> Result<(), Error> {
    match command {
        Command::List { json } => {
            let keys = keys::list(&shell.db).await?;
            let lines: Vec<String> = keys.iter().map(line).collect();
            print(json, &keys, &lines)
        }
        Command::Rotate { json } => {
            let change = store(shell)?.rotate().await?;
            print(json, &change, &describe(&change))
        }
        Command::Retire {
            kid,
            compromised,
            json,
        } => {
            let store = store(shell)?;
            let change = match compromised {
                true => store.discard(&kid).await?,
                false => store.retire(&kid).await?,
            };
            print(json, &change, &describe(&change))
        }
    }
}

fn store(shell: Shell) -> Result<KeyStore, Error> {
    Ok(KeyStore {
        db: shell.db,
        master_key: shell.keys.master?,
        bits: shell.settings.key_bits,
        max_age: shell.settings.jwks_max_age,
        feed: shell.feed,
    })
}

fn line(key: &Key) -> String {
    let mut line = format!("{}  {}", key.kid, key.state.as_str());
    let times: [(&str, Option<Timestamp>); 6] = [
        ("created", Some(key.created_at)),
        ("activates after", Some(key.sign_after)),
        ("activated", key.activated_at),
        ("retired", key.retired_at),
        ("dead after", key.dead_after),
        ("deleted", key.deleted_at),
    ];
    for (what, time) in times {
        line.extend(time.map(|time| format!("  {what} {time}")));
    }
    if key.compromised {
        line.push_str("  compromised");
    }
    line
}

fn describe(change: &Change) -> Vec<String> {
    let kid = change.kid.as_deref().unwrap_or("no key");
    let done = match change.done {
        Done::Rotated => format!("{kid} signs no more"),
        Done::Overtaken => "another change of the keys came first".to_owned(),
        Done::Deleted => format!("{kid} is deleted"),
        Done::Discarded => format!("{kid} is deleted, and no token that it signed is accepted"),
    };
    let signs = match (&change.active, change.signs_again_at) {
        (Some(active), _) => format!("{active} signs"),
        (None, Some(at)) => format!("no key signs before {at}: until then /token answers 503"),
        (None, None) => "no key signs: a running issuer stages one".to_owned(),
    };
    let staged = change.staged.as_ref();
    let ready = staged.map(|staged| format!("{staged} is staged"));
    [done, signs].into_iter().chain(ready).collect()
}
