//! The traces and the reports of a page: requests, stored data, secrets in addresses, and messages in the
//! console.

use super::Chromium;
use crate::http::SECRETS;
use serde_json::{Value, json};

/// The parameters with secrets, beside those of forms.
const SECRETS_OF_ADDRESSES: [&str; 8] = [
    "code",
    "id_token",
    "id_token_hint",
    "client_assertion",
    "sid",
    "session",
    "csrf",
    "credential",
];
/// The authorization code that an app receives (RFC 6749 §4.1.2), here the demo client and the demo app.
const CODES_FOR_APPS: [&str; 2] = ["code at /demo", "code at /demo/callback"];
/// The tokens in the links of mails.
const MAILED_TOKENS: [&str; 2] = ["token at /verify", "token at /reset"];

/// Finds the traces of a page. The anti-forgery token is a UUID, a form that no secret of the issuer has, and
/// scripts may read it.
const TRACES: &str = r#"
    const [thirdParties, secrets] = args;
    const [page] = performance.getEntriesByType('navigation');
    // A logo may be part of the page.
    const isRequest = name => !name.startsWith('data:');
    const resources = performance.getEntriesByType('resource').map(entry => entry.name).filter(isRequest);
    const secretsIn = address => {
        const { pathname, search, hash } = new URL(address);
        const parameters = [search, hash.slice(1)].flatMap(text => [...new URLSearchParams(text)]);
        const found = parameters.filter(([name, value]) => value !== '' && secrets.includes(name));
        return found.map(([name]) => `${name} at ${pathname}`);
    };
    const ofStorage = [localStorage, sessionStorage].flatMap(storage => Object.keys(storage));
    const ofDatabases = (await indexedDB.databases()).map(database => database.name);
    const cookies = document.cookie.split('; ').filter(cookie => cookie !== '' && !/^csrf=[0-9a-f-]{36}$/.test(cookie));
    const ofWindow = [window.name, history.state].filter(Boolean);
    return {
        url: page.name,
        status: page.responseStatus,
        foreign: [page.name, ...resources].filter(name => ![location.origin, ...thirdParties].includes(new URL(name).origin)),
        stored: [...ofStorage, ...ofDatabases, ...await caches.keys(), ...cookies, ...ofWindow],
        opened: secretsIn(page.name),
        address: secretsIn(location.href),
        others: [...resources, document.referrer].filter(Boolean).flatMap(secretsIn),
    };
"#;

impl Chromium {
    /// Expects that the page has this status, and loaded everything from its own origin or those of the third
    /// parties; that it stored nothing that scripts can read later but the anti-forgery token; that no
    /// address has a secret, except the token of the mailed link that was opened and the code of an
    /// authorization response; and that the console has no error but the status of the page.
    pub async fn expect_no_trace(&self, third_parties: &[String], status: u16) {
        let secrets = [&SECRETS[..], &SECRETS_OF_ADDRESSES].concat();
        let traces = self.run(TRACES, &[json!(third_parties), json!(secrets)]).await;
        let url = traces["url"].as_str().unwrap();
        assert_eq!(traces["status"], status, "{traces}");
        for kind in ["foreign", "stored", "others"] {
            assert_eq!(traces[kind], json!([]), "{kind}: {traces}");
        }
        let is_code = |secret: &Value| CODES_FOR_APPS.iter().any(|code| secret == code);
        let is_mailed = |secret: &Value| MAILED_TOKENS.iter().any(|mailed| secret == mailed);
        let secrets = |kind: &str| traces[kind].as_array().unwrap().iter();
        assert!(secrets("address").all(is_code), "{traces}");
        assert!(
            secrets("opened").all(|secret| is_code(secret) || is_mailed(secret)),
            "{traces}"
        );
        let of_page = format!("{url} ");
        let with_status = format!("the server responded with a status of {status} (");
        let is_expected = |message: &String| {
            status >= 400 && message.starts_with(&of_page) && message.contains(&with_status)
        };
        let errors: Vec<String> = self.console().await;
        let errors: Vec<&String> = errors.iter().filter(|message| !is_expected(message)).collect();
        assert!(errors.is_empty(), "{url}: {errors:?}");
    }

    /// Returns the warnings and errors of the console since the last call.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "browser" })).await;
        let entries = entries.as_array().unwrap().iter();
        entries
            .filter(|entry| entry["level"] == "WARNING" || entry["level"] == "SEVERE")
            .map(|entry| entry["message"].as_str().unwrap().to_owned())
            .collect()
    }
}
