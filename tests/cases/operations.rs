//! Operation: startup, settings, documentation, Redis, the database schema, security events, alerts.

mod alerts;
mod documentation;
mod redis;
mod schema;
mod security_events;
mod startup;
