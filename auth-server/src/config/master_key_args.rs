//! Settings of the master key.

use clap::Args;
use foundation::sealing::SealingKey;
use foundation::settings::{InvalidSetting, read_key};
use std::path::PathBuf;

/// The master key, given as text or in a file.
#[derive(Args, Clone, Debug)]
pub struct MasterKeyArgs {
    /// The key that seals signing keys and authorization requests, and from which refresh tokens are derived: 32 random
    /// bytes, base64url.
    #[arg(
        long,
        env = "LATCHKEY_MASTER_KEY",
        global = true,
        value_name = "KEY",
        hide_env_values = true
    )]
    pub master_key: Option<String>,

    /// A file that contains the master key.
    #[arg(long, env = "LATCHKEY_MASTER_KEY_FILE", global = true, value_name = "FILE")]
    pub master_key_file: Option<PathBuf>,
}

impl MasterKeyArgs {
    /// Fails if both settings are set, the file cannot be read, or the key is malformed.
    pub(super) fn check(&self) -> Result<(), InvalidSetting> {
        self.read().map(|_| ())
    }

    /// Returns the key, or `None` if it is not set. Fails as [`MasterKeyArgs::check`] does.
    pub(super) fn read(&self) -> Result<Option<SealingKey>, InvalidSetting> {
        read_key(
            "MASTER_KEY",
            self.master_key.as_deref(),
            self.master_key_file.as_deref(),
        )
    }
}
