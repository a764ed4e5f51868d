//! Colors, and their contrast (WCAG 2.2).

use std::fmt;
use std::str::FromStr;

/// The contrast that text needs (WCAG 2.2, success criterion 1.4.3).
pub(crate) const MIN_CONTRAST: f64 = 4.5;
const BLACK: Color = Color::new(0, 0, 0);
const WHITE: Color = Color::new(255, 255, 255);

/// A color in sRGB. Displayed as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color([u8; 3]);

impl Color {
    /// Returns the color with these parts.
    pub(crate) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue])
    }

    /// Returns this color, mixed with as much black or white as text of it needs to have this contrast with a
    /// background.
    pub(crate) fn readable_on(self, background: Self, min_contrast: f64) -> Self {
        let target = background.opposite();
        let mixed = (0..=100).map(|share| self.mixed(target, share));
        mixed
            .into_iter()
            .find(|color| color.contrast(background) >= min_contrast)
            .unwrap_or(target)
    }

    /// Returns black or white, whichever has more contrast. The contrast is at least 4.58.
    pub(crate) fn opposite(self) -> Self {
        match self.contrast(BLACK) > self.contrast(WHITE) {
            true => BLACK,
            false => WHITE,
        }
    }

    /// Mixes this color with another one, whose share is in percent.
    fn mixed(self, other: Self, share: u16) -> Self {
        let part = |n: usize| {
            let sum = u16::from(self.0[n]) * (100 - share) + u16::from(other.0[n]) * share;
            u8::try_from(sum / 100).unwrap_or(u8::MAX)
        };
        Self([part(0), part(1), part(2)])
    }

    /// Returns the contrast ratio, which is between 1 and 21.
    fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// Returns the relative luminance, which is between 0 and 1.
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            match part <= 0.04045 {
                true => part / 12.92,
                false => ((part + 0.055) / 1.055).powf(2.4),
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

impl fmt::Display for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl FromStr for Color {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "a color is # and six hexadecimal digits, such as #0b5d4e";
        let digits = text.strip_prefix('#').ok_or(EXPECTED)?;
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(EXPECTED);
        }
        let number = u32::from_str_radix(digits, 16).map_err(|_| EXPECTED)?;
        let [_, red, green, blue] = number.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STYLESHEET: &str = include_str!("../../assets/latchkey.css");
    /// The stylesheet of the reference, which the API serves too.
    const REFERENCE: &str = include_str!("../../../shared/web/assets/reference.css");
    /// The contrast that the border of a field needs (WCAG 2.2, success criterion 1.4.11). The checks of the
    /// pages by axe-core measure that of text alone.
    const MIN_CONTRAST_OF_BORDERS: f64 = 3.0;

    /// Returns the colors of a token of a stylesheet, light and dark.
    fn token(stylesheet: &str, name: &str) -> [Color; 2] {
        let beginning = format!("--{name}: light-dark(");
        let (_, rest) = stylesheet.split_once(beginning.as_str()).unwrap();
        let (colors, _) = rest.split_once(')').unwrap();
        let (light, dark) = colors.split_once(", ").unwrap();
        [light, dark].map(|color| match color {
            "#fff" => WHITE,
            color => color.parse().unwrap(),
        })
    }

    #[test]
    fn the_tokens_of_the_stylesheet_have_enough_contrast() {
        for (color, background, min_contrast) in [
            ("ink", "ground", MIN_CONTRAST),
            ("ink", "card", MIN_CONTRAST),
            ("ink", "notice-ground", MIN_CONTRAST),
            ("quiet", "ground", MIN_CONTRAST),
            ("quiet", "card", MIN_CONTRAST),
            ("bad", "card", MIN_CONTRAST),
            ("bad", "bad-ground", MIN_CONTRAST),
            ("good", "card", MIN_CONTRAST),
            ("good", "good-ground", MIN_CONTRAST),
            ("notice", "card", MIN_CONTRAST),
            ("field", "card", MIN_CONTRAST_OF_BORDERS),
            ("field", "ground", MIN_CONTRAST_OF_BORDERS),
        ] {
            let colors = token(STYLESHEET, color).into_iter();
            for (color_of_theme, ground) in colors.zip(token(STYLESHEET, background)) {
                let contrast = color_of_theme.contrast(ground);
                assert!(contrast >= min_contrast, "{color} on {background}: {contrast}");
            }
        }
    }

    #[test]
    fn the_borders_of_parts_have_the_color_of_those_of_fields() {
        for selector in ["\n.tag {", "\n.empty {", "\ntime {", "\ntextarea {"] {
            let (_, rest) = STYLESHEET.split_once(selector).unwrap();
            let (rule, _) = rest.split_once('}').unwrap();
            assert!(rule.contains(" var(--field);"), "{selector}{rule}");
        }
    }

    #[test]
    fn the_reference_has_the_same_tokens_and_readable_links() {
        let tokens = REFERENCE.lines().filter(|line| line.starts_with("  --"));
        for line in tokens.filter(|line| !line.starts_with("  --link:")) {
            assert!(STYLESHEET.contains(&format!("\n{line}\n")), "{line}");
        }
        for background in ["ground", "card"] {
            let links = token(REFERENCE, "link").into_iter();
            for (link, ground) in links.zip(token(REFERENCE, background)) {
                assert!(link.contrast(ground) >= MIN_CONTRAST, "{link} on {ground}");
            }
        }
    }

    #[test]
    fn contrasts_are_those_of_the_standard() {
        assert!((WHITE.contrast(BLACK) - 21.0).abs() < 1e-9);
        let gray: Color = "#767676".parse().unwrap();
        assert!((gray.contrast(WHITE) - 4.54).abs() < 0.01);
        assert!("0b5d4e".parse::<Color>().is_err() && "#0b5d4".parse::<Color>().is_err());
    }

    proptest! {
        #[test]
        fn every_color_becomes_readable(parts: [u8; 3], background: [u8; 3]) {
            let (color, background) = (Color(parts), Color(background));
            let readable = color.readable_on(background, MIN_CONTRAST);
            prop_assert!(readable.contrast(background) >= MIN_CONTRAST);
            prop_assert!(readable.contrast(readable.opposite()) >= MIN_CONTRAST);
            prop_assert_eq!(color.to_string().parse(), Ok(color));
        }
    }
}
