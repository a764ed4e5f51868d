//! The answers of authenticators as browsers send them, before a signature is verified.

use super::Error;
use webauthn_rs::prelude::{PublicKeyCredential, RegisterPublicKeyCredential, WebauthnError};

/// The largest sizes of the parts of an answer, in bytes. The library compares the keys of CBOR maps in a
/// time that grows with the square of the size, before it verifies a signature.
const MAX_CLIENT_DATA: usize = 4_096;
const MAX_ATTESTATION: usize = 8_192;
const MAX_AUTHENTICATOR_DATA: usize = 1_024;
const MAX_SIGNATURE: usize = 1_024;
/// The longest id of a credential, in bytes (Web Authentication §4).
const MAX_CREDENTIAL_ID: usize = 1_023;

/// The answer of an authenticator.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The secret of the browser to which the challenge belongs: its anti-forgery token.
    pub browser_secret: &'a str,
    /// The state of the challenge.
    pub state: &'a str,
    /// The credential from the browser's API, as JSON: `RegistrationResponseJSON` or
    /// `AuthenticationResponseJSON`.
    pub credential: &'a str,
}

impl Answer<'_> {
    /// Parses the credential as that of a new passkey. Fails with [`Error::TooLarge`] or [`Error::Refused`].
    pub(super) fn registration(&self) -> Result<RegisterPublicKeyCredential, Error> {
        let credential: RegisterPublicKeyCredential =
            serde_json::from_str(self.credential).map_err(WebauthnError::ParseJSONFailure)?;
        check_sizes(&[
            (&credential.response.client_data_json, MAX_CLIENT_DATA),
            (&credential.response.attestation_object, MAX_ATTESTATION),
        ])?;
        Ok(credential)
    }

    /// Parses the credential as that of a sign-in. Fails with [`Error::TooLarge`] or [`Error::Refused`].
    pub(super) fn assertion(&self) -> Result<PublicKeyCredential, Error> {
        let credential: PublicKeyCredential =
            serde_json::from_str(self.credential).map_err(WebauthnError::ParseJSONFailure)?;
        check_sizes(&[
            (&credential.response.client_data_json, MAX_CLIENT_DATA),
            (&credential.response.authenticator_data, MAX_AUTHENTICATOR_DATA),
            (&credential.response.signature, MAX_SIGNATURE),
        ])?;
        check_credential_id(&credential.raw_id)?;
        Ok(credential)
    }
}

/// Fails with [`Error::TooLarge`] if the id of a credential is longer than the specification allows.
pub(super) fn check_credential_id(id: &[u8]) -> Result<(), Error> {
    check_sizes(&[(id, MAX_CREDENTIAL_ID)])
}

fn check_sizes(parts: &[(&[u8], usize)]) -> Result<(), Error> {
    match parts.iter().any(|(part, max)| part.len() > *max) {
        true => Err(Error::TooLarge),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A part of this length, in base64url.
    fn part(length: usize) -> String {
        foundation::secret::encode(&vec![0; length])
    }

    fn answer(credential: &str) -> Answer<'_> {
        Answer {
            browser_secret: "",
            state: "",
            credential,
        }
    }

    fn credential(id: usize, response: &Value) -> String {
        json!({ "id": "", "rawId": part(id), "type": "public-key", "response": response }).to_string()
    }

    #[test]
    fn a_large_part_of_a_registration_is_refused() {
        let is_too_large = |client_data, attestation| {
            let response =
                json!({ "clientDataJSON": part(client_data), "attestationObject": part(attestation) });
            let parsed = answer(&credential(0, &response)).registration();
            matches!(parsed, Err(Error::TooLarge))
        };
        assert!(!is_too_large(4_096, 8_192));
        assert!(is_too_large(4_097, 0));
        assert!(is_too_large(0, 8_193));
    }

    #[test]
    fn a_large_part_of_an_assertion_is_refused() {
        let is_too_large = |id, client_data, data, signature| {
            let response = json!({
                "clientDataJSON": part(client_data), "authenticatorData": part(data), "signature": part(signature),
                "userHandle": null,
            });
            let parsed = answer(&credential(id, &response)).assertion();
            matches!(parsed, Err(Error::TooLarge))
        };
        assert!(!is_too_large(1_023, 4_096, 1_024, 1_024));
        assert!(is_too_large(1_024, 0, 0, 0));
        assert!(is_too_large(0, 4_097, 0, 0));
        assert!(is_too_large(0, 0, 1_025, 0));
        assert!(is_too_large(0, 0, 0, 1_025));
    }

    #[test]
    fn malformed_json_is_refused() {
        for text in ["", "{}", "null", "[]"] {
            assert!(
                matches!(answer(text).registration(), Err(Error::Refused(_))),
                "{text}"
            );
            assert!(
                matches!(answer(text).assertion(), Err(Error::Refused(_))),
                "{text}"
            );
        }
    }
}
