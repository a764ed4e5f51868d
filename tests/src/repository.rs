//! The repository that the tests are part of.

use std::path::Path;

/// Returns its directory.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
