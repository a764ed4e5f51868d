//! Files that one user alone may read.

use crate::random;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// What becomes of a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays as it is, and writing fails with [`io::ErrorKind::AlreadyExists`].
    Kept,
    /// The new one takes its place.
    Replaced,
}

/// Makes a folder for this user alone, and those above it that are missing.
pub fn create_dir(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Writes a file for this user alone. It appears whole or not at all, and outlives a power cut.
pub fn write(path: &Path, bytes: &[u8], existing: Existing) -> io::Result<()> {
    let draft = path.with_extension(random::id());
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    if existing == Existing::Replaced {
        std::fs::rename(&draft, path)?;
    } else {
        let linked = std::fs::hard_link(&draft, path);
        std::fs::remove_file(&draft)?;
        linked?;
    }
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}
