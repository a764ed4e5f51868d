//! The commands `keys list`, `rotate`, `retire`, `drill` and `reseal`.

mod drill;

use super::{Error, Services, print};
use clap::Subcommand;
use drill::DrillArgs;
use foundation::clock::Timestamp;
use issuer::keys::{self, Key, KeyChange, KeyStore, Outcome, Resealed};

/// The commands for signing keys.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the signing keys, oldest first.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Activate the staged key and stage the next one.
    Rotate {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Replace the active key, or delete a retired key whose last token has expired.
    Retire {
        /// The `kid` of the key.
        kid: String,
        /// The key may be compromised: delete it immediately and revoke every token that it signed.
        #[arg(long)]
        compromised: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Rotate the keys as often as wanted while every replica is under load, and fail if a replica refuses a valid
    /// token.
    Drill(DrillArgs),
    /// Seal every row under MASTER_KEY that MASTER_KEY_PREVIOUS seals.
    Reseal {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(command: Command, services: Services) -> Result<(), Error> {
    match command {
        Command::List { json } => {
            let keys = keys::all(&services.db).await?;
            let lines: Vec<String> = keys.iter().map(line).collect();
            print(json, &keys, &lines)
        }
        Command::Rotate { json } => {
            let change = key_store(&services)?.rotate(&services.context()).await?;
            print(json, &change, &describe(&change))
        }
        Command::Retire {
            kid,
            compromised,
            json,
        } => {
            let (store, context) = (key_store(&services)?, services.context());
            let change = match compromised {
                true => store.discard(&kid, None, &context).await?,
                false => store.retire(&kid, &context).await?,
            };
            print(json, &change, &describe(&change))
        }
        Command::Drill(args) => drill::run(args, services).await,
        Command::Reseal { json } => {
            let context = services.context();
            let done = keys::reseal(&services.db, &services.keys.master?, &context).await?;
            print(json, &done, &[describe_reseal(&done)])
        }
    }
}

fn key_store(services: &Services) -> Result<KeyStore, Error> {
    Ok(KeyStore {
        db: services.db.clone(),
        master_keys: services.keys.master.clone()?,
        bits: services.settings.signing_keys.key_bits,
        max_age: services.settings.signing_keys.jwks_max_age,
        lifetime: services.settings.signing_keys.signing_key_lifetime,
        notifications: services.notifications.clone(),
        revocations: services.revocations.clone(),
    })
}

fn line(key: &Key) -> String {
    let mut line = format!("{}  {}", key.kid, key.state.as_str());
    let times: [(&str, Option<Timestamp>); 6] = [
        ("created", Some(key.created_at)),
        ("may sign after", Some(key.sign_after)),
        ("activated", key.activated_at),
        ("retired", key.retired_at),
        ("last token expires", key.dead_after),
        ("deleted", key.deleted_at),
    ];
    for (label, time) in times {
        line.extend(time.map(|time| format!("  {label} {time}")));
    }
    if key.compromised {
        line.push_str("  compromised");
    }
    line
}

fn describe(change: &KeyChange) -> Vec<String> {
    let kid = change.kid.as_deref().unwrap_or("no key");
    let outcome = match change.outcome {
        Outcome::Rotated => format!("{kid} is retired"),
        Outcome::Overtaken => "a concurrent change of the keys came first".to_owned(),
        Outcome::Deleted => format!("{kid} is deleted"),
        Outcome::Discarded => format!("{kid} is deleted, and every token that it signed is revoked"),
    };
    let active = match (&change.active, change.caches_may_lack_it_until) {
        (Some(active), None) => format!("{active} is active"),
        (Some(active), Some(until)) => format!(
            "{active} is active; the API knows it at once, and other verifiers may refuse its tokens until {until}, when \
             their caches of the JWKS have expired"
        ),
        (None, _) => "no key is active: a running issuer stages and activates one".to_owned(),
    };
    let staged = change.staged.as_ref();
    let staged = staged.map(|staged| format!("{staged} is staged"));
    [outcome, active].into_iter().chain(staged).collect()
}

fn describe_reseal(done: &Resealed) -> String {
    match done.resealed {
        0 => "every row was sealed under MASTER_KEY already".to_owned(),
        rows => format!(
            "{rows} rows are now sealed under MASTER_KEY: restart every issuer without MASTER_KEY_PREVIOUS"
        ),
    }
}
