//! Files and directories that only their owner can access.

use crate::random;
use std::fs::{File, OpenOptions};
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
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Writes a file with mode 0600, atomically and durably: after a crash or a power failure, `path` holds
/// either the whole new file or its previous content. The directory of `path` must exist. `existing` selects
/// the treatment of a file that is already there.
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
