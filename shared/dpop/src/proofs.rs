//! The single use of proofs (RFC 9449 §11.1).
//!
//! Every replica must refuse a proof that another one accepted. There are two ways to ensure it:
//!
//! - A proof without a nonce, or with a nonce that all replicas accept, is recorded in Redis by one command.
//! - A proof with a nonce that only one replica accepts is recorded in the memory of that replica.
//!
//! A replica that does not reach Redis accepts only proofs of the second kind, and gives the nonces for them.

use crate::error::Error;
use crate::key::ALGORITHMS;
use crate::nonces::{Audience, Nonce, Nonces};
use crate::proof::{Proof, ProvenRequest, verify};
use crate::settings::DpopMode;
use crate::used_proofs::UsedProofs;
use aws_lc_rs::digest::{Context, SHA256};
use foundation::clock::Timestamp;
use foundation::sealing::SealingKey;
use foundation::secret;
use std::sync::Arc;
use std::time::Duration;
use storage::redis::{Claim, Redis};

/// The time for which Redis keeps a used proof after its expiry, because the clocks of the replicas differ.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// Accepts proofs, each once. Cheap to clone; clones share their memory.
#[derive(Clone)]
pub struct Proofs(Arc<Inner>);

struct Inner {
    redis: Option<Redis>,
    nonces: Nonces,
    mode: DpopMode,
    used: UsedProofs,
}

/// An accepted proof.
#[derive(Debug)]
pub struct Accepted {
    /// The thumbprint of the key that signed it (RFC 7638).
    pub thumbprint: String,
    /// The nonce for the next proofs, if the client should change to another one: the value for the header
    /// `DPoP-Nonce` (RFC 9449 §8.2).
    pub next_nonce: Option<String>,
}

impl Proofs {
    /// Returns the memory of used proofs of a process, which is empty. `key` is one that all replicas have.
    /// `redis` is the one that they share; without it, only this process accepts the nonces that it gives.
    pub fn new(key: &SealingKey, redis: Option<Redis>, mode: DpopMode) -> Self {
        Self(Arc::new(Inner {
            redis,
            nonces: Nonces::new(key),
            mode,
            used: UsedProofs::default(),
        }))
    }

    /// Returns whether proofs bind tokens.
    pub fn is_on(&self) -> bool {
        self.0.mode != DpopMode::Off
    }

    /// Returns the algorithms of proofs, for the metadata (RFC 9449 §5.1); `None` if proofs are switched off.
    pub fn algorithms(&self) -> Option<&'static [&'static str]> {
        self.is_on().then_some(ALGORITHMS.as_slice())
    }

    /// Verifies the proof of a request and uses it up. If `key` is set, the key with this thumbprint must
    /// have signed it. Fails with the reason why it is not accepted.
    pub async fn accept(
        &self,
        request: ProvenRequest<'_>,
        key: Option<&str>,
        now: Timestamp,
    ) -> Result<Accepted, Error> {
        if !self.is_on() {
            return Err(Error::Off);
        }
        let proof = verify(request, now)?;
        if key.is_some_and(|key| key != proof.thumbprint) {
            return Err(Error::OtherKey);
        }
        let next_nonce = self.use_up(&proof, now).await?;
        Ok(Accepted {
            thumbprint: proof.thumbprint,
            next_nonce,
        })
    }

    /// Records that a proof is used. Returns the nonce to which the client should change, if any.
    async fn use_up(&self, proof: &Proof, now: Timestamp) -> Result<Option<String>, Error> {
        let inner = &self.0;
        let nonce = proof.nonce.as_deref().map(|text| inner.nonces.read(text, now));
        match nonce {
            None if inner.mode == DpopMode::Nonces => Err(Error::UseNonce(self.new_nonce(now).await)),
            // Expired, or bound to a replica whose memory is not known here.
            Some(None) => Err(Error::UseNonce(self.new_nonce(now).await)),
            Some(Some(Nonce {
                audience: Audience::ThisReplica,
                is_aging,
            })) => {
                inner
                    .used
                    .claim(id(proof), proof.has_token, proof.expires_at, now)?;
                let is_outdated = is_aging || inner.redis.is_some();
                Ok(match is_outdated {
                    true => Some(self.new_nonce(now).await),
                    false => None,
                })
            }
            None => {
                self.claim_in_redis(proof, now).await?;
                Ok(None)
            }
            Some(Some(Nonce { is_aging, .. })) => {
                self.claim_in_redis(proof, now).await?;
                Ok(is_aging.then(|| inner.nonces.issue(Audience::AllReplicas, now)))
            }
        }
    }

    /// Records in Redis that a proof is used. Without Redis, or if Redis was emptied or started since the
    /// proof may have been used, asks for a proof that only this replica accepts.
    async fn claim_in_redis(&self, proof: &Proof, now: Timestamp) -> Result<(), Error> {
        let use_bound_nonce = || Err(Error::UseNonce(self.0.nonces.issue(Audience::ThisReplica, now)));
        let Some(redis) = &self.0.redis else {
            return use_bound_nonce();
        };
        let name = secret::encode(&id(proof));
        let time_to_live = proof.expires_at.since(now) + CLOCK_TOLERANCE;
        let claimed = redis.claim("dpop", &name, proof.acceptable_since, time_to_live, now);
        match claimed.await {
            Ok(Claim::Granted) => Ok(()),
            Ok(Claim::Taken) => Err(Error::Invalid("it was used before")),
            Ok(Claim::Unknown) => use_bound_nonce(),
            Err(error) => {
                tracing::warn!(%error, "DPoP proofs need a nonce of this replica");
                use_bound_nonce()
            }
        }
    }

    /// Returns a nonce that all replicas accept if Redis answers, and else one that only this replica
    /// accepts.
    async fn new_nonce(&self, now: Timestamp) -> String {
        let audience = match &self.0.redis {
            Some(redis) if redis.ping().await.is_ok() => Audience::AllReplicas,
            _ => Audience::ThisReplica,
        };
        self.0.nonces.issue(audience, now)
    }
}

foundation::opaque_debug!(Proofs);

/// Returns the id of a proof: the hash of its key's thumbprint, which has a fixed length, and of its `jti`.
fn id(proof: &Proof) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(proof.thumbprint.as_bytes());
    context.update(proof.jti.as_bytes());
    let mut id = [0; 32];
    id.copy_from_slice(context.finish().as_ref());
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_keys::{Key, NOW, URL, claims};
    use serde_json::{Value, json};

    async fn accept(proofs: &Proofs, key: &Key, claims: &Value, now: Timestamp) -> Result<Accepted, Error> {
        let request = ProvenRequest {
            proof: &key.proof(claims),
            method: "POST",
            url: URL,
            access_token: None,
        };
        proofs.accept(request, None, now).await
    }

    fn with_nonce(jti: &str, nonce: &str) -> Value {
        json!({ "jti": jti, "htm": "POST", "htu": URL, "iat": NOW.seconds(), "nonce": nonce })
    }

    async fn first_nonce(proofs: &Proofs, key: &Key) -> String {
        match accept(proofs, key, &claims(), NOW).await {
            Err(Error::UseNonce(nonce)) => nonce,
            other => panic!("{other:?}"),
        }
    }

    fn process(key: &SealingKey) -> Proofs {
        Proofs::new(key, None, DpopMode::On)
    }

    #[tokio::test]
    async fn a_process_without_redis_accepts_each_proof_with_its_nonce_once() {
        let (proofs, key) = (process(&SealingKey::generate()), Key::ec());
        let nonce = first_nonce(&proofs, &key).await;
        let accepted = accept(&proofs, &key, &with_nonce("a", &nonce), NOW)
            .await
            .unwrap();
        assert_eq!(accepted.next_nonce, None);
        let again = accept(&proofs, &key, &with_nonce("a", &nonce), NOW).await;
        assert_eq!(again.err(), Some(Error::Invalid("it was used before")));
        accept(&proofs, &key, &with_nonce("b", &nonce), NOW)
            .await
            .unwrap();
        accept(&proofs, &Key::ec(), &with_nonce("a", &nonce), NOW)
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn another_process_refuses_the_nonce_and_a_restarted_one_too() {
        let (secret, key) = (SealingKey::generate(), Key::ec());
        let (one, other) = (process(&secret), process(&secret));
        let nonce = first_nonce(&one, &key).await;
        let elsewhere = accept(&other, &key, &with_nonce("a", &nonce), NOW).await;
        assert!(matches!(elsewhere, Err(Error::UseNonce(_))), "{elsewhere:?}");
    }

    #[tokio::test]
    async fn a_new_nonce_is_offered_before_the_present_one_ends() {
        let (proofs, key) = (process(&SealingKey::generate()), Key::ec());
        let nonce = first_nonce(&proofs, &key).await;
        let later = NOW.after(Duration::from_secs(200));
        let claims = |jti, nonce: &str| {
            let mut claims = with_nonce(jti, nonce);
            claims["iat"] = json!(later.seconds());
            claims
        };
        let accepted = accept(&proofs, &key, &claims("a", &nonce), later).await.unwrap();
        let next = accepted.next_nonce.unwrap();
        accept(&proofs, &key, &claims("b", &next), later).await.unwrap();
    }

    #[tokio::test]
    async fn a_proof_of_another_key_is_not_used_up() {
        let (proofs, key) = (process(&SealingKey::generate()), Key::ec());
        let nonce = first_nonce(&proofs, &key).await;
        let request = ProvenRequest {
            proof: &key.proof(&with_nonce("a", &nonce)),
            method: "POST",
            url: URL,
            access_token: None,
        };
        let refused = proofs.accept(request, Some("other"), NOW).await;
        assert_eq!(refused.err(), Some(Error::OtherKey));
        let own = verify(request, NOW).unwrap().thumbprint;
        proofs.accept(request, Some(&own), NOW).await.unwrap();
    }
}
