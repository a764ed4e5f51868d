//! Settings: how one is refused, and how secrets among them are read.

use crate::sealing::SealingKey;
use crate::secret::Secret;
use std::path::Path;

/// A setting that cannot work. The text names the setting and says what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSetting(pub String);

/// Reads a secret that is given as a value or as a file, without surrounding white space. `None` if neither is given;
/// both at once are refused.
pub fn read_secret(
    name: &str,
    value: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<Secret>, InvalidSetting> {
    let text = match (value, file) {
        (Some(_), Some(_)) => {
            return Err(InvalidSetting(format!(
                "{name} and {name}_FILE are both set: set one of them"
            )));
        }
        (None, None) => return Ok(None),
        (Some(value), None) => value.to_owned(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| InvalidSetting(format!("{name}_FILE {}: {error}", file.display())))?,
    };
    Ok(Some(Secret::new(text.trim())))
}

/// Reads a sealing key that is given as a value or as a file; `None` if neither is given.
pub fn read_key(
    name: &str,
    value: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<SealingKey>, InvalidSetting> {
    let text = read_secret(name, value, file)?;
    let key = text.map(|text| text.expose().parse()).transpose();
    key.map_err(|error| InvalidSetting(format!("{name}: {error}")))
}
