//! The receipt of a created resource: the part of the response that the request does not contain.

use foundation::clock::Timestamp;
use serde::{Deserialize, Serialize};

/// The id and the time of a new resource. With the request, from which the other members come, they make the
/// resource as it was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The id.
    pub id: i64,
    /// The time of creation.
    pub created_at: Timestamp,
}
