//! State that a browser keeps between two requests. It is sealed under the account key, so that nobody else
//! reads or changes it.

use foundation::sealing::SealingKey;
use foundation::secret::{self, Secret};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns a value as text in base64url, sealed under this name, see [`SealingKey::seal`].
pub(crate) fn seal(key: &SealingKey, name: &str, value: &impl Serialize) -> Secret {
    let text = serde_json::to_vec(value).unwrap_or_default();
    Secret::new(secret::encode(&key.seal(name, &text)))
}

/// Returns the value of a text. Returns `None` if the text was sealed under another key or name, or was
/// altered.
pub(crate) fn open<T: DeserializeOwned>(key: &SealingKey, name: &str, text: &str) -> Option<T> {
    let text = key.open(name, &secret::decode(text)?).ok()?;
    serde_json::from_slice(&text).ok()
}
