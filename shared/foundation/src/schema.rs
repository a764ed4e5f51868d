//! Schemas of the types that the OpenAPI document cannot derive: texts with limits, which are the limits
//! of their parsers.

use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// No text may hold a NUL: PostgreSQL takes none.
pub const WITHOUT_NUL: &str = r"^[^\u0000]*$";
/// At least one character that is no white space.
pub const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";

/// A text of a length, counted in characters, and of a form.
pub fn text(min: usize, max: usize, pattern: &str, description: &str) -> Object {
    let text = ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
    let min = (min > 0).then_some(min);
    text.min_length(min)
        .max_length(Some(max))
        .pattern(Some(pattern))
        .description(Some(description))
        .build()
}

/// Gives a type its schema.
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
