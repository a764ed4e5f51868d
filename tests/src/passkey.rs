//! A software authenticator with one passkey (Web Authentication), implemented independently of the product.

use crate::browser::{Browser, Page};
use crate::world::World;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256};
use aws_lc_rs::signature::{RsaKeyPair, RsaPublicKeyComponents};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use scraper::{Html, Selector};
use serde_json::{Value, json};

/// The flags of authenticator data (Web Authentication §6.1).
const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const HAS_CREDENTIAL: u8 = 0x40;

/// A passkey. Tests change its fields to answer as another authenticator or another page would.
#[derive(Debug)]
pub struct Passkey {
    key: Key,
    /// The id of the credential.
    pub id: Vec<u8>,
    /// The user handle of the account for which it was made.
    pub user_handle: Vec<u8>,
    /// The counter of signatures; an authenticator without one sends 0.
    pub counter: u32,
    /// Whether the authenticator verifies the user.
    pub verifies_user: bool,
    /// Whether it is backed up; `None` if it cannot be.
    pub backed_up: Option<bool>,
    /// The origin of the page that asks for a signature.
    pub origin: String,
}

#[derive(Debug)]
enum Key {
    Es256(EcdsaKeyPair),
    Rs256(Box<RsaKeyPair>),
}

/// The challenge of a page: the options for the browser's API.
#[derive(Clone, Debug)]
pub struct PasskeyOptions(pub Value);

impl PasskeyOptions {
    /// The challenge of the form on this page.
    pub fn of_page(page: &Page) -> Self {
        Self::find(page).unwrap_or_else(|| panic!("no challenge: {}", page.reply))
    }

    /// The challenge of the form on this page, if it has one.
    pub fn find(page: &Page) -> Option<Self> {
        let html = Html::parse_document(&page.reply.text());
        let selector = Selector::parse("form[data-options]").unwrap();
        let form = html.select(&selector).next()?;
        Some(Self(serde_json::from_str(form.attr("data-options")?).unwrap()))
    }
}

impl World {
    /// Adds a passkey with an ES256 key and the name `Phone` to the account of the user of this browser.
    pub async fn add_passkey(&self, browser: &mut Browser) -> Passkey {
        let page = browser.open("/account/passkeys").await;
        let options = PasskeyOptions::of_page(&page);
        let passkey = Passkey::es256(&options, self.base());
        let credential = passkey.registration(&options);
        let fields = [("credential", credential.as_str()), ("name", "Phone")];
        let added = browser.submit(&page, &fields).await;
        assert_eq!(added.reply.status, 303, "{}", added.reply);
        passkey
    }
}

impl Passkey {
    /// Opens the sign-in page in this browser, and answers its challenge.
    pub async fn sign_in(&self, browser: &mut Browser) -> Page {
        let page = browser.open("/signin").await;
        let credential = self.assertion(&PasskeyOptions::of_page(&page));
        browser.submit(&page, &[("credential", &credential)]).await
    }

    /// Makes a passkey with an ES256 key for the account of the options, for pages of this origin.
    pub fn es256(options: &PasskeyOptions, origin: &str) -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap();
        Self::new(Key::Es256(key), options, origin)
    }

    /// Makes a passkey with an RS256 key for the account of the options, for pages of this origin.
    pub fn rs256(options: &PasskeyOptions, origin: &str) -> Self {
        let key = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        Self::new(Key::Rs256(Box::new(key)), options, origin)
    }

    fn new(key: Key, options: &PasskeyOptions, origin: &str) -> Self {
        Self {
            key,
            id: foundation::random::bytes::<32>().to_vec(),
            user_handle: decode(&options.0["user"]["id"]),
            counter: 0,
            verifies_user: true,
            backed_up: None,
            origin: origin.to_owned(),
        }
    }

    /// The answer to a challenge for a new passkey (`RegistrationResponseJSON`).
    pub fn registration(&self, options: &PasskeyOptions) -> String {
        let mut data = self.authenticator_data(&options.0["rp"]["id"], HAS_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(self.key.to_cose());
        // {"fmt": "none", "attStmt": {}, "authData": …}
        let attestation = [
            b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData".as_slice(),
            &cbor_bytes(&data),
        ]
        .concat();
        let client_data = self.client_data("webauthn.create", options);
        let response = json!({
            "clientDataJSON": encode(client_data.as_bytes()),
            "attestationObject": encode(&attestation),
            "transports": ["internal"],
        });
        self.credential(&response)
    }

    /// The answer to a challenge for a sign-in (`AuthenticationResponseJSON`).
    pub fn assertion(&self, options: &PasskeyOptions) -> String {
        let data = self.authenticator_data(&options.0["rpId"], 0);
        let client_data = self.client_data("webauthn.get", options);
        let signed = [data.as_slice(), digest(&SHA256, client_data.as_bytes()).as_ref()].concat();
        let response = json!({
            "clientDataJSON": encode(client_data.as_bytes()),
            "authenticatorData": encode(&data),
            "signature": encode(&self.key.sign(&signed)),
            "userHandle": encode(&self.user_handle),
        });
        self.credential(&response)
    }

    fn credential(&self, response: &Value) -> String {
        let id = encode(&self.id);
        json!({
            "id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {},
        })
        .to_string()
    }

    fn authenticator_data(&self, party: &Value, further_flags: u8) -> Vec<u8> {
        let backup = match self.backed_up {
            None => 0,
            Some(false) => BACKUP_ELIGIBLE,
            Some(true) => BACKUP_ELIGIBLE | BACKED_UP,
        };
        let verified = if self.verifies_user { USER_VERIFIED } else { 0 };
        let mut data = digest(&SHA256, party.as_str().unwrap().as_bytes())
            .as_ref()
            .to_vec();
        data.push(USER_PRESENT | verified | backup | further_flags);
        data.extend(self.counter.to_be_bytes());
        data
    }

    fn client_data(&self, kind: &str, options: &PasskeyOptions) -> String {
        json!({
            "type": kind, "challenge": options.0["challenge"], "origin": self.origin, "crossOrigin": false,
        })
        .to_string()
    }
}

impl Key {
    /// The public key (RFC 9053 §7.1.1, RFC 8230 §4).
    fn to_cose(&self) -> Vec<u8> {
        match self {
            Self::Es256(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
                [
                    b"\xa5\x01\x02\x03\x26\x20\x01\x21".as_slice(),
                    &cbor_bytes(x),
                    b"\x22",
                    &cbor_bytes(y),
                ]
                .concat()
            }
            Self::Rs256(key) => {
                let components: RsaPublicKeyComponents<Vec<u8>> = key.public_key().into();
                // {1: 3, 3: -257, -1: n, -2: e}
                [
                    b"\xa4\x01\x03\x03\x39\x01\x00\x20".as_slice(),
                    &cbor_bytes(&components.n),
                    b"\x21",
                    &cbor_bytes(&components.e),
                ]
                .concat()
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Es256(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Rs256(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .unwrap();
                signature
            }
        }
    }
}

/// A byte string in CBOR (RFC 8949 §3).
fn cbor_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = match bytes.len() {
        len @ 0..24 => vec![0x40 + u8::try_from(len).unwrap()],
        len @ 24..256 => vec![0x58, u8::try_from(len).unwrap()],
        len => [&[0x59], u16::try_from(len).unwrap().to_be_bytes().as_slice()].concat(),
    };
    encoded.extend(bytes);
    encoded
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(text: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text.as_str().unwrap()).unwrap()
}
