//! A mail and its form on the wire (RFC 5322).

use crate::transport::SendError;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::email::Email;
use lettre::Address;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Body, Mailbox, Message};
use serde::{Deserialize, Serialize};
use std::time::{Duration, UNIX_EPOCH};

/// Prevents automatic replies (RFC 3834 §5).
const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");
/// The longest line in bytes, without CRLF (RFC 5322 §2.1.1).
const MAX_LINE: usize = 998;

/// A mail to be sent. The queue stores its serialized form, sealed.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Mail {
    /// The recipient. A mail without one is queued like any other and never sent.
    pub(super) to: Option<String>,
    /// The subject, one line.
    pub(super) subject: String,
    /// The body, plain text.
    pub(super) text: String,
}

/// Returns the phrase " from the IP address …" for the text of a mail, or an empty text if there is no
/// address.
pub(super) fn origin_phrase(context: &RequestContext) -> String {
    let address = context.address;
    address.map_or_else(String::new, |address| format!(" from the IP address {address}"))
}

/// Formats a mail to the address `to`. The Message-ID consists of the mail's id and creation time: if a mail
/// is sent twice because of a crash, receivers can recognize the duplicate. Fails if the address is invalid.
pub(super) fn compose(
    mail: &Mail,
    to: &str,
    from: &Mailbox,
    (id, at): (i64, Timestamp),
) -> Result<Message, SendError> {
    let to = Email::parse(to).map_err(|_| SendError::Unsendable)?;
    let (local, domain) = to.ascii_parts();
    // `Email` accepts less than `Address::new` does, so no second validation is needed.
    let to = Address::new_dangerous(local, domain);
    let since_epoch = Duration::from_micros(u64::try_from(at.micros()).unwrap_or_default());
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .date(UNIX_EPOCH + since_epoch)
        .message_id(Some(format!("<{}.{id}@{}>", at.micros(), from.email.domain())))
        .raw_header(HeaderValue::new(AUTO_SUBMITTED, "auto-generated".to_owned()))
        .header(ContentType::TEXT_PLAIN)
        .subject(mail.subject.clone())
        .body(body(&mail.text))
        .map_err(|_| SendError::Unsendable)
}

/// Encodes a text. ASCII text with lines of legal length stays unencoded, because quoted-printable would wrap
/// long links and they could not be copied from a file.
fn body(text: &str) -> Body {
    match text.is_ascii() && text.lines().all(|line| line.len() <= MAX_LINE) {
        true => Body::dangerous_pre_encoded(
            text.replace('\n', "\r\n").into_bytes(),
            ContentTransferEncoding::SevenBit,
        ),
        false => Body::new(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(to: &str, subject: &str, text: &str) -> Result<String, SendError> {
        let mail = Mail {
            to: Some(to.to_owned()),
            subject: subject.to_owned(),
            text: text.to_owned(),
        };
        let from: Mailbox = "Latchkey <latchkey@id.example.org>".parse().unwrap();
        let at = Timestamp::from_micros(1_700_000_000_000_001);
        let message = compose(&mail, to, &from, (7, at))?;
        Ok(String::from_utf8(message.formatted()).unwrap())
    }

    #[test]
    fn a_message_has_all_headers_and_plain_text() {
        let link = format!("https://id.example.org/reset?token={}", "x".repeat(43));
        let text = formatted("Ann@example.org", "Hello", &format!("Here:\n\n{link}\n")).unwrap();
        for line in [
            "From: Latchkey <latchkey@id.example.org>",
            "To: Ann@example.org",
            "Date: Tue, 14 Nov 2023 22:13:20 +0000",
            "Message-ID: <1700000000000001.7@id.example.org>",
            "Auto-Submitted: auto-generated",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: 7bit",
            link.as_str(),
        ] {
            assert!(text.split("\r\n").any(|other| other == line), "{line}:\n{text}");
        }
    }

    #[test]
    fn line_breaks_and_commas_inject_no_header_or_recipient() {
        let subject = "Hello\r\nBcc: eve@example.org";
        let text = formatted("ann@example.org", subject, "Hello").unwrap();
        assert!(!text.split("\r\n").any(|line| line.starts_with("Bcc:")), "{text}");
        for to in [
            "ann@example.org\r\nBcc: eve@example.org",
            "ann@example.org, eve@example.org",
            "ann",
        ] {
            assert!(formatted(to, "Hello", "Hello").is_err(), "{to}");
        }
    }

    #[test]
    fn an_international_domain_is_sent_in_ascii() {
        let text = formatted("ann@b\u{fc}cher.example", "Gr\u{fc}\u{df}e", "Gr\u{fc}\u{df}e").unwrap();
        assert!(text.contains("To: ann@xn--bcher-kva.example\r\n"), "{text}");
        assert!(text.is_ascii(), "{text}");
    }
}
