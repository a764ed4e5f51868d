//! The start-up banner.

use crate::first_start::{ADMINISTRATOR, Bootstrapped, InitialPassword};
use auth_server::demo_clients::{DEMO_CLIENT_ID, DEMO_PATH};
use foundation::urls::{Urls, origin_of};
use std::io::{self, Write as _};

/// Prints the URLs, the demo client and the demo app if there are such, the initial password of a new
/// administrator and a first command to standard output.
pub(crate) fn print(urls: &Urls, has_demo_client: bool, done: &Bootstrapped) -> io::Result<()> {
    let base = origin_of(&urls.base);
    let issuer = &urls.issuer;
    let password = done.password.as_ref().map(|password| match password {
        InitialPassword::Terminal(secret) => format!("{} (shown only once)", secret.expose()),
        InitialPassword::File(path) => format!("in {}", path.display()),
    });
    let demo_client = format!("client_id {DEMO_CLIENT_ID}, redirect_uri {base}{DEMO_PATH}");
    let demo_app = format!("{issuer}{DEMO_PATH}");
    let discovery = format!("{issuer}/.well-known/oauth-authorization-server");
    let administrator = password.map(|place| format!("{ADMINISTRATOR}, initial password {place}"));
    let lines = [
        ("front page", Some(format!("{base}/"))),
        ("API", Some(format!("{base}/posts"))),
        ("sign in", Some(format!("{issuer}/signin"))),
        ("discovery", Some(discovery)),
        ("demo client", has_demo_client.then_some(demo_client)),
        ("demo app", done.has_demo_app.then_some(demo_app)),
        ("administrator", administrator),
    ];
    let mut out = io::stdout().lock();
    writeln!(out, "Latchkey {}", env!("CARGO_PKG_VERSION"))?;
    for (name, value) in lines {
        if let Some(value) = value {
            writeln!(out, "  {name:<13} {value}")?;
        }
    }
    writeln!(out, "Try next: curl {base}/livez")
}
