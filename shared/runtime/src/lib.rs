//! The runtime of every program: configuration, start-up, the accept loop, logging, metrics and figures.

pub mod config;
mod figures;
mod head_timer;
pub mod metrics;
mod paced_stream;
pub mod server;
pub mod startup;
pub mod telemetry;
pub mod threads;
