//! The runtime of every program: settings, start-up, the accept loop, logging and metrics, and the command
//! `doctor`.

pub mod doctor;
mod head_timer;
mod lingering_close;
pub mod metrics;
mod paced_stream;
mod reload;
pub mod server;
pub mod settings;
pub mod startup;
pub mod telemetry;
pub mod threads;
