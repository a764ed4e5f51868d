//! Posts: fields, states, entity tags, who may do what.

mod editing;
mod fields;
mod visibility;
