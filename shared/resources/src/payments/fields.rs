//! The fields of a payment. Each type is valid by construction.

use super::currency::Currency;
use crate::text::Text;
use foundation::{names, schema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;
use utoipa::openapi::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

/// The maximum amount, in minor units.
const MAX_AMOUNT: i64 = 99_999_999_999;
/// The maximum number of metadata pairs.
const MAX_PAIRS: usize = 20;
/// The maximum length of a name in metadata, in characters.
const MAX_NAME: usize = 40;
/// The maximum length of a value in metadata, in characters.
const MAX_VALUE: usize = 500;

/// The purpose of a payment.
pub type Description = Text<500>;

/// An amount of money, in the minor units of its currency: from 1 to 99,999,999,999.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(i64);

schema! {
    Amount = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1))
        .maximum(Some(MAX_AMOUNT))
        .description(Some("An amount in the minor units of its currency, such as cents."));
    Metadata = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property_names(Some(schema::text(1, MAX_NAME, schema::WITHOUT_NUL, "A name.")))
        .additional_properties(Some(Schema::Object(schema::text(0, MAX_VALUE, schema::WITHOUT_NUL, "A value."))))
        .max_properties(Some(MAX_PAIRS))
        .examples([serde_json::json!({"order": "1001"})])
        .description(Some("Pairs of strings, which this service stores and returns unchanged."));
}

/// Pairs of strings: at most 20, names of 1 to 40 characters, values of at most 500.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata(BTreeMap<String, String>);

/// The state of a payment. No code path of this service sets `Failed` yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = PaymentStatus)]
pub enum Status {
    /// The payment may be captured or canceled.
    Created,
    /// The payment may be refunded.
    Captured,
    /// A part is refunded; the rest may be refunded.
    PartiallyRefunded,
    /// The whole captured amount is refunded.
    Refunded,
    /// The payment was canceled before capture.
    Canceled,
    /// The capture failed.
    Failed,
}

/// A new payment.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"amount": 1250, "currency": "EUR", "description": "Two tickets"}))]
pub struct NewPayment {
    /// The amount, in the minor units of the currency.
    pub amount: Amount,
    /// The currency.
    pub currency: Currency,
    /// The purpose.
    #[schema(nullable = false)]
    pub description: Option<Description>,
    /// Data of the caller.
    #[schema(required = false)]
    pub metadata: Metadata,
}

impl Amount {
    /// Checks that an amount is in range. The error completes a sentence that begins with the field name,
    /// such as "must be from 1 to 99999999999".
    pub fn parse(minor_units: i64) -> Result<Self, &'static str> {
        match minor_units {
            1..=MAX_AMOUNT => Ok(Self(minor_units)),
            _ => Err("must be from 1 to 99999999999, in the minor units of the currency"),
        }
    }

    /// Returns the amount in minor units.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl Metadata {
    /// Checks the limits of the pairs. The error completes a sentence that begins with the field name, such
    /// as "has more than 20 pairs".
    pub fn parse(pairs: BTreeMap<String, String>) -> Result<Self, &'static str> {
        if pairs.len() > MAX_PAIRS {
            return Err("has more than 20 pairs");
        }
        if !pairs
            .keys()
            .all(|name| (1..=MAX_NAME).contains(&name.chars().count()))
        {
            return Err("has a name that is empty or longer than 40 characters");
        }
        if pairs.values().any(|value| value.chars().count() > MAX_VALUE) {
            return Err("has a value that is longer than 500 characters");
        }
        Ok(Self(pairs))
    }
}

/// Writes the pairs as JSON, as they are stored.
impl std::fmt::Display for Metadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| std::fmt::Error)?)
    }
}

/// Parses the stored JSON, whose limits were checked before it was stored.
impl TryFrom<String> for Metadata {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        serde_json::from_str(&text)
    }
}

names! {
    Status:
    Created = "created",
    Captured = "captured",
    PartiallyRefunded = "partially_refunded",
    Refunded = "refunded",
    Canceled = "canceled",
    Failed = "failed",
}

impl TryFrom<String> for Status {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::named(&text).ok_or("not a payment status")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_a_minimum_and_a_maximum() {
        for good in [1, MAX_AMOUNT] {
            assert_eq!(Amount::parse(good).map(Amount::get), Ok(good));
        }
        for bad in [0, -1, MAX_AMOUNT + 1, i64::MIN, i64::MAX] {
            assert!(Amount::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn metadata_has_limits_and_is_stored_unchanged() {
        let pairs = |n: usize, name: usize, value: usize| {
            let pair = |i: usize| (format!("{i:0>name$}"), "é".repeat(value));
            Metadata::parse((0..n).map(pair).collect())
        };
        let most = pairs(20, 40, 500).unwrap();
        assert_eq!(Metadata::try_from(most.to_string()).unwrap(), most);
        assert!(pairs(21, 2, 0).is_err() && pairs(1, 41, 0).is_err() && pairs(1, 1, 501).is_err());
        assert!(Metadata::parse([(String::new(), String::new())].into()).is_err());
        assert_eq!(Metadata::default().to_string(), "{}");
    }
}
