//! Parameters of forms and of the JSON in place of a form: they survive a round trip. If they have no flaw,
//! no name but `resource` is repeated, none contains NUL, and there are at most 100.

use issuer::grants::AuthorizationRequest;
use issuer::params::{Params, REPEATED};
use std::collections::HashSet;

pub(super) fn check(input: &[u8]) {
    for params in [Some(Params::from_form(input)), Params::from_json(input)].into_iter().flatten() {
        assert_eq!(Params::from_form(params.to_form().as_bytes()), params);
        let request: AuthorizationRequest = params.read().expect("any parameters can be read");
        assert_eq!(request.client_id, params.get("client_id").unwrap_or_default());
        let form = params.to_form();
        let pairs: Vec<(String, String)> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        let mut seen = HashSet::new();
        let is_unique = pairs.iter().all(|(name, _)| name == "resource" || seen.insert(name));
        let resources = pairs.iter().filter(|(name, value)| name == "resource" && !value.is_empty());
        assert_eq!(request.resource.len(), resources.count());
        let has_nul = pairs.iter().any(|(name, value)| name.contains('\0') || value.contains('\0'));
        match params.flaw() {
            None => assert!(is_unique && !has_nul && pairs.len() <= 100),
            Some(REPEATED) => assert!(!is_unique),
            Some(_) => assert!(has_nul || pairs.len() > 100),
        }
    }
}
