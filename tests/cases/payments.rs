//! Payments: how they are made, what becomes of them, and what the database itself holds them to.

mod creating;
mod lists;
mod moves;
mod races;
mod rules;
