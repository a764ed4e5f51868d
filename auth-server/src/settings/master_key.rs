//! Settings of the master key and of the one that it replaces.

use clap::Args;
use foundation::sealing::SealingKey;
use foundation::settings::{InvalidSetting, read_key};
use issuer::keys::MasterKeys;
use std::path::PathBuf;

/// The master key and the previous one, each given as text or in a file.
#[derive(Args, Clone, Debug)]
pub struct MasterKeySettings {
    /// The key that seals the signing keys, and the secret from which refresh tokens are derived: 32 random
    /// bytes, base64url.
    #[arg(
        long,
        env = "LATCHKEY_MASTER_KEY",
        global = true,
        value_name = "KEY",
        hide_env_values = true,
        allow_hyphen_values = true
    )]
    pub master_key: Option<String>,

    /// A file that contains the master key.
    #[arg(long, env = "LATCHKEY_MASTER_KEY_FILE", global = true, value_name = "FILE")]
    pub master_key_file: Option<PathBuf>,

    /// The key that MASTER_KEY replaces, until `keys reseal` has run.
    #[arg(
        long,
        env = "LATCHKEY_MASTER_KEY_PREVIOUS",
        global = true,
        value_name = "KEY",
        hide_env_values = true,
        allow_hyphen_values = true
    )]
    pub master_key_previous: Option<String>,

    /// A file that contains the previous master key.
    #[arg(
        long,
        env = "LATCHKEY_MASTER_KEY_PREVIOUS_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub master_key_previous_file: Option<PathBuf>,
}

impl MasterKeySettings {
    /// Fails if a key is set as text and in a file, a file cannot be read, or a key is malformed.
    pub(super) fn check(&self) -> Result<(), InvalidSetting> {
        self.read()?;
        self.read_previous().map(|_| ())
    }

    /// Returns the key, or `None` if it is not set. Fails if the key is set as text and in a file, the file
    /// cannot be read, or the key is malformed.
    pub fn read(&self) -> Result<Option<SealingKey>, InvalidSetting> {
        let (key, file) = (&self.master_key, &self.master_key_file);
        read_key("MASTER_KEY", key.as_deref(), file.as_deref())
    }

    /// Returns `current` with the previous key, if that is set. Fails as [`MasterKeySettings::read`] does, and
    /// if the two are the same key.
    pub fn with_previous(&self, current: SealingKey) -> Result<MasterKeys, InvalidSetting> {
        let previous = self.read_previous()?;
        if previous.as_ref() == Some(&current) {
            return Err(InvalidSetting(
                "MASTER_KEY_PREVIOUS is the same key as MASTER_KEY (or DATA_DIR/master.key): set MASTER_KEY to a new \
                 key, or remove MASTER_KEY_PREVIOUS"
                    .to_owned(),
            ));
        }
        Ok(MasterKeys { current, previous })
    }

    fn read_previous(&self) -> Result<Option<SealingKey>, InvalidSetting> {
        let (key, file) = (&self.master_key_previous, &self.master_key_previous_file);
        read_key("MASTER_KEY_PREVIOUS", key.as_deref(), file.as_deref())
    }
}
