//! What the first start makes, and no later one: the sealing keys, the administrator, the demo client.

use auth_server::clients::{Registration, register};
use shared::config::Invalid;
use shared::events::{Context, Event, Name};
use shared::files::{Existing, write_private};
use shared::grants::clients::{self, ClientType};
use shared::identity::email::Email;
use shared::identity::users::{self, NewUser, Role};
use shared::seal::SealingKey;
use shared::secret::Secret;
use shared::start::{Error, Ground};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

const ADMINISTRATOR: &str = "admin@localhost";
const DEMO: &str = "demo";
/// The file of the issuer's key.
pub(crate) const MASTER_KEY: &str = "master.key";
/// The file of the key that seals what accounts keep.
pub(crate) const ACCOUNT_KEY: &str = "account.key";

/// Where the administrator's one-time password went.
pub(crate) enum OneTimePassword {
    /// To be shown, this once.
    Shown(Secret),
    /// Into a file, because nobody is looking.
    File(PathBuf),
}

/// The key that was given, else the one kept in this file of the data folder, made where there is none.
pub(crate) fn key(
    file: &str,
    given: Result<Option<SealingKey>, Invalid>,
    data_dir: &Path,
) -> Result<SealingKey, Invalid> {
    let given = given?;
    let path = data_dir.join(file);
    if given.is_none() && !path.exists() {
        match write_private(&path, &line(&SealingKey::generate().to_text()), Existing::Kept) {
            // Another start was faster: its key is the one.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => done.map_err(|error| Invalid(format!("{}: {error}", path.display())))?,
        }
    }
    kept_key(file, Ok(given), data_dir)
}

/// The key that was given, else the one kept in this file of the data folder.
pub(crate) fn kept_key(
    file: &str,
    given: Result<Option<SealingKey>, Invalid>,
    data_dir: &Path,
) -> Result<SealingKey, Invalid> {
    if let Some(given) = given? {
        return Ok(given);
    }
    let path = data_dir.join(file);
    let failed = |error: &dyn std::fmt::Display| Invalid(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    text.parse().map_err(|error| failed(&error))
}

/// Makes what is missing of the administrator and the demo client.
pub(crate) async fn bootstrap(ground: &Ground, data_dir: &Path) -> Result<Option<OneTimePassword>, Error> {
    let (db, context) = (&ground.identity.db, Context::shell());
    let password = make_administrator(ground, data_dir, &context).await?;
    if clients::find(db, DEMO).await?.is_none() {
        match register(db, demo_client(ground), &context).await {
            Ok(_) | Err(auth_server::clients::Error::Taken(_)) => {}
            Err(error) => return Err(Error::Other(error.to_string())),
        }
    }
    Ok(password)
}

/// Of several first starts at once one makes the administrator; only its password is kept.
async fn make_administrator(
    ground: &Ground,
    data_dir: &Path,
    context: &Context,
) -> Result<Option<OneTimePassword>, Error> {
    let (db, passwords) = (&ground.identity.db, &ground.identity.passwords);
    if users::has_administrator(db).await? {
        return Ok(None);
    }
    let other = |error: &dyn std::fmt::Display| Error::Other(error.to_string());
    let secret = passwords.one_time();
    let password = passwords.choose(secret.expose()).map_err(|error| other(&error))?;
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
    Event::success(Name::UserCreated)
        .user(admin.id)
        .record(&mut tx, context)
        .await?;
    // The password is safe before the account is: an account without one would be lost.
    let kept = match io::stdout().is_terminal() {
        true => OneTimePassword::Shown(secret),
        false => {
            let path = data_dir.join("admin-password");
            write_private(&path, &line(secret.expose()), Existing::Replaced)?;
            OneTimePassword::File(path)
        }
    };
    tx.commit().await?;
    Ok(Some(kept))
}

fn demo_client(ground: &Ground) -> Registration {
    Registration {
        id: DEMO.to_owned(),
        name: "Latchkey demo".to_owned(),
        kind: ClientType::Spa,
        redirect_uris: vec![
            ground.policy.url(crate::demo::PATH),
            "http://127.0.0.1/callback".to_owned(),
        ],
        scope: Role::User.scope(),
        default_scope: None,
        first_party: true,
    }
}

/// What a file of one line holds.
fn line(text: &str) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}
