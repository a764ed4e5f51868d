//! The page of a user's passkeys, and the challenge that it has in common with the sign-in page.

use super::{FormState, presentation, render, text, user_agent};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::passkeys::{Challenge, Passkey};

/// A challenge with the script that asks an authenticator for the answer.
pub(crate) struct PasskeyChallenge {
    pub(super) options: String,
    pub(super) state: String,
    /// The path of the page that shows another challenge.
    pub(super) page: String,
    /// The path of the script.
    pub(super) script: String,
}

impl PasskeyChallenge {
    /// Returns the challenge of the page with this path.
    pub(crate) fn new(challenge: Challenge, page: String) -> Self {
        Self {
            options: challenge.options,
            state: challenge.state.expose().to_owned(),
            page,
            script: presentation::brand().passkeys_script_path.clone(),
        }
    }
}

/// The passkeys of a user.
pub(crate) struct PasskeysPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) passkeys: &'a [Passkey],
    /// Whether the user signed in recently enough to add and remove passkeys.
    pub(crate) can_change: bool,
    /// The challenge for a new passkey; `None` if the user can add none.
    pub(crate) challenge: Option<PasskeyChallenge>,
    /// The name that was entered for a new passkey.
    pub(crate) name: Option<&'a str>,
    /// The `User-Agent` header of the browser, which suggests a name.
    pub(crate) user_agent: Option<&'a str>,
    /// The path of the page to sign in again.
    pub(crate) sign_in: String,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "passkeys.html")]
struct PasskeysTemplate<'a> {
    form: FormState<'a>,
    passkeys: Vec<PasskeyItem<'a>>,
    can_change: bool,
    challenge: Option<PasskeyChallenge>,
    name: String,
    sign_in: String,
}

struct PasskeyItem<'a> {
    id: i64,
    name: &'a str,
    is_synced: bool,
    /// The time since it was added, in words.
    added: String,
    last_used: Option<String>,
}

/// Renders the passkeys of a user.
pub(crate) fn passkeys(page: PasskeysPage<'_>) -> Response {
    let since = |at: Timestamp| text::duration(page.now.since(at));
    let items = page.passkeys.iter().map(|passkey| PasskeyItem {
        id: passkey.id,
        name: &passkey.name,
        is_synced: passkey.is_synced,
        added: since(passkey.created_at),
        last_used: passkey.last_used_at.map(since),
    });
    let name = page.name.map(str::to_owned);
    let template = PasskeysTemplate {
        form: page.form,
        passkeys: items.collect(),
        can_change: page.can_change,
        challenge: page.challenge,
        name: name.unwrap_or_else(|| user_agent::in_words(page.user_agent)),
        sign_in: page.sign_in,
    };
    render(&text::of("passkeys").plain(), &template)
}
