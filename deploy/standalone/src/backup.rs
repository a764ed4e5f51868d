//! The commands `backup` and `restore`.

use crate::first_start::{ACCOUNT_KEY, MASTER_KEY};
use auth_server::cli::SealingKeys;
use auth_server::restored;
use auth_server::settings::IssuerSettings;
use clap::Args;
use foundation::private_files::Existing;
use foundation::settings::create_data_dir;
use runtime::output::{self, Column, Table, cell};
use runtime::settings::CommonSettings;
use runtime::startup::Error;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use storage::db::{CheckedFile, FileError};

/// The tables whose rows are counted for a reader. JSON has all.
const MAIN_TABLES: [&str; 7] = [
    "users",
    "clients",
    "consents",
    "posts",
    "comments",
    "payments",
    "security_events",
];

const COLUMNS: [Column; 2] = [Column::Plain("item"), Column::Plain("value")];

/// The arguments of `backup` and of `restore`.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The backup.
    file: PathBuf,
    /// Replace an existing FILE by `backup`, or an existing database by `restore`.
    #[arg(long)]
    force: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    const fn existing(&self) -> Existing {
        match self.force {
            true => Existing::Replaced,
            false => Existing::Kept,
        }
    }
}

/// Prints what a checked file has, and then `notes`.
pub(crate) fn print(json: bool, checked: &CheckedFile, notes: &[(&str, String)]) -> Result<(), Error> {
    let texts = notes
        .iter()
        .map(|(name, text)| ((*name).to_owned(), Value::from(text.as_str())));
    let mut report: serde_json::Map<String, Value> = texts.collect();
    report.insert("schema".to_owned(), checked.schema.into());
    report.insert("rows".to_owned(), json!(checked.rows));
    let count = |table: &str| checked.rows.get(table).copied().unwrap_or_default();
    let counts = MAIN_TABLES.map(|table| [cell(table), cell(count(table))]);
    let notes = notes.iter().map(|(name, text)| [cell(name), cell(text)]);
    let rows = [[cell("schema"), cell(checked.schema)]].into_iter().chain(counts);
    output::print(json, &report, &Table::new(&COLUMNS, rows.chain(notes)))?;
    Ok(())
}

/// Returns where the keys are that open the secrets in the database.
pub(crate) fn key_places(common: &CommonSettings, issuer: &IssuerSettings) -> [(&'static str, String); 2] {
    let (master, account) = (&issuer.master_key, &common.account_key);
    let place = |name: &str, text: &Option<String>, file: &Option<PathBuf>, default: &str| match (text, file)
    {
        (Some(_), _) => format!("the setting {name}"),
        (None, Some(file)) => file.display().to_string(),
        (None, None) => common.data_dir.join(default).display().to_string(),
    };
    let master = place(
        "MASTER_KEY",
        &master.master_key,
        &master.master_key_file,
        MASTER_KEY,
    );
    let account = place(
        "ACCOUNT_KEY",
        &account.account_key,
        &account.account_key_file,
        ACCOUNT_KEY,
    );
    [("master_key", master), ("account_key", account)]
}

/// Copies the embedded database, beside a running program too, and says which keys belong to the copy.
pub(crate) async fn back_up(
    arguments: &Arguments,
    common: &CommonSettings,
    issuer: &IssuerSettings,
) -> Result<(), Error> {
    common.check()?;
    let url = common.database.url(&common.data_dir)?;
    let checked = url.back_up(&arguments.file, arguments.existing()).await;
    let checked = checked.map_err(failed)?;
    let note = "the backup has neither key: store both apart from it, because it is useless without them";
    let [master, account] = key_places(common, issuer);
    print(
        arguments.json,
        &checked,
        &[master, account, ("note", note.to_owned())],
    )
}

/// Puts a backup in the place of the embedded database, and ends in it whatever may have ended since.
pub(crate) async fn restore(
    arguments: &Arguments,
    common: &CommonSettings,
    issuer: &IssuerSettings,
    keys: SealingKeys,
) -> Result<(), Error> {
    common.check()?;
    let master_keys = keys.master?;
    keys.account?;
    create_data_dir(&common.data_dir)?;
    if !arguments.force {
        require_no_data(&common.data_dir)?;
    }
    let url = common.database.url(&common.data_dir)?;
    let restoration = url.begin_restore(&arguments.file, arguments.existing()).await;
    let restoration = restoration.map_err(failed)?;
    let db = restoration.open().await?;
    let ended = restored::end_all(&db, common, issuer, master_keys).await;
    db.close().await;
    drop(db);
    ended?;
    let checked = restoration.finish().await.map_err(failed)?;
    let ended = "all sessions, refresh tokens, access tokens, mailed links, recovery codes and initial access tokens; \
                 the mails that waited are not sent";
    let returned = "passwords, passkeys, two-step sign-in, roles, disabled and deleted accounts and apps, secrets of \
                    apps, consents: as they were at the time of the backup";
    let notes = [("ended", ended.to_owned()), ("returned", returned.to_owned())];
    print(arguments.json, &checked, &notes)
}

/// Fails if the directory has anything but keys.
fn require_no_data(data_dir: &Path) -> Result<(), Error> {
    for entry in std::fs::read_dir(data_dir)? {
        let path = entry?.path();
        if path.extension() != Some(OsStr::new("key")) {
            let path = path.display();
            let reason = format!("{path} exists: add --force to replace the database of this installation");
            return Err(Error::Other(reason));
        }
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
fn failed(error: FileError) -> Error {
    Error::Other(error.to_string())
}
