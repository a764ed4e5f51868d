//! The commands `keys list`, `verifiers`, `rotate`, `retire`, `drill` and `reseal`.

mod rotation_drill;

use super::{Error, Services, print, print_table};
use access_tokens::verifiers::{Kind, KnownVerifier};
use clap::Subcommand;
use drill::DrillArgs;
use foundation::list_query::Order;
use issuer::keys::list::{self, ListedKey};
use issuer::keys::{self, KeyChange, KeyStore, Outcome, Readiness, Resealed, State};
use runtime::output::{Cell, Column, Table, cell};
use std::io::{self, IsTerminal as _, Write as _};

const KEY_COLUMNS: [Column; 10] = [
    Column::Plain("kid"),
    Column::Plain("state"),
    Column::Labeled("created"),
    Column::Labeled("may sign after"),
    Column::Labeled("activated"),
    Column::Labeled("retired"),
    Column::Labeled("last token expires"),
    Column::Labeled("deleted"),
    Column::Plain("note"),
    Column::Plain("live tokens"),
];

const VERIFIER_COLUMNS: [Column; 7] = [
    Column::Plain("kind"),
    Column::Plain("name"),
    Column::Plain("user agent"),
    Column::Labeled("reported"),
    Column::Labeled("fetched"),
    Column::Labeled("has"),
    Column::Labeled("dropped"),
];

/// The commands for signing keys.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the signing keys, oldest first, and the verifiers that lack the staged one.
    List {
        /// Only keys in this state: `staged`, `active`, `retired` or `deleted`.
        #[arg(long, value_parser = parse_state)]
        state: Option<State>,
        /// The order: `desc` lists the newest key first.
        #[arg(long, value_parser = super::parse_order)]
        order: Option<Order>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the programs that verify tokens, with the keys that they have: replicas of the API that were not
    /// stopped, and other clients that fetched the key set within the last day.
    Verifiers {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Activate the staged key and stage the next one. Asks first if a verifier lacks the staged key.
    Rotate {
        /// Rotate although a verifier may lack the staged key, without asking.
        #[arg(long)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Replace the active key, or delete a retired key whose last token has expired. Asks before the
    /// replacement if a verifier lacks the staged key.
    Retire {
        /// The `kid` of the key.
        kid: String,
        /// The key may be compromised: delete it immediately and revoke every token that it signed.
        #[arg(long)]
        compromised: bool,
        /// Replace the active key although a verifier may lack the staged key, without asking.
        #[arg(long)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Rotate the keys as often as wanted while every replica is under load, and fail if a replica refuses a
    /// valid token.
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
        Command::List { state, order, json } => {
            let keys = keys::all(&services.db).await?;
            let now = services.clock.now();
            let readiness = keys::readiness(&services.db, &keys, now).await?;
            let keys = list::with_live_tokens(&services.db, selected(keys, state, order), now).await?;
            let table = Table::new(&KEY_COLUMNS, keys.iter().map(key_row));
            let unready = readiness.name_unready().into_iter();
            let unready = unready.map(|name| format!("without the staged key: {name}"));
            let notes = [summary(&readiness)].into_iter().chain(unready);
            print_table(json, &keys, &table.with_notes(notes))
        }
        Command::Verifiers { json } => {
            let keys = keys::all(&services.db).await?;
            let readiness = keys::readiness(&services.db, &keys, services.clock.now()).await?;
            if !json {
                print(json, &readiness, &[summary(&readiness)])?;
            }
            let rows = readiness.verifiers.iter().map(verifier_row);
            print_table(json, &readiness, &Table::new(&VERIFIER_COLUMNS, rows))
        }
        Command::Rotate { yes, json } => {
            let store = key_store(&services)?;
            confirm_rotation(&services, yes).await?;
            let change = store.rotate(&services.context()).await?;
            print(json, &change, &describe(&change))
        }
        Command::Retire {
            kid,
            compromised,
            yes,
            json,
        } => {
            let store = key_store(&services)?;
            let change = match compromised {
                true => store.discard(&kid, None, &services.context()).await?,
                false => {
                    if store.find(&kid).await?.state == State::Active {
                        confirm_rotation(&services, yes).await?;
                    }
                    store.retire(&kid, &services.context()).await?
                }
            };
            print(json, &change, &describe(&change))
        }
        Command::Drill(args) => rotation_drill::run(&args, &key_store(&services)?, &services).await,
        Command::Reseal { json } => {
            let context = services.context();
            let done = keys::reseal(&services.db, &services.keys.master?, &context).await?;
            print(json, &done, &[describe_reseal(&done)])
        }
    }
}

/// Asks whether to rotate the keys if a verifier lacks the staged key, unless `yes` answers. Fails with
/// [`Error::Unconfirmed`] if nobody can be asked, because standard input is no terminal, and with
/// [`Error::Declined`] if the answer is no.
async fn confirm_rotation(services: &Services, yes: bool) -> Result<(), Error> {
    let (keys, now) = (keys::all(&services.db).await?, services.clock.now());
    // A rotation without a key that may sign fails, whatever the answer.
    let can_rotate = keys::in_state(&keys, State::Staged).is_some_and(|staged| staged.sign_after <= now);
    if yes || !can_rotate {
        return Ok(());
    }
    let readiness = keys::readiness(&services.db, &keys, now).await?;
    let Err(unready) = readiness.require_all() else {
        return Ok(());
    };
    if !io::stdin().is_terminal() {
        return Err(Error::Unconfirmed(unready));
    }
    let mut prompt = io::stderr();
    write!(prompt, "{unready}\nRotate the keys nevertheless? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Error::Declined),
    }
}

fn summary(readiness: &Readiness) -> String {
    let Readiness { api, clients, .. } = readiness;
    match readiness.staged {
        None => "no key is staged".to_owned(),
        Some(_) => format!(
            "the staged key is at {} of {} replicas of the API, and at {} of {} other clients that fetched the keys within the last day",
            api.ready, api.all, clients.ready, clients.all
        ),
    }
}

fn verifier_row(verifier: &KnownVerifier) -> [Cell; 7] {
    let seen_at = verifier.seen_at;
    let dropped = verifier.dropped.iter();
    let dropped: Vec<String> = dropped.map(|key| format!("{} {}", key.kid, key.at)).collect();
    let dropped = (!dropped.is_empty()).then(|| dropped.join("  dropped "));
    let (name, kids) = (cell(&verifier.name), Some(verifier.kids.join(" ")));
    match verifier.kind {
        Kind::Api => {
            let silent = if verifier.silent { " silent since" } else { "" };
            let reported = Some(format!("{seen_at}{silent}"));
            [cell("api"), name, None, reported, None, kids, dropped]
        }
        Kind::Client => {
            let again = if verifier.revalidates { " again" } else { "" };
            let (agent, fetched) = (format!("{:?}", verifier.user_agent), format!("{seen_at}{again}"));
            [cell("client"), name, Some(agent), None, Some(fetched), kids, None]
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

fn key_row(ListedKey { key, live_tokens }: &ListedKey) -> [Cell; 10] {
    [
        cell(&key.kid),
        cell(key.state.as_str()),
        cell(key.created_at),
        cell(key.sign_after),
        key.activated_at.map(|time| time.to_string()),
        key.retired_at.map(|time| time.to_string()),
        key.dead_after.map(|time| time.to_string()),
        key.deleted_at.map(|time| time.to_string()),
        key.compromised.then(|| "compromised".to_owned()),
        (*live_tokens > 0).then(|| format!("about {live_tokens} live access tokens")),
    ]
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

/// Returns the keys to list. All keys are given, the oldest first.
fn selected(mut keys: Vec<keys::Key>, state: Option<State>, order: Option<Order>) -> Vec<keys::Key> {
    keys.retain(|key| state.is_none_or(|state| key.state == state));
    if order == Some(Order::Descending) {
        keys.reverse();
    }
    keys
}

fn parse_state(text: &str) -> Result<State, &'static str> {
    State::named(text).ok_or("a state is staged, active, retired or deleted")
}
