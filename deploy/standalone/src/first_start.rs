//! The first start generates the sealing keys and creates the administrator, the demo client, the demo app
//! and the client of the reference. A later start adds only what is missing.

use auth_server::clients::{Error as ClientError, Registration, register};
use auth_server::demo_clients;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::private_files::{self, Existing};
use foundation::sealing::SealingKey;
use foundation::secret::Secret;
use foundation::settings::InvalidSetting;
use identity::accounts;
use identity::clients;
use identity::users::{self, NewUser, Role};
use runtime::startup::{Error, Runtime};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use storage::db::Db;

/// The e-mail address of the administrator.
pub(crate) const ADMINISTRATOR: &str = "admin@localhost";
/// The file name of the master key.
pub(crate) const MASTER_KEY: &str = "master.key";
/// The file name of the account key.
pub(crate) const ACCOUNT_KEY: &str = "account.key";
/// Explains an empty key file, which [`private_files::place`] may leave, and tells what to do.
const IS_EMPTY: &str = "the file is empty: another start is about to write the key, or one was interrupted. \
                        Start again; if it is still empty, delete it in a new installation, and otherwise \
                        restore it from a backup";

/// The place where the operator finds the initial password of the administrator, which must be replaced at
/// sign-in.
pub(crate) enum InitialPassword {
    /// The terminal: the banner shows the password once.
    Terminal(Secret),
    /// A file, because standard output is not a terminal.
    File(PathBuf),
}

/// The outcome of [`bootstrap`].
pub(crate) struct Bootstrapped {
    /// The initial password, if this start created the administrator.
    pub(crate) password: Option<InitialPassword>,
    /// Whether the demo app is registered.
    pub(crate) has_demo_app: bool,
}

/// The place where the front page says that the initial password is.
#[derive(Clone)]
pub(crate) enum PasswordPlace {
    /// The terminal in which the program runs.
    Terminal,
    /// This file.
    File(String),
}

impl InitialPassword {
    /// Returns the place of the password.
    pub(crate) fn place(&self) -> PasswordPlace {
        match self {
            Self::Terminal(_) => PasswordPlace::Terminal,
            Self::File(path) => PasswordPlace::File(path.display().to_string()),
        }
    }
}

/// Returns the configured key, or else the key in `file` of `data_dir`. Generates a missing file. Fails if
/// the file is invalid, or cannot be read or written.
pub(crate) fn load_or_generate_key(
    configured: Option<SealingKey>,
    file: &str,
    data_dir: &Path,
) -> Result<SealingKey, InvalidSetting> {
    if let Some(key) = find_key(configured, file, data_dir)? {
        return Ok(key);
    }
    let (path, key) = (data_dir.join(file), SealingKey::generate());
    match private_files::write(&path, &line(&key.to_text()), Existing::Kept) {
        // Another process started at the same time and wrote its key first: use that one.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        written => written.map_err(|error| failed(&path, &error))?,
    }
    load_key(None, file, data_dir)
}

/// Returns the configured key, or else the key in `file` of `data_dir`, or `None` if that file is missing.
/// Fails if the file is invalid or cannot be read.
pub(crate) fn find_key(
    configured: Option<SealingKey>,
    file: &str,
    data_dir: &Path,
) -> Result<Option<SealingKey>, InvalidSetting> {
    let path = data_dir.join(file);
    let is_stored = || path.try_exists().map_err(|error| failed(&path, &error));
    match configured.is_some() || is_stored()? {
        true => load_key(configured, file, data_dir).map(Some),
        false => Ok(None),
    }
}

/// Returns the configured key, or else the key in `file` of `data_dir`. Fails if that file is missing, empty
/// or invalid.
pub(crate) fn load_key(
    configured: Option<SealingKey>,
    file: &str,
    data_dir: &Path,
) -> Result<SealingKey, InvalidSetting> {
    if let Some(key) = configured {
        return Ok(key);
    }
    let path = data_dir.join(file);
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
    if text.is_empty() {
        return Err(failed(&path, &IS_EMPTY));
    }
    text.parse().map_err(|error| failed(&path, &error))
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> InvalidSetting {
    InvalidSetting(format!("{}: {error}", path.display()))
}

/// Creates the administrator if it is missing, and the demo clients if they are missing and the installation
/// is on loopback.
pub(crate) async fn bootstrap(runtime: &Runtime, is_production: bool) -> Result<Bootstrapped, Error> {
    let context = RequestContext::without_request();
    let password = create_administrator(runtime, &context).await?;
    let has_demo_app = !is_production && create_demo_clients(runtime, &context).await?;
    Ok(Bootstrapped {
        password,
        has_demo_app,
    })
}

/// Creates the demo clients that are missing. Returns whether the apps among them can be registered.
async fn create_demo_clients(runtime: &Runtime, context: &RequestContext) -> Result<bool, Error> {
    let [demo_client, apps @ ..] = demo_clients::registrations(runtime);
    // Apps at a name such as id.localhost have no https, so no issuer registers them.
    let can_register = apps.iter().all(|app| app.check(&runtime.urls.issuer).is_ok());
    create(runtime, demo_client, context).await?;
    for app in apps.into_iter().filter(|_| can_register) {
        create(runtime, app, context).await?;
    }
    Ok(can_register)
}

/// Creates a client if it is missing.
async fn create(runtime: &Runtime, created: Registration, context: &RequestContext) -> Result<(), Error> {
    let (db, issuer) = (&runtime.identity.db, &runtime.urls.issuer);
    if clients::find(db, &created.id).await?.is_some() {
        return Ok(());
    }
    match register(db, issuer, created, context).await {
        Ok(_) | Err(ClientError::Taken(_)) => Ok(()),
        Err(error) => Err(Error::Other(error.to_string())),
    }
}

/// Creates an administrator unless there is one. If several processes do this at the same time, one of them
/// creates the account; the others return `None` and write no password.
async fn create_administrator(
    runtime: &Runtime,
    context: &RequestContext,
) -> Result<Option<InitialPassword>, Error> {
    let (db, passwords) = (&runtime.identity.db, &runtime.identity.passwords);
    if users::has_administrator(db).await? {
        return Ok(None);
    }
    let other = |error: &dyn std::fmt::Display| Error::Other(error.to_string());
    let (password, secret) = passwords.generate().await?;
    let new = NewUser {
        email: Email::parse(ADMINISTRATOR).map_err(|error| other(&error))?,
        role: Role::Admin,
        password,
    };
    let mut tx = db.begin().await?;
    match accounts::create(&mut tx, &new, context).await {
        Ok(_) => {}
        Err(users::Error::EmailTaken) => return Ok(None),
        Err(users::Error::Database(error)) => return Err(error.into()),
    }
    // The file is written before the commit, because nobody could use an account whose password was lost.
    let password = match io::stdout().is_terminal() {
        true => InitialPassword::Terminal(secret),
        false => {
            let path = runtime.data_dir.join("admin-password");
            private_files::write(&path, &line(secret.expose()), Existing::Replaced)?;
            InitialPassword::File(path)
        }
    };
    tx.commit().await?;
    Ok(Some(password))
}

/// Returns whether the administrator still has the initial password, as far as the database answers.
pub(crate) async fn has_initial_password(db: &Db) -> bool {
    match Email::parse(ADMINISTRATOR) {
        Ok(email) => users::has_initial_password(db, &email).await.unwrap_or(true),
        Err(_) => false,
    }
}

/// Returns the content of a file with one line.
fn line(text: &str) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No key is generated in place of one that may exist. Here the directory is a file, because root may
    /// search every directory.
    #[test]
    fn a_key_that_cannot_be_looked_for_is_not_missing() {
        let file = std::env::current_exe().unwrap();
        assert!(find_key(None, MASTER_KEY, &file).is_err());
    }
}
