//! Characters that change how the text around them is shown.

/// Returns whether a character changes the direction of text (UAX #9).
pub const fn is_directional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
