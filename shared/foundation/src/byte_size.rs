//! Numbers of bytes in settings.

/// Parses a number of bytes: an integer with the unit `KiB`, `MiB`, `GiB` or `TiB`, or without a unit in
/// bytes, up to 1024 TiB. The error is a message for the operator.
pub fn parse_byte_size(text: &str) -> Result<i64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let with_unit = units
        .iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (digits, shift) = with_unit.unwrap_or((text, 0));
    let n: i64 = digits
        .parse()
        .map_err(|_| "a size is an integer followed by KiB, MiB, GiB or TiB, such as 1GiB".to_owned())?;
    match n.checked_mul(1 << shift) {
        Some(bytes @ 1..=0x4_0000_0000_0000) => Ok(bytes),
        _ => Err("a size must be between 1 byte and 1024TiB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit_or_are_in_bytes() {
        for (text, bytes) in [
            ("1", 1),
            ("2KiB", 2_048),
            ("3MiB", 3_145_728),
            ("1GiB", 1 << 30),
            ("1024TiB", 1 << 50),
        ] {
            assert_eq!(parse_byte_size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "0",
            "-1",
            "1 GiB",
            "1GB",
            "GiB",
            "1.5GiB",
            "1025TiB",
            "9999999999TiB",
        ] {
            assert!(parse_byte_size(text).is_err(), "{text}");
        }
    }
}
