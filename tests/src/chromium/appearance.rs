//! The theme of the pages, the time zone, the window and its pictures.

use super::Chromium;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::path::Path;

/// The theme that the browser asks for, and the size of its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Appearance {
    /// Whether pages are dark.
    pub is_dark: bool,
    /// Whether the window is that of a phone.
    pub is_phone: bool,
}

impl Appearance {
    /// All combinations.
    pub fn all() -> impl Iterator<Item = Self> {
        [(false, false), (true, false), (false, true), (true, true)]
            .into_iter()
            .map(|(is_dark, is_phone)| Self { is_dark, is_phone })
    }

    /// A name for files, such as `phone-dark`.
    pub fn name(self) -> &'static str {
        match (self.is_phone, self.is_dark) {
            (false, false) => "desktop-light",
            (false, true) => "desktop-dark",
            (true, false) => "phone-light",
            (true, true) => "phone-dark",
        }
    }
}

impl Chromium {
    /// Changes the theme and the size of the window. The page stays.
    pub async fn appear(&self, appearance: Appearance) {
        let theme = if appearance.is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": theme }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features }))
            .await;
        match appearance.is_phone {
            true => self.be_a_phone(360).await,
            false => self.be_a_desktop(1280).await,
        }
    }

    /// Puts the browser into this time zone, such as `Asia/Kolkata`. It holds from the next page on.
    pub async fn be_in_time_zone(&self, zone: &str) {
        self.devtools("Emulation.setTimezoneOverride", json!({ "timezoneId": zone }))
            .await;
    }

    /// Makes the window that of a phone, of this width in pixels.
    pub async fn be_a_phone(&self, width: u32) {
        self.set_window(width, 740, true).await;
    }

    /// Makes the window that of a desktop, of this width in pixels.
    pub async fn be_a_desktop(&self, width: u32) {
        self.set_window(width, 800, false).await;
    }

    async fn set_window(&self, width: u32, height: u32, is_phone: bool) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Writes a picture of the whole page to a PNG file.
    pub async fn screenshot(&self, file: &Path) {
        let options = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.devtools("Page.captureScreenshot", options).await;
        let bytes = STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
}
