//! Values for statements whose number of parameters varies.

use foundation::clock::Timestamp;

/// A value of a parameter of a statement: see [`fetch_all_with!`](crate::fetch_all_with).
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// A text.
    Text(String),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Integer(time.micros())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
