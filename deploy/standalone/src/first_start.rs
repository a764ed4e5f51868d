//! The first start: it generates the sealing keys and creates the administrator and the demo client. Later starts change
//! nothing.

use audit::events::{Event, EventName};
use auth_server::clients::{Registration, register};
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::private_files::{Existing, write};
use foundation::sealing::SealingKey;
use foundation::secret::Secret;
use foundation::settings::InvalidSetting;
use identity::grants::clients;
use identity::grants::clients::ClientType;
use identity::users;
use identity::users::{NewUser, Role};
use runtime::startup::{Error, Runtime};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

const ADMINISTRATOR: &str = "admin@localhost";
const DEMO: &str = "demo";
/// The file of the master key.
pub(crate) const MASTER_KEY: &str = "master.key";
/// The file of the account key.
pub(crate) const ACCOUNT_KEY: &str = "account.key";

/// The place of the administrator's one-time password.
pub(crate) enum OneTimePassword {
    /// Standard output is a terminal: the banner shows it once.
    Terminal(Secret),
    /// Standard output is no terminal: it was written to this file.
    File(PathBuf),
}

/// Returns the configured key, else the key in this file of the data folder, which is generated where it is missing.
pub(crate) fn key(
    file: &str,
    given: Result<Option<SealingKey>, InvalidSetting>,
    data_dir: &Path,
) -> Result<SealingKey, InvalidSetting> {
    let given = given?;
    let path = data_dir.join(file);
    if given.is_none() && !path.exists() {
        match write(&path, &line(&SealingKey::generate().to_text()), Existing::Kept) {
            // Another process started at the same time and wrote its key first: use that one.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => done.map_err(|error| InvalidSetting(format!("{}: {error}", path.display())))?,
        }
    }
    stored_key(file, Ok(given), data_dir)
}

/// Returns the configured key, else the key in this file of the data folder.
pub(crate) fn stored_key(
    file: &str,
    given: Result<Option<SealingKey>, InvalidSetting>,
    data_dir: &Path,
) -> Result<SealingKey, InvalidSetting> {
    if let Some(given) = given? {
        return Ok(given);
    }
    let path = data_dir.join(file);
    let failed = |error: &dyn std::fmt::Display| InvalidSetting(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    text.parse().map_err(|error| failed(&error))
}

/// Creates the administrator and the demo client where they are missing. Returns the administrator's one-time password
/// if it was created now.
pub(crate) async fn bootstrap(runtime: &Runtime, data_dir: &Path) -> Result<Option<OneTimePassword>, Error> {
    let (db, context) = (&runtime.identity.db, RequestContext::shell());
    let password = create_administrator(runtime, data_dir, &context).await?;
    if clients::find(db, DEMO).await?.is_none() {
        match register(db, demo_client(runtime), &context).await {
            Ok(_) | Err(auth_server::clients::Error::Taken(_)) => {}
            Err(error) => return Err(Error::Other(error.to_string())),
        }
    }
    Ok(password)
}

/// Creates the administrator. Of several first starts at the same time one succeeds, and only its password is kept.
async fn create_administrator(
    runtime: &Runtime,
    data_dir: &Path,
    context: &RequestContext,
) -> Result<Option<OneTimePassword>, Error> {
    let (db, passwords) = (&runtime.identity.db, &runtime.identity.passwords);
    if users::has_administrator(db).await? {
        return Ok(None);
    }
    let other = |error: &dyn std::fmt::Display| Error::Other(error.to_string());
    let secret = passwords.generate();
    let password = passwords
        .parse_new(secret.expose())
        .map_err(|error| other(&error))?;
    let new = NewUser {
        email: Email::parse(ADMINISTRATOR).map_err(|error| other(&error))?,
        role: Role::Admin,
        password_hash: passwords.hash(password).await?,
        password_change_required: true,
    };
    let mut tx = db.begin().await?;
    let admin = match users::create(&mut tx, &new, context.now).await {
        Ok(admin) => admin,
        Err(users::Error::EmailTaken) => return Ok(None),
        Err(users::Error::Database(error)) => return Err(error.into()),
    };
    Event::success(EventName::UserCreated)
        .user(admin.id)
        .record(&mut tx, context)
        .await?;
    // The password is kept before the commit: an account whose password is lost could not be used.
    let kept = match io::stdout().is_terminal() {
        true => OneTimePassword::Terminal(secret),
        false => {
            let path = data_dir.join("admin-password");
            write(&path, &line(secret.expose()), Existing::Replaced)?;
            OneTimePassword::File(path)
        }
    };
    tx.commit().await?;
    Ok(Some(kept))
}

fn demo_client(runtime: &Runtime) -> Registration {
    Registration {
        id: DEMO.to_owned(),
        name: "Latchkey demo".to_owned(),
        kind: ClientType::Spa,
        redirect_uris: vec![
            runtime.policy.url(crate::demo::PATH),
            "http://127.0.0.1/callback".to_owned(),
        ],
        scope: Role::User.scope(),
        default_scope: None,
        first_party: true,
    }
}

/// Returns the content of a file with one line.
fn line(text: &str) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}
