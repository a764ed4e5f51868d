//! An authenticator app (RFC 6238), written apart from the program's own reading of the RFC.

use crate::people::{PASSWORD, Person};
use crate::world::World;
use aws_lc_rs::hmac;
use base32::Alphabet;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Seconds of a step.
const STEP: i64 = 30;

/// An authenticator app that has a seed.
#[derive(Debug)]
pub struct Authenticator {
    /// The codes for who loses it.
    pub recovery_codes: Vec<String>,
    seed: Vec<u8>,
    /// The last step that a code was shown of.
    shown: AtomicI64,
}

impl Authenticator {
    /// One that was told this seed, in base32.
    pub fn new(secret: &str) -> Self {
        Self {
            recovery_codes: Vec::new(),
            seed: base32::decode(Alphabet::Rfc4648 { padding: false }, secret).unwrap(),
            shown: AtomicI64::new(0),
        }
    }

    /// Begins to turn two-step sign-in on for this person.
    pub async fn begin(person: &Person) -> Self {
        let again = json!({ "password": person.password });
        let begun = person.post("/me/mfa/totp").json(&again).await.expect(201).json();
        Self::new(begun["secret"].as_str().unwrap())
    }

    /// Turns two-step sign-in on for this person, whose session ends by that.
    pub async fn turn_on(world: &World, person: &Person) -> Self {
        let mut app = Self::begin(person).await;
        let first = json!({ "otp": app.next(world) });
        let reply = person.post("/me/mfa/totp/verifications").json(&first).await;
        let codes = reply.expect(200).json()["recovery_codes"].take();
        app.recovery_codes = serde_json::from_value(codes).unwrap();
        app
    }

    /// The code so many steps from now.
    pub fn code(&self, world: &World, steps: i64) -> String {
        self.of_step(now(world) + steps)
    }

    /// A code that was not shown before: of this step or the next one, or of a later one where the world has a
    /// clock to move.
    pub fn next(&self, world: &World) -> String {
        let step = now(world).max(self.shown.load(Ordering::Relaxed) + 1);
        self.shown.store(step, Ordering::Relaxed);
        while step > now(world) + 1 {
            world.advance(Duration::from_secs(30));
        }
        self.of_step(step)
    }

    /// What this person signs in with now.
    pub fn sign_in(&self, world: &World, person: &Person) -> Value {
        json!({ "email": person.email, "password": PASSWORD, "otp": self.next(world) })
    }

    fn of_step(&self, step: i64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.seed);
        let tag = hmac::sign(&key, &step.to_be_bytes());
        // RFC 4226 §5.3.
        let tag = tag.as_ref();
        let offset = usize::from(tag[19] & 0xf);
        let four: [u8; 4] = tag[offset..offset + 4].try_into().unwrap();
        format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000)
    }
}

fn now(world: &World) -> i64 {
    world.now().seconds() / STEP
}
