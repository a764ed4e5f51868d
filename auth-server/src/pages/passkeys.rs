//! The page of a user's passkeys, and the challenge that it has in common with the sign-in page.

use super::{FormState, presentation, render, text, user_agent};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::passkeys::{Challenge, Passkey};
use identity::users::account::Account;

/// A challenge with the script that asks an authenticator for the answer.
pub(crate) struct PasskeyChallenge {
    pub(super) options: String,
    pub(super) state: String,
    /// The number of seconds in which an answer is accepted.
    pub(super) seconds: u64,
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
            seconds: challenge.lifetime.as_secs(),
            page,
            script: presentation::brand().passkeys_script_path.clone(),
        }
    }
}

/// A name that a user entered.
#[derive(Clone, Copy)]
pub(crate) struct EnteredName<'a> {
    /// The id of the passkey to rename; `None` for a new passkey.
    pub(crate) passkey: Option<i64>,
    pub(crate) name: &'a str,
}

/// The passkeys of a user.
pub(crate) struct PasskeysPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) account: &'a Account,
    pub(crate) passkeys: &'a [Passkey],
    pub(crate) can_remove_password: bool,
    /// The challenge for a new passkey; `None` if the user can add none.
    pub(crate) challenge: Option<PasskeyChallenge>,
    /// The authorization flow that continues afterwards.
    pub(crate) flow: Option<&'a str>,
    /// The path of the page on which it continues.
    pub(crate) next: Option<String>,
    /// The name that was entered in a form that failed.
    pub(crate) entered: Option<EnteredName<'a>>,
    /// The `User-Agent` header of the browser, which suggests a name.
    pub(crate) user_agent: Option<&'a str>,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "passkeys.html")]
struct PasskeysTemplate<'a> {
    form: FormState<'a>,
    /// The address of the account.
    email: &'a str,
    passkeys: Vec<PasskeyItem<'a>>,
    /// Whether another name was entered for one of them.
    entered_other: bool,
    challenge: Option<PasskeyChallenge>,
    flow: Option<&'a str>,
    /// The path of the page on which the flow continues.
    next: Option<String>,
    name: String,
    /// Whether the name of a new passkey was entered.
    entered_new: bool,
    has_password: bool,
    can_remove_password: bool,
    now: Timestamp,
}

struct PasskeyItem<'a> {
    id: i64,
    name: &'a str,
    /// The name that the user entered in place of it.
    entered: Option<&'a str>,
    is_synced: bool,
    added: Timestamp,
    last_used: Option<Timestamp>,
}

/// Renders the passkeys of a user.
pub(crate) fn passkeys(page: PasskeysPage<'_>) -> Response {
    let entered = |passkey: Option<i64>| {
        let entered = page.entered.filter(|entered| entered.passkey == passkey);
        entered.map(|entered| entered.name)
    };
    let items = page.passkeys.iter().map(|passkey| PasskeyItem {
        id: passkey.id,
        name: &passkey.name,
        entered: entered(Some(passkey.id)),
        is_synced: passkey.is_synced,
        added: passkey.created_at,
        last_used: passkey.last_used_at,
    });
    let passkeys: Vec<_> = items.collect();
    let name = entered(None).map(str::to_owned);
    let entered_new = name.is_some();
    let template = PasskeysTemplate {
        entered_new,
        form: page.form,
        email: &page.account.user.email,
        entered_other: passkeys.iter().any(|passkey| passkey.entered.is_some()),
        passkeys,
        challenge: page.challenge,
        flow: page.flow,
        next: page.next,
        name: name.unwrap_or_else(|| user_agent::in_words(page.user_agent)),
        has_password: page.account.has_password,
        can_remove_password: page.can_remove_password,
        now: page.now,
    };
    render(&text::of("passkeys").plain(), &template)
}
