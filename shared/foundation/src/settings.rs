//! The error of an invalid setting, and helpers that several crates use for their settings.

use crate::private_files;
use crate::sealing::SealingKey;
use crate::secret::Secret;
use std::path::Path;

/// An invalid setting. The message names the setting and the remedy.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSetting(pub String);

/// Creates the directory of the setting DATA_DIR with mode 0700. Succeeds if it exists.
pub fn create_data_dir(path: &Path) -> Result<(), InvalidSetting> {
    private_files::create_dir(path)
        .map_err(|error| InvalidSetting(format!("DATA_DIR {}: {error}", path.display())))
}

/// Reads the secret setting `name` from its value or its file, without surrounding white space. Returns `None` if
/// neither is set. Fails if both are set or the file cannot be read.
pub fn read_secret(
    name: &str,
    value: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<Secret>, InvalidSetting> {
    let text = match (value, file) {
        (Some(_), Some(_)) => {
            return Err(InvalidSetting(format!(
                "{name} and {name}_FILE are both set: set only one of them"
            )));
        }
        (None, None) => return Ok(None),
        (Some(value), None) => value.to_owned(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| InvalidSetting(format!("{name}_FILE {}: {error}", file.display())))?,
    };
    Ok(Some(Secret::new(text.trim())))
}

/// Reads the sealing key `name` from its value or its file. Returns `None` if neither is set. Fails if both are set, the
/// file cannot be read, or the text is not a key.
pub fn read_key(
    name: &str,
    value: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<SealingKey>, InvalidSetting> {
    let text = read_secret(name, value, file)?;
    let key = text.map(|text| text.expose().parse()).transpose();
    key.map_err(|error| InvalidSetting(format!("{name}: {error}")))
}
