//! Targets and field names of log lines that metrics count.
//!
//! `tracing` takes field names as literals, so these constants serve the reader side (metrics, tests, documentation);
//! `docs/develop/logging.md` lists every field.

/// The target of the line that each answered request writes.
pub const ACCESS: &str = "access";
/// The target of the line that each security event writes.
pub const SECURITY: &str = "security";
/// The target of the line that each alert writes.
pub const ALERT: &str = "alert";

/// Names of the fields that metrics read.
pub mod field {
    /// The name of a security event.
    pub const EVENT: &str = "event";
    /// The kind of an alert.
    pub const KIND: &str = "kind";
    /// The HTTP method.
    pub const METHOD: &str = "method";
    /// The time from the request's arrival to the head of its response, in microseconds.
    pub const DURATION_US: &str = "duration_us";
    /// `success` or `failure`.
    pub const OUTCOME: &str = "outcome";
    /// The route pattern, such as `/posts/{id}`.
    pub const ROUTE: &str = "route";
    /// The HTTP status code.
    pub const STATUS: &str = "status";
}
