//! The key that signs requests to the webhook, as Standard Webhooks specifies.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foundation::secret::Secret;

/// The smallest length of a key, in bytes.
const MIN_LENGTH: usize = 16;

/// The secret is too short, or not base64 after `whsec_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret must have at least 16 bytes; after the prefix whsec_ it must be base64")]
pub struct InvalidSecret;

/// A key for HMAC-SHA256. `Debug` does not print it.
#[derive(Clone, Debug)]
pub struct WebhookKey(hmac::Key);

impl WebhookKey {
    /// Reads the key from the webhook's secret: the bytes of its text, or, if the text begins with `whsec_`,
    /// the bytes that the remainder encodes in base64 (Standard Webhooks). Fails if these are fewer than 16.
    pub fn parse(secret: &Secret) -> Result<Self, InvalidSecret> {
        let key = match secret.expose().strip_prefix("whsec_") {
            Some(text) => STANDARD.decode(text).map_err(|_| InvalidSecret)?,
            None => secret.expose().as_bytes().to_vec(),
        };
        match key.len() < MIN_LENGTH {
            true => Err(InvalidSecret),
            false => Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &key))),
        }
    }

    /// Returns the value of the header `webhook-signature` of a request with this `webhook-id`,
    /// `webhook-timestamp` (in seconds since 1970 UTC) and body: `v1,` and the MAC over the three in base64
    /// (Standard Webhooks).
    pub fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let tag = hmac::sign(&self.0, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(secret: &str) -> Result<WebhookKey, InvalidSecret> {
        WebhookKey::parse(&Secret::new(secret))
    }

    #[test]
    fn the_signature_matches_the_published_example() {
        // The example of the Standard Webhooks libraries (https://www.standardwebhooks.com/).
        let key = parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = key.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_must_be_long_and_base64_after_the_prefix() {
        assert!(parse("0123456789abcdef").is_ok());
        for secret in ["", "short", "whsec_c2hvcnQ=", "whsec_no base64 at all, this"] {
            assert_eq!(parse(secret).unwrap_err(), InvalidSecret, "{secret}");
        }
    }
}
