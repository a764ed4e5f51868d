//! The runtime of every program: configuration, start-up, the accept loop, logging and metrics.

pub mod config;
mod head_timer;
mod lingering_close;
pub mod metrics;
mod paced_stream;
pub mod server;
pub mod startup;
pub mod telemetry;
pub mod threads;
