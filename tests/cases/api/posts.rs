//! Posts: fields, states, entity tags and permissions.

mod editing;
mod fields;
mod visibility;
