//! The start-up banner.

use crate::first_start::OneTimePassword;
use foundation::urls::Urls;
use std::io::{self, Write as _};

/// Prints the URLs and a first command on standard output.
pub(crate) fn print(urls: &Urls, password: Option<&OneTimePassword>) -> io::Result<()> {
    let base = foundation::urls::origin_of(&urls.base);
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
    writeln!(
        out,
        "  demo client   client_id demo, redirect_uri {base}{}",
        crate::demo::PATH
    )?;
    match password {
        Some(OneTimePassword::Terminal(secret)) => {
            writeln!(
                out,
                "  administrator admin@localhost, one-time password {} (shown only once)",
                secret.expose()
            )?;
        }
        Some(OneTimePassword::File(path)) => {
            writeln!(
                out,
                "  administrator admin@localhost, one-time password in {}",
                path.display()
            )?;
        }
        None => {}
    }
    writeln!(out, "Try next: curl {base}/livez")
}
