//! The master key, and the previous one until every row is sealed under the master key.

use foundation::sealing::{SealingKey, UnsealError};

/// The keys that open the sealed rows of the issuer.
#[derive(Clone, Debug)]
pub struct MasterKeys {
    /// MASTER_KEY.
    pub current: SealingKey,
    /// MASTER_KEY_PREVIOUS, which a reseal replaces.
    pub previous: Option<SealingKey>,
}

impl MasterKeys {
    /// Opens a value that either key sealed under `name`. Returns its plain text and the key that seals it.
    /// Fails as [`SealingKey::open`] does.
    pub(super) fn open(&self, name: &str, sealed: &[u8]) -> Result<(Vec<u8>, &SealingKey), UnsealError> {
        let open = |key| Some((SealingKey::open(key, name, sealed).ok()?, key));
        let previous = || self.previous.as_ref().and_then(open);
        open(&self.current).or_else(previous).ok_or(UnsealError)
    }

    /// Seals the value under MASTER_KEY. Returns `None` if it is already. Fails as [`MasterKeys::open`] does.
    pub(super) fn reseal(&self, name: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, UnsealError> {
        let (plain, key) = self.open(name, sealed)?;
        Ok((*key != self.current).then(|| self.current.seal(name, &plain)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_the_previous_key_is_resealed_once() {
        let (old, new) = (SealingKey::generate(), SealingKey::generate());
        let keys = MasterKeys {
            current: new.clone(),
            previous: Some(old.clone()),
        };
        let sealed = old.seal("row", b"secret");
        let resealed = keys.reseal("row", &sealed).unwrap().unwrap();
        assert_eq!(new.open("row", &resealed).unwrap(), b"secret");
        assert_eq!(keys.reseal("row", &resealed).unwrap(), None);
        assert!(keys.open("another row", &sealed).is_err());
        let alone = MasterKeys {
            current: new,
            previous: None,
        };
        assert!(alone.reseal("row", &sealed).is_err());
    }
}
