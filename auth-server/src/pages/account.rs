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
use super::{FormState, render, text};
use crate::paths;
use askama::Template;
use audit::events::list::SecurityEvent;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::consents::ConnectedApp;
use identity::sessions::OwnSession;
use identity::users::Role;

/// The number of events on the page.
const SHOWN_EVENTS: usize = 20;

/// The account of a user.
pub(crate) struct AccountPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The account, with events of which the page shows some.
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
    created_at: Timestamp,
    mfa_enabled: bool,
    has_password: bool,
    is_administrator: bool,
    /// The number of passkeys; `None` if no passkey can belong to this installation.
    passkeys: Option<u64>,
    /// Whether to offer a passkey above all else.
    offers_passkey: bool,
    sessions: Part<SessionItem>,
    apps: Part<AppItem<'a>>,
    events: Vec<EventItem<'a>>,
    /// Whether there are older events than those.
    has_older_events: bool,
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
    let Overview {
        account,
        sessions,
        apps,
        events,
    } = page.overview;
    let session = |own: &OwnSession| SessionItem::new(&own.session, own.current);
    let events = events.iter().filter_map(|event| {
        Some(EventItem {
            what: event_in_words(event)?,
            at: event.at,
            address: event.address.as_deref(),
        })
    });
    let mut events: Vec<_> = events.take(SHOWN_EVENTS + 1).collect();
    let has_older_events = events.len() > SHOWN_EVENTS;
    events.truncate(SHOWN_EVENTS);
    let passkeys = u64::try_from(account.passkeys).unwrap_or_default();
    let passkeys = page.has_passkeys.then_some(passkeys);
    let (path, parts) = (paths::ACCOUNT, page.parts);
    render(
        &text::of("account").plain(),
        &AccountTemplate {
            form: page.form,
            email: &account.user.email,
            email_verified: account.user.email_verified,
            created_at: account.user.created_at,
            mfa_enabled: account.mfa_enabled,
            has_password: account.has_password,
            is_administrator: account.user.role == Role::Admin,
            passkeys,
            offers_passkey: passkeys == Some(0) && page.has_recent_sign_in,
            sessions: Part::of(sessions, parts.sessions, (path, "sessions"), session),
            apps: Part::of(apps, parts.apps, (path, "apps"), app_item),
            events,
            has_older_events,
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

/// Returns an event in words; `None` if it says nothing to users. An app that gets access again is none:
/// silent renewals would displace all other events.
fn event_in_words(event: &SecurityEvent) -> Option<String> {
    let text = match event.name.as_str() {
        "authn_login_success" if event.detail.as_deref() == Some("passkey") => {
            text::of("event-signed-in-passkey")
        }
        "authn_login_success" => text::of("event-signed-in"),
        "authn_login_fail" => text::of("event-sign-in-failed"),
        "authn_login_lock" | "authn_mfa_lock" => text::of("event-locked"),
        "authn_logout" => text::of("event-signed-out"),
        "authn_session_revoked" => text::of("event-session-ended"),
        "authn_password_change" => text::of("event-password-changed"),
        "authn_password_reset_request" => text::of("event-reset-requested"),
        "authn_password_reset" => text::of("event-password-reset"),
        "authn_mfa_enabled" => text::of("event-two-step-on"),
        "authn_mfa_disabled" => text::of("event-two-step-off"),
        "authn_recovery_code_used" => text::of("event-recovery-code"),
        "authn_passkey_added" => text::of("event-passkey-added"),
        "authn_password_removed" => text::of("event-password-removed"),
        "authn_passkey_removed" => text::of("event-passkey-removed"),
        "authn_login_unlock" => text::of("event-unlocked"),
        "privilege_permissions_changed" => text::of("event-role-changed"),
        "authn_email_verification_request" => text::of("event-confirmation-requested"),
        "authn_email_verified" => text::of("event-email-confirmed"),
        "authn_email_change_request" => text::of("event-email-change-requested"),
        "authn_email_change" => text::of("event-email-changed"),
        "user_created" => text::of("event-account-created"),
        "user_disabled" => text::of("event-account-disabled"),
        "user_enabled" => text::of("event-account-enabled"),
        "authz_consent" if event.outcome == "failure" => text::of("event-app-denied"),
        "authz_consent_revoked" => text::of("event-app-disconnected"),
        "authn_code_reuse" | "authn_token_reuse" => text::of("event-reuse"),
        "authn_token_revoked" => text::of("event-tokens-revoked"),
        _ => return None,
    };
    let what = text.plain();
    Some(match u64::try_from(event.count) {
        Ok(count @ 2..) => text::of("event-repeated")
            .with("what", what)
            .count("n", count)
            .plain(),
        _ => what,
    })
}
