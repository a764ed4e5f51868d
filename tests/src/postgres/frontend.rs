//! Parser of the messages that a client sends to PostgreSQL (protocol 3.0, "Message Formats").

use std::collections::HashMap;

/// The request codes of the packets before the startup message, to which the server responds before it
/// continues.
const ENCRYPTION_REQUESTS: [u32; 2] = [80_877_103, 80_877_104];

/// A message that matters to a count of statements and round trips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The preparation of a statement with this text.
    Parse(String),
    /// The execution of a prepared statement with this text.
    Execute(String),
    /// A simple query with this text, which the server executes and then reports that it is ready.
    Query(String),
    /// The request to end the implicit transaction and to report that the server is ready.
    Sync,
}

/// The parser of one connection. It knows the texts of the prepared statements and of the bound portals.
#[derive(Debug, Default)]
pub(super) struct Frontend {
    /// The beginning of an incomplete message.
    pending: Vec<u8>,
    /// Whether the startup message was read. Only the messages after it begin with their type.
    is_started: bool,
    statements: HashMap<String, String>,
    portals: HashMap<String, String>,
}

impl Frontend {
    /// Parses the next bytes. Returns the messages that they complete.
    pub(super) fn parse(&mut self, bytes: &[u8]) -> Vec<Message> {
        self.pending.extend_from_slice(bytes);
        let mut messages = Vec::new();
        while let Some((kind, body)) = self.take_packet() {
            match kind {
                Some(kind) => messages.extend(self.message(kind, &body)),
                None => self.is_started = !is_encryption_request(&body),
            }
        }
        messages
    }

    /// Removes the next complete packet from the pending bytes. Returns its type, which packets before the
    /// end of the startup do not have, and its body.
    fn take_packet(&mut self) -> Option<(Option<u8>, Vec<u8>)> {
        let type_length = usize::from(self.is_started);
        let length = self.pending.get(type_length..type_length + 4)?;
        // The length includes its own four bytes.
        let length = u32::from_be_bytes(length.try_into().ok()?);
        let end = type_length + usize::try_from(length).ok()?;
        if self.pending.len() < end {
            return None;
        }
        let packet: Vec<u8> = self.pending.drain(..end).collect();
        let kind = self.is_started.then(|| packet[0]);
        Some((kind, packet[type_length + 4..].to_vec()))
    }

    fn message(&mut self, kind: u8, body: &[u8]) -> Option<Message> {
        let mut strings = body.split(|byte| *byte == 0);
        let mut next = || String::from_utf8_lossy(strings.next().unwrap_or_default()).into_owned();
        match kind {
            b'P' => {
                let (name, text) = (next(), next());
                self.statements.insert(name, text.clone());
                Some(Message::Parse(text))
            }
            b'B' => {
                let (portal, statement) = (next(), next());
                let text = self.statements.get(&statement).cloned().unwrap_or_default();
                self.portals.insert(portal, text);
                None
            }
            b'E' => {
                let text = self.portals.get(&next()).cloned();
                Some(Message::Execute(text.unwrap_or_default()))
            }
            b'Q' => Some(Message::Query(next())),
            b'S' => Some(Message::Sync),
            _ => None,
        }
    }
}

fn is_encryption_request(body: &[u8]) -> bool {
    let code = body.get(..4).and_then(|code| code.try_into().ok());
    code.is_some_and(|code| ENCRYPTION_REQUESTS.contains(&u32::from_be_bytes(code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(kind: &[u8], body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [kind, &length.to_be_bytes(), body].concat()
    }

    fn session() -> Vec<u8> {
        [
            packet(b"", &80_877_103_u32.to_be_bytes()),
            packet(b"", b"\0\x03\0\0user\0postgres\0\0"),
            packet(b"P", b"s1\0SELECT $1\0\0\0"),
            packet(b"D", b"Ss1\0"),
            packet(b"S", b""),
            packet(b"B", b"\0s1\0\0\0\0\0\0\0"),
            packet(b"E", b"\0\0\0\0\0"),
            packet(b"S", b""),
            packet(b"Q", b"COMMIT\0"),
        ]
        .concat()
    }

    #[test]
    fn messages_are_found_whatever_the_sizes_of_the_reads() {
        let expected = [
            Message::Parse("SELECT $1".to_owned()),
            Message::Sync,
            Message::Execute("SELECT $1".to_owned()),
            Message::Sync,
            Message::Query("COMMIT".to_owned()),
        ];
        for size in [1, 3, 7, 1000] {
            let mut frontend = Frontend::default();
            let chunks = session();
            let found: Vec<Message> = chunks
                .chunks(size)
                .flat_map(|chunk| frontend.parse(chunk))
                .collect();
            assert_eq!(found, expected, "reads of {size} bytes");
        }
    }
}
