//! The pages of a user's own account.

mod deletion;
mod email;
mod two_step;

pub(crate) use deletion::{DeletionPage, deletion};
pub(crate) use email::{EmailPage, email};
pub(super) use two_step::qr_code;
pub(crate) use two_step::{recovery_codes, two_step_enrollment, two_step_off, two_step_on};

use super::overview::Overview;
use super::part::{Part, Parts};
use super::session_item::SessionItem;
use super::{FormState, event_words, render, text};
use crate::paths;
use askama::Template;
use audit::events::list::SecurityEvent;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::consents::ConnectedApp;
use identity::sessions::OwnSession;
use identity::users::Role;
use std::collections::HashMap;

/// The page asks the user to replace the recovery codes when this many or fewer are left.
const FEW_RECOVERY_CODES: u64 = 2;

/// The account of a user.
pub(crate) struct AccountPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The account, with the events that tell its user something.
    pub(crate) overview: &'a Overview,
    /// The parts of the sessions and of the apps to show.
    pub(crate) parts: Parts,
    /// Whether passkeys can belong to this installation.
    pub(crate) has_passkeys: bool,
    /// Whether the user signed in just now.
    pub(crate) has_recent_sign_in: bool,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountTemplate<'a> {
    form: FormState<'a>,
    email: &'a str,
    email_verified: bool,
    /// The address of a change that waits for its confirmation.
    requested_email: Option<&'a str>,
    created_at: Timestamp,
    mfa_enabled: bool,
    /// The number of unused recovery codes.
    recovery_codes_left: u64,
    /// Whether a notice at the top of the page asks the user to replace them.
    has_few_recovery_codes: bool,
    has_password: bool,
    is_administrator: bool,
    /// The number of passkeys; `None` if no passkey can belong to this installation.
    passkeys: Option<u64>,
    /// Whether to offer a passkey above all else.
    offers_passkey: bool,
    sessions: Part<SessionItem>,
    apps: Part<AppItem<'a>>,
    /// Whether the user may have more apps than those.
    may_lack_apps: bool,
    events: Vec<EventItem<'a>>,
    now: Timestamp,
}

struct AppItem<'a> {
    id: &'a str,
    name: &'a str,
    /// The granted access, in words.
    scopes: Vec<String>,
    last_used: Option<Timestamp>,
}

struct EventItem<'a> {
    what: String,
    at: Timestamp,
    address: Option<&'a str>,
}

/// Renders the account.
pub(crate) fn account(page: &AccountPage<'_>) -> Response {
    let (overview, account) = (page.overview, &page.overview.account);
    let session = |own: &OwnSession| SessionItem::new(&own.session, own.current);
    let events = overview.events.iter().map(|event| EventItem {
        what: for_its_user(event, &overview.names),
        at: event.at,
        address: event.address.as_deref(),
    });
    let passkeys = u64::try_from(account.passkeys).unwrap_or_default();
    let passkeys = page.has_passkeys.then_some(passkeys);
    let recovery_codes_left = u64::try_from(account.recovery_codes_left).unwrap_or_default();
    let needs_codes = account.mfa_enabled && account.has_password;
    let (path, parts) = (paths::ACCOUNT, page.parts);
    render(
        &text::of("account").plain(),
        &AccountTemplate {
            form: page.form,
            email: &account.user.email,
            email_verified: account.user.email_verified,
            requested_email: overview.requested_email.as_deref(),
            created_at: account.user.created_at,
            mfa_enabled: account.mfa_enabled,
            recovery_codes_left,
            has_few_recovery_codes: needs_codes && recovery_codes_left <= FEW_RECOVERY_CODES,
            has_password: account.has_password,
            is_administrator: account.user.role == Role::Admin,
            passkeys,
            offers_passkey: passkeys == Some(0) && page.has_recent_sign_in,
            sessions: Part::of(&overview.sessions, parts.sessions, (path, "sessions"), session),
            apps: Part::of(&overview.apps, parts.apps, (path, "apps"), app_item),
            may_lack_apps: overview.may_lack_apps(),
            events: events.collect(),
            now: page.now,
        },
    )
}

fn app_item(app: &ConnectedApp) -> AppItem<'_> {
    AppItem {
        id: &app.id,
        name: &app.access.client_name,
        scopes: app.access.scope.split(' ').map(text::scope).collect(),
        last_used: app.access.last_used_at,
    }
}

/// Returns an event in words, with the name of its app, which is one of `names` by the ids.
fn for_its_user(event: &SecurityEvent, names: &HashMap<String, String>) -> String {
    let what = event_words::in_words(event);
    let what = match event.client_id.as_ref().and_then(|id| names.get(id)) {
        Some(app) => text::of("event-of-app")
            .with("what", what)
            .with("app", app)
            .plain(),
        None => what,
    };
    match event.repetitions() {
        Some(count) => text::of("event-repeated")
            .with("what", what)
            .count("n", count)
            .plain(),
        None => what,
    }
}
