//! Operation: startup, settings, documentation, Redis, the database schema, security events, alerts.

mod alerts;
mod allocations;
mod backup;
mod clocks;
mod compose;
mod database_failures;
mod debian_package;
mod documentation;
mod healthcheck;
mod image;
mod imports;
mod list_plans;
mod manual;
mod migrations;
mod pruning;
mod redis;
mod reload;
mod repeated_events;
mod rolling_restarts;
pub(crate) mod round_trips;
mod schema;
mod security_events;
mod settings_file;
mod startup;
mod units;

/// Every SQL statement of the programs, with its name.
fn statements() -> Vec<(String, String)> {
    [
        access_tokens::statements(),
        audit::statements(),
        identity::statements(),
        mail::statements(),
        revocation::statements(),
        storage::statements(),
        api_server::statements(),
        auth_server::statements(),
    ]
    .concat()
}
