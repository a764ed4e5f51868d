//! Operation: startup, settings, Redis, the database schema, security events, alerts.

mod alerts;
mod redis;
mod schema;
mod security_events;
mod startup;
