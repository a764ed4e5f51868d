//! A mail as it travels (RFC 5322).

use crate::mail::Mail;
use foundation::clock::Timestamp;
use foundation::email::Email;
use lettre::Address;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Body, Mailbox, Message};
use std::time::{Duration, UNIX_EPOCH};

/// Keeps automatic replies away (RFC 3834 §5).
const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");
/// In bytes, without its end.
const LONGEST_LINE: usize = 998;

/// Writes a mail out. Its id and time make its Message-ID: one that is sent twice, after a crash in the middle, is
/// known as one. `None` if the address is none.
pub(super) fn compose(
    mail: &Mail,
    to: &str,
    from: &Mailbox,
    (id, at): (i64, Timestamp),
) -> Result<Message, Unsendable> {
    let to = Email::parse(to).map_err(|_| Unsendable)?;
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
        .map_err(|_| Unsendable)
}

/// Plain letters travel as they are, in lines as long as may be (RFC 5322 §2.1.1): wrapped and escaped, a link could
/// not be copied out of a file.
fn body(text: &str) -> Body {
    match text.is_ascii() && text.lines().all(|line| line.len() <= LONGEST_LINE) {
        true => Body::dangerous_pre_encoded(
            text.replace('\n', "\r\n").into_bytes(),
            ContentTransferEncoding::SevenBit,
        ),
        false => Body::new(text.to_owned()),
    }
}

/// What no message can be made of.
#[derive(Debug)]
pub(super) struct Unsendable;

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(to: &str, subject: &str, text: &str) -> Result<String, Unsendable> {
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
    fn a_message_has_the_headers_of_its_kind_and_plain_text() {
        let link = format!("https://id.example.org/reset?token={}", "x".repeat(43));
        let text = composed("Ann@example.org", "Hello", &format!("Here:\n\n{link}\n")).unwrap();
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
            assert!(text.split("\r\n").any(|found| found == line), "{line}:\n{text}");
        }
    }

    #[test]
    fn nothing_adds_a_header_or_an_address() {
        let subject = "Hello\r\nBcc: eve@example.org";
        let text = composed("ann@example.org", subject, "Hello").unwrap();
        assert!(!text.split("\r\n").any(|line| line.starts_with("Bcc:")), "{text}");
        for to in [
            "ann@example.org\r\nBcc: eve@example.org",
            "ann@example.org, eve@example.org",
            "ann",
        ] {
            assert!(composed(to, "Hello", "Hello").is_err(), "{to}");
        }
    }

    #[test]
    fn a_domain_of_other_letters_travels_in_ascii() {
        let text = composed("ann@b\u{fc}cher.example", "Gr\u{fc}\u{df}e", "Gr\u{fc}\u{df}e").unwrap();
        assert!(text.contains("To: ann@xn--bcher-kva.example\r\n"), "{text}");
        assert!(text.is_ascii(), "{text}");
    }
}
