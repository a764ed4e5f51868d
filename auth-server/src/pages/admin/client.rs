//! The page of one app, for administrators.

use super::client_settings::settings;
use super::clients::{kind_in_words, tags};
use super::history::{EventItem, History, event_items};
use super::{ChangeItem, Count, InTerminal, counted, program, quoted};
use crate::pages::text::Text;
use crate::pages::{FormState, render_in_tab, text};
use crate::paths;
use askama::Template;
use audit::events::list::SecurityEvent;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::clients::{Client, ClientType};
use identity::consents::list::Consent;
use identity::refresh_families::FamilyCount;
use std::collections::HashMap;
use storage::paging::Page;

/// A change of an app, as a form names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientChange {
    /// Disable the app.
    Disable,
    /// Enable the app.
    Enable,
    /// Give the app a new secret.
    RotateSecret,
}

impl ClientChange {
    const ALL: [Self; 3] = [Self::Disable, Self::Enable, Self::RotateSecret];

    /// Returns the change with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|change| change.as_str() == name)
    }

    /// Returns whether the change only ends access, so that it does not wait for the repair of a clock.
    pub(crate) const fn only_ends_access(self) -> bool {
        matches!(self, Self::Disable)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Enable => "enable",
            Self::RotateSecret => "rotate-secret",
        }
    }
}

/// The page of one app.
pub(crate) struct ClientPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) client: &'a Client,
    /// The first consents of users.
    pub(crate) consents: &'a Page<Consent>,
    pub(crate) families: FamilyCount,
    /// The changes on the page.
    pub(crate) changes: &'a Page<SecurityEvent>,
    /// The newest events.
    pub(crate) events: &'a [SecurityEvent],
    /// The addresses of their users by the ids of these.
    pub(crate) emails: &'a HashMap<i64, String>,
    /// The path at which the administrator signs in again before a change, if it is needed.
    pub(crate) sign_in: Option<String>,
    /// Whether the clock of the issuer differs from that of the database.
    pub(crate) clock_differs: bool,
    /// The URL of the client at the API.
    pub(crate) url: &'a str,
    /// The path of the page.
    pub(crate) path: &'a str,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "client.html")]
struct ClientTemplate<'a> {
    form: FormState<'a>,
    client: &'a Client,
    kind: String,
    tags: Vec<String>,
    scopes: Vec<(&'static str, String)>,
    settings: Vec<Text<'static>>,
    secrets: Vec<SecretItem>,
    changes: Vec<ChangeItem>,
    /// The number of users who gave the app access, if it asks for that.
    users: Option<String>,
    /// The path of the list of their access, if there are any.
    all_users: Option<String>,
    /// The time at which the newest secret was made, which tells whether a form is sent again.
    version: String,
    /// The command that makes other changes.
    update_command: String,
    sign_in: Option<&'a str>,
    clock_differs: bool,
    /// The path to which the forms are sent.
    changes_path: String,
    history: History<'a>,
    events: Vec<EventItem<'a>>,
    all_events: String,
    /// The path of the page that shows the claims of the app's tokens.
    preview: String,
    in_terminal: InTerminal,
    now: Timestamp,
}

struct SecretItem {
    created_at: Timestamp,
    last_used_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
}

/// Renders the page of one app.
pub(crate) fn client(page: &ClientPage<'_>) -> Response {
    let client = page.client;
    let asks_for_consent = !client.first_party && client.kind != ClientType::Service;
    let is_valid = |end: Option<Timestamp>| end.is_none_or(|end| end > page.now);
    let secrets = client.secrets.iter().filter(|secret| is_valid(secret.expires_at));
    let secrets = secrets.map(|secret| SecretItem {
        created_at: secret.created_at,
        last_used_at: secret.last_used_at,
        expires_at: secret.expires_at,
    });
    let secrets: Vec<SecretItem> = secrets.collect();
    let rotation_effect = match secrets.len() {
        0 | 1 => text::of("client-rotate-secret-effect"),
        _ => text::of("client-rotate-secret-effect-of-two"),
    };
    let newest = client.secrets.iter().next();
    let version = newest.map(|secret| secret.created_at.to_string());
    let id = quoted(&client.id);
    let users = asks_for_consent.then(|| counted(page.consents.items.len()));
    let of_client = |list| paths::with_query(list, &[("client_id", &client.id)]);
    let has_users = asks_for_consent && !page.consents.items.is_empty();
    let template = ClientTemplate {
        form: page.form,
        client,
        kind: kind_in_words(client.kind),
        tags: tags(client),
        scopes: crate::pages::in_words(client.scope),
        settings: settings(client, page.now),
        secrets,
        changes: possible_changes(
            client,
            rotation_effect,
            disable_effect(client, users.as_deref(), page.families),
            page.url,
            page.clock_differs,
        ),
        users,
        all_users: has_users.then(|| of_client(paths::ADMIN_CONSENTS)),
        version: version.unwrap_or_default(),
        update_command: format!("{} clients update {id} --help", program()),
        sign_in: page.sign_in.as_deref(),
        clock_differs: page.clock_differs,
        changes_path: format!("{}/changes", page.path),
        history: History::new(page.changes, page.emails, page.path),
        events: event_items(page.events, page.emails),
        all_events: of_client(paths::ADMIN_EVENTS),
        preview: of_client(paths::ADMIN_TOKEN_PREVIEW),
        in_terminal: InTerminal::new(&format!("clients show {}", quoted(&client.id)), &quoted(page.url)),
        now: page.now,
    };
    render_in_tab("clients", &client.name, &template)
}

/// Returns what ends when an app is disabled. `users` is the number of those who gave it access.
fn disable_effect(client: &Client, users: Option<&str>, families: FamilyCount) -> Text<'static> {
    if client.kind == ClientType::Service {
        return text::of("client-disable-effect-service");
    }
    let effect = match users {
        Some(users) => text::of("client-disable-effect-users").with("users", users),
        None => text::of("client-disable-effect"),
    };
    effect.with("families", Count::from(families).in_words())
}

/// Returns the changes that make sense for an app as it is, whose URL at the API is `url`. While the clock
/// differs, the changes only end access.
fn possible_changes(
    client: &Client,
    rotation_effect: Text<'static>,
    disable_effect: Text<'static>,
    url: &str,
    clock_differs: bool,
) -> Vec<ChangeItem> {
    let id = quoted(&client.id);
    let change =
        |change: ClientChange, (label, effect): (Text<'_>, Text<'static>), command: &str, call: &str| {
            let call = format!("-X POST {}/{call}", quoted(url));
            ChangeItem {
                name: change.as_str(),
                label: label.plain(),
                effect,
                is_dangerous: change.only_ends_access(),
                in_terminal: InTerminal::new(&format!("clients {command} {id}"), &call),
            }
        };
    let may_make = |change: ClientChange| !clock_differs || change.only_ends_access();
    let has_secret = client.secrets.iter().next().is_some();
    let rotation = (has_secret && may_make(ClientChange::RotateSecret)).then(|| {
        let texts = (text::of("client-rotate-secret"), rotation_effect);
        change(ClientChange::RotateSecret, texts, "rotate-secret", "secrets")
    });
    let state = match client.disabled_at {
        Some(_) => may_make(ClientChange::Enable).then(|| {
            let texts = (text::of("client-enable"), text::of("client-enable-effect"));
            change(ClientChange::Enable, texts, "enable", "enablements")
        }),
        None => {
            let texts = (text::of("client-disable"), disable_effect);
            Some(change(ClientChange::Disable, texts, "disable", "disablements"))
        }
    };
    rotation.into_iter().chain(state).collect()
}
