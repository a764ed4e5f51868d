//! The alert webhook. The input has its secret, its URL and a body, on a line each. The key is the text of
//! the secret or, after `whsec_`, what the rest encodes in base64, and it signs as HMAC is defined (Standard
//! Webhooks). An accepted URL keeps alerts confidential.

use crate::harness::text;
use audit::alerts::webhook::WebhookKey;
use aws_lc_rs::digest::{SHA256, digest};
use foundation::secret::{self, Secret};
use std::net::IpAddr;
use url::Url;

/// The smallest length of a key.
const MIN_KEY: usize = 16;
/// The length of a block of SHA-256.
const BLOCK: usize = 64;

pub(super) fn check(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let (secret, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (url, body) = rest.split_once('\n').unwrap_or((rest, ""));
    check_url(url);
    check_secret(secret, body);
    let encoded = secret::encode(secret.as_bytes())
        .replace('-', "+")
        .replace('_', "/");
    let padding = "=".repeat(encoded.len().next_multiple_of(4) - encoded.len());
    check_secret(&format!("whsec_{encoded}{padding}"), body);
}

fn check_secret(secret: &str, body: &str) {
    let expected = key_of(secret).filter(|key| key.len() >= MIN_KEY);
    let key = WebhookKey::parse(&Secret::new(secret));
    assert_eq!(key.is_ok(), expected.is_some());
    if let (Ok(key), Some(expected)) = (key, expected) {
        let signature = key.sign("msg_1", 1_767_225_600, body);
        let tag = hmac(&expected, format!("msg_1.1767225600.{body}").as_bytes());
        let encoded = signature
            .strip_prefix("v1,")
            .and_then(|text| text.strip_suffix('='));
        let encoded = encoded
            .expect("32 bytes are padded")
            .replace('+', "-")
            .replace('/', "_");
        assert_eq!(secret::decode(&encoded), Some(tag));
    }
}

fn key_of(secret: &str) -> Option<Vec<u8>> {
    let Some(encoded) = secret.strip_prefix("whsec_") else {
        return Some(secret.as_bytes().to_vec());
    };
    let unpadded = encoded.trim_end_matches('=');
    let is_standard = !encoded.contains(['-', '_']) && unpadded.len().next_multiple_of(4) == encoded.len();
    let key = secret::decode(&unpadded.replace('+', "-").replace('/', "_"));
    key.filter(|_| is_standard)
}

/// Returns the MAC by its definition (RFC 2104 §2).
fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let hash = |bytes: &[u8]| digest(&SHA256, bytes).as_ref().to_vec();
    let mut block = match key.len() > BLOCK {
        true => hash(key),
        false => key.to_vec(),
    };
    block.resize(BLOCK, 0);
    let padded =
        |pad: u8, rest: &[u8]| hash(&[block.iter().map(|byte| byte ^ pad).collect(), rest.to_vec()].concat());
    padded(0x5c, &padded(0x36, message))
}

fn check_url(text: &str) {
    let Ok(url) = Url::parse(text) else { return };
    if !http_client::is_confidential(&url) {
        return;
    }
    let host = url.host_str().expect("a confidential URL has a host");
    let address = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>();
    let is_this_machine = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    assert!(url.scheme() == "https" || url.scheme() == "http" && is_this_machine);
}
