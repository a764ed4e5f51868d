//! The command `healthcheck`.

use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

/// The time limit of the request. With the start of the process it is below two seconds.
const TIME_LIMIT: Duration = Duration::from_millis(1500);
/// The number of bytes of the response that are read.
const MAX_RESPONSE: u64 = 64 * 1024;

/// Asks the server at `address` whether it is live or, with `ready`, ready. Fails with a message unless it
/// answers 200 within the time limit.
pub(super) fn run(address: SocketAddr, ready: bool) -> Result<(), String> {
    let path = if ready { "/readyz" } else { "/livez" };
    let url = format!("http://{address}{path}");
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let asked = runtime.block_on(async { tokio::time::timeout(TIME_LIMIT, ask(address, path)).await });
    match asked {
        Ok(Ok(response)) => judge(&url, &response),
        Ok(Err(error)) => Err(format!("{url}: {error}: is the server running at this LISTEN?")),
        Err(_) => Err(format!("{url} does not answer within {TIME_LIMIT:?}")),
    }
}

/// Requests `path` and returns the response with its head. Not by reqwest, whose clients read the certificate
/// authorities of the machine first, and may use a proxy.
async fn ask(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.take(MAX_RESPONSE).read_to_string(&mut response).await?;
    Ok(response)
}

/// Fails unless the response is 200. The message names the dependencies that it reports as unavailable.
fn judge(url: &str, response: &str) -> Result<(), String> {
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, ""));
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    let status = status.ok_or_else(|| format!("{url} does not answer as an HTTP server does"))?;
    if status == "200" {
        return Ok(());
    }
    let report: Value = serde_json::from_str(body).unwrap_or_default();
    let checks = report["checks"].as_object().into_iter().flatten();
    let missing = checks.filter(|(_, state)| **state != "ok");
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
    match missing.as_slice() {
        [] => Err(format!("{url} answers {status}")),
        missing => Err(format!(
            "{url} answers {status}: unavailable: {}",
            missing.join(", ")
        )),
    }
}
