//! E-mail addresses: the key of an accepted address is in normal form, and the mail library accepts the
//! address.

use crate::harness::text;
use foundation::email::Email;
use mail::Address;

pub(super) fn check(input: &[u8]) {
    let Some(Ok(email)) = text(input).map(Email::parse) else {
        return;
    };
    let key = Email::parse(email.key()).expect("the key is an address");
    assert_eq!((key.key(), key.as_str()), (email.key(), email.key()));
    assert!(email.key().bytes().all(|byte| byte.is_ascii_graphic()));
    assert!(email.as_str().chars().all(|c| !c.is_control() && !c.is_whitespace()));
    let (local, domain) = email.ascii_parts();
    assert!(Address::new(local, domain).is_ok());
}
