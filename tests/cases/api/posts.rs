//! Posts: fields, states, entity tags and permissions.

mod concurrent_calls;
mod editing;
mod fields;
mod visibility;
