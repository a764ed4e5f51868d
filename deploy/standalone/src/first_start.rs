//! What the first start makes, and no later one: the master key, the administrator, the demo client.

use auth_server::clients::{Registration, register};
use auth_server::config::Settings;
use shared::config::Invalid;
use shared::events::{Context, Event, Name};
use shared::grants::clients::ClientType;
use shared::identity::email::Email;
use shared::identity::users::{self, NewUser, Role};
use shared::random;
use shared::seal::SealingKey;
use shared::secret::Secret;
use shared::start::{Error, Ground};
use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const ADMINISTRATOR: &str = "admin@localhost";

/// Where the administrator's one-time password went.
pub(crate) enum OneTimePassword {
    /// To be shown, this once.
    Shown(Secret),
    /// Into a file, because nobody is looking.
    File(PathBuf),
}

/// The master key that was given, else the one kept in the data folder, made where there is none.
pub(crate) fn master_key(settings: &Settings, data_dir: &Path) -> Result<SealingKey, Invalid> {
    if let Some(given) = settings.master_key()? {
        return Ok(given);
    }
    let path = data_dir.join("master.key");
    let failed = |error: &dyn std::fmt::Display| Invalid(format!("{}: {error}", path.display()));
    match std::fs::read_to_string(&path) {
        Ok(text) => text.parse().map_err(|error| failed(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = SealingKey::generate();
            write_private(&path, &key.to_text()).map_err(|error| failed(&error))?;
            Ok(key)
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Makes the administrator and the demo client where no user has the administrator's role yet.
pub(crate) async fn bootstrap(ground: &Ground, data_dir: &Path) -> Result<Option<OneTimePassword>, Error> {
    let (db, passwords) = (&ground.identity.db, &ground.identity.passwords);
    if users::list(db).await?.iter().any(|user| user.role == Role::Admin) {
        return Ok(None);
    }
    let other = |error: &dyn std::fmt::Display| Error::Other(error.to_string());
    let secret = Secret::new(random::id());
    let new = NewUser {
        email: Email::parse(ADMINISTRATOR).map_err(|error| other(&error))?,
        role: Role::Admin,
        password_hash: passwords
            .hash(passwords.choose(secret.expose()).map_err(|error| other(&error))?)
            .await?,
        password_change_required: true,
    };
    // The password is safe before the account exists: an account without one would be lost.
    let kept = match io::stdout().is_terminal() {
        true => OneTimePassword::Shown(secret),
        false => {
            let path = data_dir.join("admin-password");
            let _ = std::fs::remove_file(&path);
            write_private(&path, secret.expose())?;
            OneTimePassword::File(path)
        }
    };
    let context = Context::shell();
    let mut tx = db.begin().await?;
    let admin = users::create(&mut tx, &new, context.now)
        .await
        .map_err(|error| other(&error))?;
    Event::success(Name::UserCreated)
        .user(admin.id)
        .record(&mut tx, &context)
        .await?;
    tx.commit().await?;
    register(db, demo_client(ground), &context)
        .await
        .map_err(|error| other(&error))?;
    Ok(Some(kept))
}

fn demo_client(ground: &Ground) -> Registration {
    Registration {
        id: "demo".to_owned(),
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

/// Writes a new file that this user alone may read. It appears whole or not at all, and never in the place
/// of another.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let draft = path.with_extension(random::id());
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    let linked = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft)?;
    linked
}
