//! Settings of the master key.

use clap::Args;
use foundation::sealing::SealingKey;
use foundation::settings::{InvalidSetting, read_key};
use std::path::PathBuf;

/// The key that seals signing keys, authorization requests and, by derivation, refresh tokens.
#[derive(Args, Clone, Debug)]
pub struct MasterKeyArgs {
    /// The key that seals signing keys and derives refresh tokens: 32 random bytes, base64url.
    #[arg(
        long,
        env = "LATCHKEY_MASTER_KEY",
        global = true,
        value_name = "KEY",
        hide_env_values = true
    )]
    pub master_key: Option<String>,

    /// The same, in a file.
    #[arg(long, env = "LATCHKEY_MASTER_KEY_FILE", global = true, value_name = "FILE")]
    pub master_key_file: Option<PathBuf>,
}

impl MasterKeyArgs {
    /// Fails if the key is set and cannot be read.
    pub(super) fn check(&self) -> Result<(), InvalidSetting> {
        self.read().map(|_| ())
    }

    /// Returns the key, if it is set.
    pub(super) fn read(&self) -> Result<Option<SealingKey>, InvalidSetting> {
        read_key(
            "MASTER_KEY",
            self.master_key.as_deref(),
            self.master_key_file.as_deref(),
        )
    }
}
