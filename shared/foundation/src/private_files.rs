//! Files and directories that only their owner can access.

use crate::random;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The treatment of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The existing file is kept, and the write fails with [`io::ErrorKind::AlreadyExists`].
    Kept,
    /// The existing file is replaced.
    Replaced,
}

/// Creates the directory `path` and its missing parents with mode 0700. Succeeds if the directory exists.
pub fn create_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file with mode 0600, atomically and durably: after a crash or a power failure, `path` holds
/// either the whole new file or its previous content. The directory of `path` must exist. `existing` selects
/// the treatment of a file that is already there, see [`place`].
pub fn write(path: &Path, bytes: &[u8], existing: Existing) -> io::Result<()> {
    let draft = path.with_extension(random::id());
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    let placed = place(&draft, path, existing);
    // The draft is still there if it was linked or could not be placed.
    let _ = fs::remove_file(&draft);
    placed?;
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

/// Moves `draft` to `path` in the same directory, atomically. With [`Existing::Kept`], `draft` may remain as
/// a second name, and without hard links a crash may leave an empty file at `path`.
pub fn place(draft: &Path, path: &Path, existing: Existing) -> io::Result<()> {
    if existing == Existing::Replaced {
        return fs::rename(draft, path);
    }
    match fs::hard_link(draft, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // Without hard links, an empty file reserves the name; creating it fails if the name is taken.
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600).open(path)?;
            // A network file system may report an error although it has renamed the draft.
            let is_reserved = || path.metadata().is_ok_and(|file| file.len() == 0);
            let renamed = fs::rename(draft, path);
            if renamed.is_err() && is_reserved() {
                let _ = fs::remove_file(path);
            }
            renamed
        }
        linked => linked,
    }
}
