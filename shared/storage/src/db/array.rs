//! Arrays: the parameters of a statement that concerns several rows.

use serde::{Serialize, Serializer};
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgBindIterExt as _, PgHasArrayType, PgTypeInfo};
use sqlx::sqlite::{SqliteArgumentsBuffer, SqliteTypeInfo};
use sqlx::{Postgres, Sqlite, Type};

/// One parameter with a value of each of several items. PostgreSQL gets an array, for `= ANY ($1)` or
/// `unnest`, and SQLite the text of a JSON array, for `json_each`. Times must be given in microseconds,
/// because a `Timestamp` is a text in JSON.
#[derive(Debug)]
pub struct Array<'a, I, T> {
    items: &'a [I],
    value: fn(&'a I) -> T,
}

impl<'a, I, T> Array<'a, I, T> {
    /// Returns the array of the value of each item.
    pub const fn of(items: &'a [I], value: fn(&'a I) -> T) -> Self {
        Self { items, value }
    }
}

impl<'a, I, T> Array<'a, I, Option<T>> {
    /// Returns the array of the values for an `unnest` of several arrays, which appends nulls to a shorter
    /// one: an empty array if no item has a value.
    pub fn of_optional(items: &'a [I], value: fn(&'a I) -> Option<T>) -> Self {
        match items.iter().any(|item| value(item).is_some()) {
            true => Self::of(items, value),
            false => Self::of(&[], value),
        }
    }
}

impl<I, T: PgHasArrayType> Type<Postgres> for Array<'_, I, T> {
    fn type_info() -> PgTypeInfo {
        T::array_type_info()
    }
}

impl<'q, I, T: Encode<'q, Postgres> + Type<Postgres>> Encode<'q, Postgres> for Array<'_, I, T> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode(self.items.iter().map(self.value).bind_iter(), buffer)
    }
}

impl<I, T> Type<Sqlite> for Array<'_, I, T> {
    fn type_info() -> SqliteTypeInfo {
        <String as Type<Sqlite>>::type_info()
    }
}

impl<I, T: Serialize> Encode<'_, Sqlite> for Array<'_, I, T> {
    fn encode_by_ref(&self, buffer: &mut SqliteArgumentsBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Sqlite>::encode(serde_json::to_string(self)?, buffer)
    }
}

impl<I, T: Serialize> Serialize for Array<'_, I, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.items.iter().map(self.value))
    }
}
