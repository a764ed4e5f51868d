//! An authenticator app (RFC 6238), implemented independently of the product.

use crate::accounts::{PASSWORD, User};
use crate::browser::Page;
use crate::world::World;
use aws_lc_rs::hmac;
use base32::Alphabet;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use url::Url;

/// The length of a time step in seconds.
const STEP: i64 = 30;

/// An authenticator app with one enrolled seed.
#[derive(Debug)]
pub struct Authenticator {
    /// The recovery codes.
    pub recovery_codes: Vec<String>,
    seed: Vec<u8>,
    /// The last time step whose code was used.
    last_used: AtomicI64,
}

impl Authenticator {
    /// Creates an authenticator from a seed in base32.
    pub fn new(secret: &str) -> Self {
        Self {
            recovery_codes: Vec::new(),
            seed: base32::decode(Alphabet::Rfc4648 { padding: false }, secret).unwrap(),
            last_used: AtomicI64::new(0),
        }
    }

    /// Creates an authenticator from the link on the page that begins two-step sign-in.
    pub fn of_page(page: &Page) -> Self {
        let links = page.links();
        let link = links.iter().find(|link| link.scheme() == "otpauth").unwrap();
        Self::of_link(link.as_str())
    }

    /// Creates an authenticator from an `otpauth://` URL.
    pub fn of_link(url: &str) -> Self {
        let url = Url::parse(url).unwrap();
        let (_, secret) = url.query_pairs().find(|(name, _)| name == "secret").unwrap();
        Self::new(&secret)
    }

    /// Begins the enrollment of this user in two-step sign-in. It has no effect until a code confirms it.
    pub async fn begin(user: &User) -> Self {
        let body = json!({ "password": user.password });
        let begun = user.post("/me/mfa/totp").json(&body).await.expect(201).json();
        Self::new(begun["secret"].as_str().unwrap())
    }

    /// Enables two-step sign-in for this user, which gives the user's session another cookie.
    pub async fn enable(world: &World, user: &User) -> Self {
        let mut app = Self::begin(user).await;
        let first = json!({ "otp": app.next_code(world) });
        let reply = user.post("/me/mfa/totp/verifications").json(&first).await;
        let codes = reply.expect(200).json()["recovery_codes"].take();
        app.recovery_codes = serde_json::from_value(codes).unwrap();
        app
    }

    /// The code of the time step that is `steps` after the current one, or before it if negative.
    pub fn code(&self, world: &World, steps: i64) -> String {
        self.code_at(current_step(world) + steps)
    }

    /// An unused code: of this time step or the next one, or of a later one if the world has a test clock to
    /// advance.
    pub fn next_code(&self, world: &World) -> String {
        let step = current_step(world).max(self.last_used.load(Ordering::Relaxed) + 1);
        self.last_used.store(step, Ordering::Relaxed);
        while step > current_step(world) + 1 {
            world.advance(Duration::from_secs(30));
        }
        self.code_at(step)
    }

    /// The body of a sign-in request with an unused code.
    pub fn sign_in(&self, world: &World, user: &User) -> Value {
        json!({ "email": user.email, "password": PASSWORD, "otp": self.next_code(world) })
    }

    fn code_at(&self, step: i64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.seed);
        let tag = hmac::sign(&key, &step.to_be_bytes());
        // Dynamic truncation (RFC 4226 §5.3).
        let tag = tag.as_ref();
        let offset = usize::from(tag[19] & 0xf);
        let truncated: [u8; 4] = tag[offset..offset + 4].try_into().unwrap();
        format!("{:06}", (u32::from_be_bytes(truncated) & 0x7fff_ffff) % 1_000_000)
    }
}

/// The time step of the programs' clock.
fn current_step(world: &World) -> i64 {
    world.now().seconds() / STEP
}
