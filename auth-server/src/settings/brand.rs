//! Settings of the branding of the pages.

use crate::pages::{Brand, BrandParts, Color, Logo};
use clap::Args;
use foundation::settings::InvalidSetting;
use std::path::{Path, PathBuf};
use url::Url;

/// The longest name of the service, in characters.
const MAX_NAME: usize = 60;
/// The largest logo, in bytes.
const MAX_LOGO: usize = 64 * 1024;

/// The branding of the pages.
#[derive(Args, Clone, Debug)]
pub struct BrandSettings {
    /// The name of the service on the pages [default: Latchkey].
    #[arg(long, env = "LATCHKEY_BRAND_NAME", global = true, value_name = "NAME", value_parser = parse_name)]
    pub brand_name: Option<String>,

    /// A file with the logo of the service: SVG, PNG or WebP, at most 64 KiB.
    #[arg(long, env = "LATCHKEY_BRAND_LOGO", global = true, value_name = "FILE")]
    pub brand_logo: Option<PathBuf>,

    /// The color of buttons and links, such as #0b5d4e. The pages use a darker or lighter one where it would
    /// not be readable.
    #[arg(long, env = "LATCHKEY_BRAND_ACCENT", global = true, value_name = "COLOR")]
    pub brand_accent: Option<Color>,

    /// The help for users of the service, to which every page links.
    #[arg(long, env = "LATCHKEY_HELP_URL", global = true, value_name = "URL", value_parser = parse_link)]
    pub help_url: Option<Url>,

    /// The terms of the service, to which every page links.
    #[arg(long, env = "LATCHKEY_TERMS_URL", global = true, value_name = "URL", value_parser = parse_link)]
    pub terms_url: Option<Url>,

    /// The privacy policy of the service, to which every page links.
    #[arg(long, env = "LATCHKEY_PRIVACY_URL", global = true, value_name = "URL", value_parser = parse_link)]
    pub privacy_url: Option<Url>,
}

impl BrandSettings {
    /// Reads the logo and returns the branding. Fails if the file cannot be read, is too large or is no such
    /// image.
    pub fn brand(&self) -> Result<Brand, InvalidSetting> {
        let logo = self.brand_logo.as_deref().map(read_logo).transpose();
        let logo = logo.map_err(|error| InvalidSetting(format!("BRAND_LOGO: {error}")))?;
        Ok(Brand::new(BrandParts {
            name: self.brand_name.clone(),
            logo,
            accent: self.brand_accent,
            help: self.help_url.clone(),
            terms: self.terms_url.clone(),
            privacy: self.privacy_url.clone(),
        }))
    }
}

fn parse_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(format!(
            "a name has 1 to {MAX_NAME} characters, none of which is a control character"
        ));
    }
    Ok(name.to_owned())
}

fn parse_link(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|error| format!("this is no URL: {error}"))?;
    match url.scheme() {
        "https" | "http" => Ok(url),
        scheme => Err(format!(
            "a link starts with https:// or http://, not with {scheme}:"
        )),
    }
}

fn read_logo(file: &Path) -> Result<Logo, String> {
    let failed = |problem: &dyn std::fmt::Display| format!("{}: {problem}", file.display());
    let bytes = std::fs::read(file).map_err(|error| failed(&error))?;
    if bytes.len() > MAX_LOGO {
        return Err(failed(&"the file is larger than 64 KiB"));
    }
    let media_type = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ if str::from_utf8(&bytes).is_ok_and(|text| text.contains("<svg")) => "image/svg+xml",
        _ => return Err(failed(&"the file is no SVG, PNG or WebP image")),
    };
    Ok(Logo { media_type, bytes })
}
