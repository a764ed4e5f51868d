//! Scopes: an accepted scope survives a round trip, and contains the requested names and no others.

use crate::harness::text;
use foundation::scope::Scope;

pub(super) fn check(input: &[u8]) {
    let Some((text, Ok(scope))) = text(input).map(|text| (text, text.parse::<Scope>())) else {
        return;
    };
    assert_eq!(scope.to_string().parse::<Scope>().ok(), Some(scope));
    let asked: Vec<&str> = text.split(' ').filter(|name| !name.is_empty()).collect();
    assert!(asked.iter().all(|name| scope.contains(name)));
    assert!(scope.iter().all(|name| asked.contains(&name)));
}
