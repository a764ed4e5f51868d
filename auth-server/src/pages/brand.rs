//! The branding of the pages.

use super::color::{Color, MIN_CONTRAST};
use foundation::secret;
use url::Url;

/// The stylesheet without the colors of the branding.
const STYLESHEET: &str = include_str!("../../assets/latchkey.css");
/// The script, without which the pages work too.
pub(super) const SCRIPT: &str = include_str!("../../assets/pages.js");
/// The script that follows the security events.
pub(super) const EVENTS_SCRIPT: &str = include_str!("../../assets/events.js");
/// The script of passkeys.
pub(super) const PASSKEYS_SCRIPT: &str = include_str!("../../assets/passkeys.js");
/// The color of buttons and links that no setting replaces.
const DEFAULT_ACCENT: Color = Color::new(0x0b, 0x5d, 0x4e);
/// The backgrounds of the stylesheet on which the accent is least readable, light and dark, each with the
/// contrast of the accent. Thin light text on a dark ground needs more than the minimum to be read with ease.
const BACKGROUNDS: [(Color, f64); 2] = [
    (Color::new(0xf3, 0xf4, 0xf1), MIN_CONTRAST),
    (Color::new(0x1c, 0x20, 0x27), 6.5),
];

/// The parts of the branding that an operator can choose.
#[derive(Debug, Default)]
pub(crate) struct BrandParts {
    /// The name of the service.
    pub(crate) name: Option<String>,
    /// The logo.
    pub(crate) logo: Option<Logo>,
    /// The color of buttons and links.
    pub(crate) accent: Option<Color>,
    /// The help for users of the service.
    pub(crate) help: Option<Url>,
    /// The terms of the service.
    pub(crate) terms: Option<Url>,
    /// The privacy policy of the service.
    pub(crate) privacy: Option<Url>,
}

/// An image.
#[derive(Clone, Debug)]
pub(crate) struct Logo {
    /// The media type.
    pub(crate) media_type: &'static str,
    /// The content of the file.
    pub(crate) bytes: Vec<u8>,
}

/// The name, the logo, the paths of the assets, and the links of the pages.
#[derive(Debug)]
pub struct Brand {
    pub(super) name: String,
    pub(super) logo: Option<Logo>,
    /// The path of the logo, which changes with its content.
    pub(super) logo_path: Option<String>,
    pub(super) stylesheet: String,
    /// The path of the stylesheet, which changes with its content.
    pub(super) stylesheet_path: String,
    /// The path of the script, which changes with its content.
    pub(super) script_path: String,
    /// The path of the script of passkeys, which changes with its content.
    pub(super) passkeys_script_path: String,
    /// The path of the script that follows the security events, which changes with its content.
    pub(super) events_script_path: String,
    pub(super) help: Option<Url>,
    pub(super) terms: Option<Url>,
    pub(super) privacy: Option<Url>,
}

impl Brand {
    /// Returns the branding with these parts, and the usual ones in place of those that are missing.
    pub(crate) fn new(parts: BrandParts) -> Self {
        let accent = parts.accent.unwrap_or(DEFAULT_ACCENT);
        let [light, dark] =
            BACKGROUNDS.map(|(background, contrast)| accent.readable_on(background, contrast));
        let stylesheet = format!(
            ":root {{\n  --accent: light-dark({light}, {dark});\n  --on-accent: light-dark({}, {});\n}}\n\n{STYLESHEET}",
            light.opposite(),
            dark.opposite(),
        );
        Self {
            name: parts.name.unwrap_or_else(|| "Latchkey".to_owned()),
            logo_path: parts
                .logo
                .as_ref()
                .map(|logo| versioned("/assets/logo", &secret::encode(&logo.bytes))),
            logo: parts.logo,
            stylesheet_path: versioned("/assets/latchkey.css", &stylesheet),
            stylesheet,
            script_path: versioned("/assets/pages.js", SCRIPT),
            passkeys_script_path: versioned("/assets/passkeys.js", PASSKEYS_SCRIPT),
            events_script_path: versioned("/assets/events.js", EVENTS_SCRIPT),
            help: parts.help,
            terms: parts.terms,
            privacy: parts.privacy,
        }
    }

    /// Returns the name of the service.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the URL of the help for users, if the operator has set one.
    pub fn help(&self) -> Option<&str> {
        self.help.as_ref().map(Url::as_str)
    }
}

impl Default for Brand {
    fn default() -> Self {
        Self::new(BrandParts::default())
    }
}

/// Returns the path of an asset with a query that changes with its content, so that caches never serve an
/// outdated one.
fn versioned(path: &str, content: &str) -> String {
    let hash = secret::encode(&secret::hash(content));
    format!("{path}?v={}", &hash[..12])
}
