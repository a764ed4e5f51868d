//! The service of the demo app in `deploy/compose.yaml`, which the profile `demo` adds.

use super::{Composition, base};
use crate::nginx::{self, Nginx};
use std::fs;

/// The server of the demo app, which ends on drop.
#[derive(Debug)]
pub struct DemoSite {
    /// `https://localhost:PORT`
    pub origin: String,
    _nginx: Nginx,
}

impl Composition {
    /// Starts the server of the demo app if there is a directory `site`. Its page gets the base URL with the
    /// port.
    pub(super) fn start_site(&self) -> Option<DemoSite> {
        let dir = self.dir.path();
        if !dir.join("site").is_dir() {
            return None;
        }
        self.give_secrets("demo");
        let page = dir.join("site/index.html");
        let text = fs::read_to_string(&page).unwrap();
        fs::write(&page, text.replace("https://localhost", &base(self.port))).unwrap();
        let config = self.place(&nginx::in_one_process("nginx-demo.conf"), "demo");
        fs::write(dir.join("demo.conf"), config).unwrap();
        let command = self.words("demo", &self.service("demo")["command"]);
        let log_dir = dir.join("demo");
        fs::create_dir(&log_dir).unwrap();
        Some(DemoSite {
            origin: base(self.site_port),
            _nginx: Nginx::start(&log_dir, &command[1..], self.site_port),
        })
    }
}
