//! The error type for invalid settings, and shared helpers that read settings.

use crate::private_files;
use crate::sealing::SealingKey;
use crate::secret::Secret;
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

/// An invalid setting. The message names the setting and the problem, and the remedy where it is not obvious.
/// Names omit the prefix `LATCHKEY_`.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSetting(pub String);

/// Creates the directory that DATA_DIR names, with mode 0700. Succeeds if the directory exists.
pub fn create_data_dir(path: &Path) -> Result<(), InvalidSetting> {
    private_files::create_dir(path)
        .map_err(|error| InvalidSetting(format!("DATA_DIR {}: {error}", path.display())))
}

/// Returns the secret given as `value`, or the content of `file`, trimmed. `name` appears in error messages
/// only. Returns `None` if neither is set. Fails if both are set or the file cannot be read.
pub fn read_secret(
    name: &str,
    value: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<Secret>, InvalidSetting> {
    let text = match (value, file) {
        (Some(_), Some(_)) => {
            return Err(InvalidSetting(format!(
                "{name} and {name}_FILE are both set: set only one of them; `config show` tells where"
            )));
        }
        (None, None) => return Ok(None),
        (Some(value), None) => value.to_owned(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| InvalidSetting(format!("{name}_FILE {}: {error}", file.display())))?,
    };
    Ok(Some(Secret::new(text.trim())))
}

/// Returns `value`, or the value in `file`, which is parsed like the setting itself, for settings such as
/// URLs that hold a password. `name` appears in error messages only. Returns `None` if neither is set. Fails
/// if both are set, the file cannot be read, or its content is malformed.
pub fn read_parsed<T>(name: &str, value: Option<&T>, file: Option<&Path>) -> Result<Option<T>, InvalidSetting>
where
    T: Clone + FromStr<Err: Display>,
{
    let in_file = read_secret(name, value.map(|_| ""), file)?;
    match (value, in_file) {
        (None, Some(text)) => {
            let parsed = text.expose().parse();
            parsed
                .map(Some)
                .map_err(|error| InvalidSetting(format!("{name}_FILE: {error}")))
        }
        (value, _) => Ok(value.cloned()),
    }
}

/// Returns the sealing key given as `value`, or the one in `file`. `name` appears in error messages only.
/// Returns `None` if neither is set. Fails if both are set, the file cannot be read, or the key is malformed.
pub fn read_key(
    name: &str,
    value: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<SealingKey>, InvalidSetting> {
    let text = read_secret(name, value, file)?;
    let key = text.map(|text| text.expose().parse()).transpose();
    key.map_err(|error| InvalidSetting(format!("{name}: {error}")))
}
