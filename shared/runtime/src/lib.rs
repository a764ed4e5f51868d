//! The runtime of every program: settings, start-up, the accept loop, logging, metrics and the export of
//! traces, and the command `doctor`.

pub mod doctor;
mod head_timer;
mod lingering_close;
pub mod metrics;
pub mod output;
mod paced_stream;
mod reload;
pub mod server;
pub mod settings;
pub mod span_export;
pub mod startup;
pub mod telemetry;
pub mod threads;
