//! Targets and field names of the log lines that the metrics and the figures of administrators count.
//!
//! The macros of `tracing` accept only literal field names, so [`field`] is used by the code that reads the fields, and
//! the code that logs repeats the names. The guide `docs/develop/logging.md` lists every field.

/// The target of request log lines, one for each response.
pub const ACCESS: &str = "access";
/// The target of security event lines.
pub const SECURITY: &str = "security";
/// The target of alert lines.
pub const ALERT: &str = "alert";
/// The target of a line for each token response.
pub const GRANT: &str = "grant";
/// The target of a line for each revocation that begins to take effect in a process.
pub const REVOCATION: &str = "revocation";
/// The target of a line for each password that was to be hashed.
pub const HASHING: &str = "hashing";

/// Names of the fields that are counted.
pub mod field {
    /// The name of a security event.
    pub const EVENT: &str = "event";
    /// The kind of an alert.
    pub const KIND: &str = "kind";
    /// The number of security events for which a line stands, if it is more than one.
    pub const COUNT: &str = "count";
    /// The grant type of a token request.
    pub const GRANT_TYPE: &str = "grant_type";
    /// The time from the request that revoked until the revocation took effect in this process, in microseconds.
    pub const LAG_US: &str = "lag_us";
    /// The time for which a password waited to be hashed, in microseconds.
    pub const WAIT_US: &str = "wait_us";
    /// Whether a password was not hashed, because too many others were.
    pub const REFUSED: &str = "refused";
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
