//! The first start generates the sealing keys and creates the administrator, the demo client, the demo app
//! and the client of the reference. A later start adds only what is missing.

use auth_server::clients::{Error as ClientError, Registration, disable, register};
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::private_files::{self, Existing};
use foundation::sealing::SealingKey;
use foundation::secret::Secret;
use foundation::settings::InvalidSetting;
use identity::accounts;
use identity::clients::{self, Client, ClientType};
use identity::users::{self, NewUser, Role};
use runtime::startup::{Error, Runtime};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

/// The e-mail address of the administrator.
pub(crate) const ADMINISTRATOR: &str = "admin@localhost";
/// The `client_id` of the demo client.
pub(crate) const DEMO_CLIENT_ID: &str = "demo";
/// The path of the demo client's redirect URI, and of the demo app.
pub(crate) const DEMO_PATH: &str = "/demo";
/// The `client_id` of the demo app.
pub(crate) const DEMO_APP_ID: &str = "demo-app";
/// The path of the demo app's redirect URI.
pub(crate) const DEMO_APP_CALLBACK: &str = "/demo/callback";
/// The `client_id` of the page of the reference that sends requests. The page proposes it.
const REFERENCE_ID: &str = "reference";
/// The path of that page, to which its sign-in returns.
const REFERENCE_PATH: &str = "/docs/try";
/// The file name of the master key.
pub(crate) const MASTER_KEY: &str = "master.key";
/// The file name of the account key.
pub(crate) const ACCOUNT_KEY: &str = "account.key";

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

/// Returns the configured key, or else the key in `file` of `data_dir`. Fails if that file is missing or
/// invalid.
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
    text.parse().map_err(|error| failed(&path, &error))
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> InvalidSetting {
    InvalidSetting(format!("{}: {error}", path.display()))
}

/// Creates the administrator if it is missing, and the demo clients if they are missing and the installation
/// is on loopback. Disables these if the installation has become one of production.
pub(crate) async fn bootstrap(runtime: &Runtime, is_production: bool) -> Result<Bootstrapped, Error> {
    let context = RequestContext::without_request();
    let password = create_administrator(runtime, &context).await?;
    let apps = [
        app(runtime, DEMO_APP_ID, "Latchkey demo app", DEMO_APP_CALLBACK),
        app(runtime, REFERENCE_ID, "API reference", REFERENCE_PATH),
    ];
    // Apps at a name such as id.localhost have no https, so no issuer registers them.
    let can_register = apps.iter().all(|app| app.check(&runtime.urls.issuer).is_ok());
    create_or_disable(runtime, demo_client(runtime), is_production, &context).await?;
    for app in apps.into_iter().filter(|_| can_register) {
        create_or_disable(runtime, app, is_production, &context).await?;
    }
    Ok(Bootstrapped {
        password,
        has_demo_app: can_register && !is_production,
    })
}

/// Creates a demo client if it is missing and the installation is on loopback. Disables it if the installation
/// has become one of production.
async fn create_or_disable(
    runtime: &Runtime,
    created: Registration,
    is_production: bool,
    context: &RequestContext,
) -> Result<(), Error> {
    let (db, issuer) = (&runtime.identity.db, &runtime.urls.issuer);
    let found = clients::find(db, &created.id).await?;
    let changed = match found {
        None if !is_production => register(db, issuer, created, context).await.map(|_| ()),
        Some(client) if is_production => disable_unchanged(runtime, &client, &created, context).await,
        _ => Ok(()),
    };
    match changed {
        Ok(()) | Err(ClientError::Taken(_)) => Ok(()),
        Err(error) => Err(Error::Other(error.to_string())),
    }
}

/// Disables a demo client, unless it is disabled or the operator has made another client of it. Any program
/// on a user's machine can act as these public first-party clients.
async fn disable_unchanged(
    runtime: &Runtime,
    client: &Client,
    created: &Registration,
    context: &RequestContext,
) -> Result<(), ClientError> {
    // The first redirect URI is at the former base URL, so only its path is compared.
    let is_unchanged = client.name == created.name
        && client.first_party
        && client.scope == created.scope
        && first_path(&client.redirect_uris) == first_path(&created.redirect_uris)
        && client.redirect_uris.get(1..) == created.redirect_uris.get(1..);
    if client.disabled_at.is_some() || !is_unchanged {
        return Ok(());
    }
    let (db, revocations) = (&runtime.identity.db, &runtime.identity.revocations);
    disable(db, revocations, &client.id, context).await?;
    tracing::warn!(
        client_id = client.id.as_str(),
        "the demo client is disabled, because this installation is not on loopback any more"
    );
    Ok(())
}

/// Returns the path of the first of these URIs, without the slash at its beginning.
fn first_path(uris: &[String]) -> Option<&str> {
    uris.first()?.splitn(4, '/').nth(3)
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

fn demo_client(runtime: &Runtime) -> Registration {
    let (id, name) = (DEMO_CLIENT_ID.to_owned(), "Latchkey demo".to_owned());
    Registration {
        redirect_uris: vec![
            runtime.policy.url(DEMO_PATH),
            "http://127.0.0.1/callback".to_owned(),
        ],
        post_logout_redirect_uris: vec![runtime.policy.url(DEMO_PATH)],
        first_party: true,
        ..Registration::new(id, name, ClientType::Spa, Role::User.scope())
    }
}

/// The demo client has its refresh tokens in bodies, for programs without a browser, and the apps in a
/// cookie. Their pages are on the origin of the issuer, which alone receives the cookie.
fn app(runtime: &Runtime, id: &str, name: &str, callback: &str) -> Registration {
    let (id, name) = (id.to_owned(), name.to_owned());
    Registration {
        redirect_uris: vec![format!("{}{callback}", runtime.urls.issuer)],
        first_party: true,
        refresh_cookie: true,
        ..Registration::new(id, name, ClientType::Spa, Role::User.scope())
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
