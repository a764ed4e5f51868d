//! Targets and field names of the log lines that the metrics count, and the label of a method.
//!
//! The macros of `tracing` accept only literal field names, so [`field`] is used by the code that reads the
//! fields, and the code that logs repeats the names. The guide `docs/develop/logging.md` lists every field.

/// The target of request log lines, one for each response.
pub const ACCESS: &str = "access";
/// The target of security event lines.
pub const SECURITY: &str = "security";
/// The target of alert lines.
pub const ALERT: &str = "alert";

/// Returns the label of a method. Unknown methods share one label, because clients could create any number of
/// them.
pub fn method_label(method: &str) -> &'static str {
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

/// Names of the fields that the metrics read.
pub mod field {
    /// The name of a security event.
    pub const EVENT: &str = "event";
    /// The kind of an alert.
    pub const KIND: &str = "kind";
    /// The number of security events for which a line stands, if it is more than one.
    pub const COUNT: &str = "count";
    /// The HTTP method.
    pub const METHOD: &str = "method";
    /// The time from the request's arrival to the head of its response, in microseconds.
    pub const DURATION_US: &str = "duration_us";
    /// The outcome of a security event: `success` or `failure`.
    pub const OUTCOME: &str = "outcome";
    /// The route pattern, such as `/posts/{id}`.
    pub const ROUTE: &str = "route";
    /// The HTTP status code.
    pub const STATUS: &str = "status";
}
