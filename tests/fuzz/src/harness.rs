//! Constants and functions that several targets share.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use identity::clients::ClientType;
use issuer::clients::{self, Registration};
use serde_json::Value;
use std::sync::LazyLock;
use storage::db::Db;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The URL of the issuer.
pub(crate) const ISSUER: &str = "https://issuer.example";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
});

static DATABASE: LazyLock<(Db, TempDir)> = LazyLock::new(|| {
    let directory = TempDir::new().expect("a temporary directory");
    let url = format!("sqlite:{}/empty.db", directory.path().display());
    let url = url.parse().expect("a database URL");
    (
        RUNTIME.block_on(Db::open(&url, 1, 1)).expect("a database"),
        directory,
    )
});

/// A database without tables: a function that reads from it or writes to it has accepted its input, and then
/// fails.
pub(crate) fn empty_database() -> &'static Db {
    &DATABASE.0
}

/// Runs a future to its end.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    // The connections of the database belong to this runtime, so every future runs on it.
    RUNTIME.block_on(future)
}

/// The time at which the inputs arrive: 2026-01-01 UTC.
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

/// Returns the input as text, if it is UTF-8.
pub(crate) fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

/// Returns a request's headers with a line of this name for each line of the input that can be the value of a
/// header.
pub(crate) fn headers(name: &HeaderName, input: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in input.split(|byte| *byte == b'\n') {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(name, value);
        }
    }
    headers
}

/// Returns a registration that is accepted if this redirect URI, or this JWK set of a client with keys, is
/// accepted.
pub(crate) fn registration(
    kind: ClientType,
    redirect_uri: Option<&str>,
    jwks: Option<Value>,
) -> Registration {
    let scope = Scope::named("posts:read").unwrap_or_default();
    Registration {
        redirect_uris: redirect_uri.map(str::to_owned).into_iter().collect(),
        jwks,
        ..Registration::new("app".to_owned(), "App".to_owned(), kind, scope)
    }
}

/// Returns whether a registration passes validation.
pub(crate) fn is_accepted(registration: Registration) -> bool {
    let context = RequestContext::without_request();
    let registered = wait(clients::register(
        empty_database(),
        ISSUER,
        registration,
        &context,
    ));
    match registered {
        Err(clients::Error::Invalid(_)) => false,
        // The registration was to be stored, in a database without tables.
        Err(clients::Error::Database(_)) => true,
        other => unreachable!("{other:?}"),
    }
}
