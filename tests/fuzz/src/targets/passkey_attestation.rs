//! The attestation object of a new passkey (Web Authentication §6.5.4): an accepted one is of this relying
//! party, and of an authenticator that verified the user.

use crate::harness::{ISSUER, NOW};
use foundation::sealing::SealingKey;
use foundation::secret;
use identity::passkeys::{Answer, Challenge, EnrollingUser, RelyingParty};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The flags of authenticator data (Web Authentication §6.1): user present, user verified, attested
/// credential data included.
const REQUIRED_FLAGS: u8 = 0x45;
/// The length of the hash of the relying party's id.
const HASH_LENGTH: usize = 32;
const BROWSER: &str = "browser";
const USER: EnrollingUser<'_> = EnrollingUser {
    id: 7,
    epoch: 0,
    email: "ann@example.org",
};

static CEREMONY: LazyLock<(RelyingParty, SealingKey, Challenge)> = LazyLock::new(|| {
    let url = ISSUER.parse().expect("a URL");
    let party = RelyingParty::new("Latchkey", &url).expect("a relying party");
    let key = SealingKey::generate();
    let challenge = party.begin_enrollment((&key, BROWSER), USER, Vec::new(), NOW).expect("a challenge");
    (party, key, challenge)
});

pub(super) fn check(input: &[u8]) {
    let (party, key, challenge) = &*CEREMONY;
    let options: Value = serde_json::from_str(&challenge.options).expect("JSON");
    let client_data = json!({ "type": "webauthn.create", "challenge": options["challenge"], "origin": ISSUER });
    let response = json!({
        "clientDataJSON": secret::encode(client_data.to_string().as_bytes()),
        "attestationObject": secret::encode(input),
    });
    let credential = json!({ "id": "AA", "rawId": "AA", "type": "public-key", "response": response });
    let answer = Answer {
        browser_secret: BROWSER,
        state: challenge.state.expose(),
        credential: &credential.to_string(),
    };
    let Ok((passkey, challenged_at)) = party.finish_enrollment(key, USER, answer, NOW) else {
        return;
    };
    assert_eq!(challenged_at, NOW);
    assert!((1..=1_023).contains(&passkey.cred_id().len()));
    let hash = secret::hash("issuer.example");
    let mut parts = input.windows(HASH_LENGTH + 1);
    let is_of_party = |part: &[u8]| part[..HASH_LENGTH] == hash && part[HASH_LENGTH] & REQUIRED_FLAGS == REQUIRED_FLAGS;
    assert!(parts.any(is_of_party));
}
