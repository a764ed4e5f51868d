//! User codes of devices: a code has the letters of the text that it was read from, and its displayed form is
//! read as the same code.

use crate::harness::text;
use issuer::device_requests::UserCode;

pub(super) fn check(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let Some(code) = UserCode::parse(text) else { return };
    let displayed = code.to_string();
    assert!(UserCode::parse(&displayed) == Some(code));
    let (left, right) = displayed.split_once('-').expect("two groups");
    assert_eq!((left.len(), right.len()), (4, 4));
    let letters: String = text.chars().filter(|char| char.is_alphanumeric()).collect();
    assert_eq!(letters.to_ascii_uppercase(), format!("{left}{right}"));
    assert!(displayed.chars().all(|char| "BCDFGHJKLMNPQRSTVWXZ-".contains(char)));
}
