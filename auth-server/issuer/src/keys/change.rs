//! Changes of the signing keys: those that administrators request, and the transitions that a running issuer
//! makes.

use foundation::clock::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The outcome of a requested change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = KeyChangeOutcome)]
pub enum Outcome {
    /// The staged key was activated and the active key retired.
    Rotated,
    /// A concurrent change came first.
    Overtaken,
    /// The retired key was deleted.
    Deleted,
    /// The compromised key was deleted, and its tokens were revoked.
    Discarded,
}

/// A change, and the keys after it.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyChange {
    /// The outcome.
    #[serde(rename = "done")]
    pub outcome: Outcome,
    /// The key that the change is about; null for a rotation without an active key.
    #[schema(required)]
    pub kid: Option<String>,
    /// The active key.
    #[schema(required)]
    pub active: Option<String>,
    /// The staged key.
    #[schema(required)]
    pub staged: Option<String>,
    /// The time until which caches of other verifiers may lack the active key, if that has replaced a
    /// compromised one early. The API knows it at once.
    #[schema(required)]
    pub caches_may_lack_it_until: Option<Timestamp>,
}

/// A transition that a running issuer makes on its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyTransition {
    /// No key is published: stage one and, if it is the first of all, activate it and stage another.
    Begin,
    /// No key is staged: stage one.
    Stage,
    /// No key is active, and the staged one may sign: activate it.
    Activate(String),
    /// The active key has reached its lifetime: replace it by the staged one.
    Rotate { active: String, staged: String },
    /// The last token of this retired key has expired: delete it.
    Delete(String),
}
