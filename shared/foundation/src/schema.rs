//! OpenAPI schemas of string types, with the limits of their parsers, which utoipa cannot derive.

use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// The pattern of strings without NUL characters, which PostgreSQL cannot store.
pub const WITHOUT_NUL: &str = r"^[^\u0000]*$";
/// The pattern of strings with at least one character other than white space, and without NUL characters.
pub const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";

/// Returns the schema of a string with a length in characters from `min` to `max` that matches `pattern`.
pub fn text(min: usize, max: usize, pattern: &str, description: &str) -> Object {
    let schema = ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
    let min = (min > 0).then_some(min);
    schema
        .min_length(min)
        .max_length(Some(max))
        .pattern(Some(pattern))
        .description(Some(description))
        .build()
}

/// Implements `PartialSchema` and `ToSchema` of utoipa: `schema! { Type = schema; … }`.
#[macro_export]
macro_rules! schema {
    ($($type:ty = $schema:expr;)+) => { $(
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $schema.into()
            }
        }

        impl utoipa::ToSchema for $type {}
    )+ };
}
