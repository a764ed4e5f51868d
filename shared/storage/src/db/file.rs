//! An SQLite database as a file: copied while it is in use, checked, and put in the place of another one.

mod check;

use super::connector::connect_to_file;
use super::copy_mark;
use super::{DatabaseUrl, Db, Engine, Error};
use check::check;
pub(super) use check::check_content;
pub use check::{CheckedFile, STATEMENTS};
use foundation::private_files::{self, Existing};
use foundation::random;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, Sqlite};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time in which a file whose connections close on threads of their own is released.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// The reason why a database file was not copied or replaced.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The database is not a file.
    #[error("the database is on PostgreSQL: use pg_dump and pg_restore")]
    NotEmbedded,
    /// The target exists.
    #[error("{} exists: add --force to replace it", .0.display())]
    Exists(PathBuf),
    /// Another process uses the target.
    #[error("{} is in use: stop the program that uses it", .0.display())]
    InUse(PathBuf),
    /// The backup is a database that was not closed, or that is in use.
    #[error("{} exists, so the file beside it is not whole: restore one that the command backup wrote", .0.display())]
    HasJournal(PathBuf),
    /// The schema is newer than the program.
    #[error(
        "the database has the migration {0}, which this program does not know: use the version that wrote it, or \
         a newer one"
    )]
    NewerSchema(i64),
    /// The content is not that of a whole database.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] Error),
    /// A file operation failed.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

impl From<sqlx::Error> for FileError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

/// A database file beside its target, which is deleted when this value is dropped.
#[derive(Debug)]
struct Draft(PathBuf);

/// A copy of a backup that is about to take the place of the database.
#[derive(Debug)]
pub struct Restoration {
    draft: Draft,
    url: DatabaseUrl,
    target: PathBuf,
    existing: Existing,
}

impl DatabaseUrl {
    /// Copies the SQLite database to `target`, durably and with mode 0600, while other processes read and
    /// write it. The copy has all transactions that were committed before, and takes the place of `target`
    /// once it has passed all checks. The directory of `target` must exist.
    pub async fn back_up(&self, target: &Path, existing: Existing) -> Result<CheckedFile, FileError> {
        let file = self.sqlite()?.get_filename();
        let target = std::path::absolute(target).map_err(failed(target))?;
        match target.canonicalize() {
            Ok(replaced) if file.canonicalize().is_ok_and(|source| source == replaced) => {
                return Err(FileError::InUse(target));
            }
            Ok(_) if existing == Existing::Kept => return Err(FileError::Exists(target)),
            _ => {}
        }
        // A missing database is an error, and not an empty one.
        let mut connection = connect_to_file(file).await?;
        let (draft, _) = Draft::create(&target)?;
        let path = draft.0.to_str().map(str::to_owned);
        let copy = sqlx::query::<Sqlite>("VACUUM INTO $1").bind(path);
        copy.execute(&mut connection).await?;
        connection.close().await?;
        let checked = check(&draft.0).await?;
        draft.place(&target, existing)?;
        Ok(checked)
    }

    /// Copies `backup` beside the SQLite database and checks the copy. Fails if there is a database, unless
    /// it may be replaced and no process uses it, and if the backup has a newer schema than this program.
    pub async fn begin_restore(&self, backup: &Path, existing: Existing) -> Result<Restoration, FileError> {
        let options = self.sqlite()?;
        let file = options.get_filename();
        // A symbolic link stays, and the file that it names is replaced.
        let target = file.canonicalize().or_else(|_| std::path::absolute(file));
        let target = target.map_err(failed(file))?;
        release_target(&target, existing).await?;
        let backup = backup.canonicalize().map_err(failed(backup))?;
        let is_used = |path: &PathBuf| path.metadata().is_ok_and(|file| file.len() > 0);
        if let Some(journal) = companions(&backup).into_iter().find(is_used) {
            return Err(FileError::HasJournal(journal));
        }
        let mut source = File::open(&backup).map_err(failed(&backup))?;
        let (draft, mut file) = Draft::create(&target)?;
        io::copy(&mut source, &mut file).map_err(failed(&draft.0))?;
        drop(file);
        check(&draft.0).await?;
        Ok(Restoration {
            url: Self(Engine::Sqlite(Box::new(options.clone().filename(&draft.0)))),
            draft,
            target,
            existing,
        })
    }

    /// Returns the options of the SQLite database.
    pub(super) fn sqlite(&self) -> Result<&SqliteConnectOptions, FileError> {
        match &self.0 {
            Engine::Sqlite(options) => Ok(options),
            Engine::Postgres(_) => Err(FileError::NotEmbedded),
        }
    }
}

impl Restoration {
    /// Opens the copy and applies the migrations that it lacks. The backup may be one of a database that was
    /// copied to PostgreSQL: the restored one is in use again. The caller closes it before
    /// [`finish`](Self::finish).
    pub async fn open(&self) -> Result<Db, Error> {
        let db = Db::open(&self.url, 1, 1).await?;
        db.migrate().await?;
        copy_mark::remove(&db).await?;
        Ok(db)
    }

    /// Checks the copy again and puts it in the place of the database.
    pub async fn finish(self) -> Result<CheckedFile, FileError> {
        let draft = &self.draft.0;
        release_closing(draft).await?;
        let checked = check(draft).await?;
        release_target(&self.target, self.existing).await?;
        // SQLite would apply the journal of another database to this one.
        remove_companions(&self.target)?;
        self.draft.place(&self.target, self.existing)?;
        Ok(checked)
    }
}

impl Draft {
    fn create(target: &Path) -> Result<(Self, File), FileError> {
        let path = target.with_extension(random::id());
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(failed(&path))?;
        Ok((Self(path), file))
    }

    /// Moves the file to its target, durably.
    fn place(self, target: &Path, existing: Existing) -> Result<(), FileError> {
        let move_file = || -> io::Result<()> {
            File::open(&self.0)?.sync_all()?;
            private_files::place(&self.0, target, existing)?;
            File::open(target.parent().unwrap_or(target))?.sync_all()
        };
        move_file().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists(target.to_owned()),
            _ => FileError::Io(target.to_owned(), error),
        })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let _ = remove_companions(&self.0);
    }
}

/// Fails unless `target` is missing, or may be replaced and is not in use. A damaged one may be replaced.
async fn release_target(target: &Path, existing: Existing) -> Result<(), FileError> {
    match (target.try_exists().map_err(failed(target))?, existing) {
        (false, _) => Ok(()),
        (true, Existing::Kept) => Err(FileError::Exists(target.to_owned())),
        (true, Existing::Replaced) => match release(target).await {
            Err(FileError::Database(Error::Failed(_))) => Ok(()),
            released => released,
        },
    }
}

/// Writes the journal of a database into its file, without which the file is not whole. Fails with
/// [`FileError::InUse`] if another connection is open: each holds a lock as long as there is a journal.
async fn release(file: &Path) -> Result<(), FileError> {
    let mut connection = connect_to_file(file).await?;
    let mode = sqlx::query_as::<_, (String,)>("PRAGMA journal_mode = DELETE")
        .fetch_one(&mut connection)
        .await
        .map_err(Error::from);
    connection.close().await?;
    match mode {
        Ok((mode,)) if mode == "delete" => Ok(()),
        Ok(_) | Err(Error::Unavailable(_)) => Err(FileError::InUse(file.to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// Releases a file as [`release`] does. Waits for connections that are closing.
pub(super) async fn release_closing(file: &Path) -> Result<(), FileError> {
    let began = Instant::now();
    while let Err(error) = release(file).await {
        // An attempt itself waits for another process that has the file to itself, such as another copy.
        if began.elapsed() >= RELEASE_TIMEOUT || !matches!(error, FileError::InUse(_)) {
            return Err(error);
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// Returns the paths of the files that SQLite keeps beside a database while it is open.
fn companions(file: &Path) -> [PathBuf; 3] {
    ["-wal", "-shm", "-journal"].map(|suffix| {
        let mut path = file.as_os_str().to_owned();
        path.push(suffix);
        path.into()
    })
}

/// Removes these files.
fn remove_companions(file: &Path) -> Result<(), FileError> {
    for path in companions(file) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(FileError::Io(path, error)),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the conversion of an error of the file at this path.
fn failed(path: &Path) -> impl FnOnce(io::Error) -> FileError + use<> {
    let path = path.to_owned();
    move |error| FileError::Io(path, error)
}
