//! A JSON object that is written in pieces, so that a long array need not be held in memory as a whole.

use serde::Serialize;
use serde_json::Error;

/// Writes one JSON object. The methods append to a buffer; [`take_piece`](Self::take_piece) empties it and
/// returns its text.
pub(super) struct ObjectWriter {
    piece: String,
    /// Whether the next member or element follows another one.
    needs_comma: bool,
}

impl ObjectWriter {
    /// Begins an object.
    pub(super) fn begin() -> Self {
        Self {
            piece: "{".to_owned(),
            needs_comma: false,
        }
    }

    /// Writes a whole member.
    pub(super) fn member(&mut self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        self.write_name(name)?;
        self.piece.push_str(&serde_json::to_string(value)?);
        Ok(())
    }

    /// Begins a member whose value is an array.
    pub(super) fn begin_array(&mut self, name: &str) -> Result<(), Error> {
        self.write_name(name)?;
        self.piece.push('[');
        self.needs_comma = false;
        Ok(())
    }

    /// Writes an element of the current array.
    pub(super) fn element(&mut self, value: &impl Serialize) -> Result<(), Error> {
        self.write_comma_if_needed();
        self.piece.push_str(&serde_json::to_string(value)?);
        Ok(())
    }

    /// Ends the current array.
    pub(super) fn end_array(&mut self) {
        self.piece.push(']');
        self.needs_comma = true;
    }

    /// Ends the object.
    pub(super) fn end(&mut self) {
        self.piece.push('}');
    }

    /// Returns the text that was written since the last call.
    pub(super) fn take_piece(&mut self) -> String {
        std::mem::take(&mut self.piece)
    }

    fn write_name(&mut self, name: &str) -> Result<(), Error> {
        self.write_comma_if_needed();
        self.piece.push_str(&serde_json::to_string(name)?);
        self.piece.push(':');
        Ok(())
    }

    fn write_comma_if_needed(&mut self) {
        if std::mem::replace(&mut self.needs_comma, true) {
            self.piece.push(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_concatenate_to_one_object() {
        let mut writer = ObjectWriter::begin();
        writer.member("a", &1).unwrap();
        writer.member("b", &Some("}")).unwrap();
        writer.begin_array("none").unwrap();
        writer.end_array();
        writer.begin_array("some").unwrap();
        writer.element(&2).unwrap();
        let first = writer.take_piece();
        writer.element(&3).unwrap();
        writer.end_array();
        writer.end();
        let text = first + &writer.take_piece();
        assert_eq!(text, r#"{"a":1,"b":"}","none":[],"some":[2,3]}"#);
    }
}
