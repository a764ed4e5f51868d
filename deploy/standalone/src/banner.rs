//! The start-up banner.

use crate::first_start::{ADMINISTRATOR, Bootstrapped, DEMO_CLIENT_ID, DEMO_PATH, InitialPassword};
use foundation::urls::{Urls, origin_of};
use std::io::{self, Write as _};

/// Prints the URLs, the demo client and the demo app if there are such, the initial password of a new
/// administrator and a first command to standard output.
pub(crate) fn print(urls: &Urls, has_demo_client: bool, done: &Bootstrapped) -> io::Result<()> {
    let base = origin_of(&urls.base);
    let issuer = &urls.issuer;
    let mut out = io::stdout().lock();
    writeln!(out, "Latchkey {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "  front page    {base}/")?;
    writeln!(out, "  API           {base}/posts")?;
    writeln!(out, "  sign in       {issuer}/signin")?;
    writeln!(
        out,
        "  discovery     {issuer}/.well-known/oauth-authorization-server"
    )?;
    if has_demo_client {
        writeln!(
            out,
            "  demo client   client_id {DEMO_CLIENT_ID}, redirect_uri {base}{DEMO_PATH}"
        )?;
    }
    if done.has_demo_app {
        writeln!(out, "  demo app      {issuer}{DEMO_PATH}")?;
    }
    match &done.password {
        Some(InitialPassword::Terminal(secret)) => {
            writeln!(
                out,
                "  administrator {ADMINISTRATOR}, initial password {} (shown only once)",
                secret.expose()
            )?;
        }
        Some(InitialPassword::File(path)) => {
            writeln!(
                out,
                "  administrator {ADMINISTRATOR}, initial password in {}",
                path.display()
            )?;
        }
        None => {}
    }
    writeln!(out, "Try next: curl {base}/livez")
}
