//! The page of one user, for administrators.

use super::history::{EventItem, History, event_items};
use super::user_change::UserChange;
use super::users::{role_in_words, tags};
use super::{ChangeItem, Count, InTerminal, quoted};
use crate::pages::overview::Overview;
use crate::pages::part::{Part, Parts};
use crate::pages::session_item::SessionItem;
use crate::pages::text::Text;
use crate::pages::{FormState, render, render_in_tab, text};
use crate::paths;
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::secret::Secret;
use identity::consents::ConnectedApp;
use identity::sessions::OwnSession;
use identity::users::Role;
use identity::users::account::Account;

/// The page of one user.
pub(crate) struct UserPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) overview: &'a Overview,
    /// The parts of the sessions and of the apps to show.
    pub(crate) parts: Parts,
    /// Whether it is the account of the administrator.
    pub(crate) is_own: bool,
    /// The path at which the administrator signs in again before a change, if it is needed.
    pub(crate) sign_in: Option<String>,
    /// Whether the clock of the issuer differs from that of the database.
    pub(crate) clock_differs: bool,
    /// The URL of the user at the API.
    pub(crate) url: &'a str,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "user.html")]
struct UserTemplate<'a> {
    form: FormState<'a>,
    id: i64,
    /// The path to which the forms are sent.
    changes_path: String,
    email: &'a str,
    role: String,
    tags: Vec<String>,
    created_at: Timestamp,
    disabled_at: Option<Timestamp>,
    /// The time at which sign-in was blocked last, if it may still be blocked.
    blocked_at: Option<Timestamp>,
    is_own: bool,
    sign_in: Option<&'a str>,
    clock_differs: bool,
    changes: Vec<ChangeItem>,
    sessions: Part<SessionItem>,
    /// The path of the list of the user's sessions, where an administrator can end each.
    all_sessions: String,
    apps: Part<AppItem<'a>>,
    /// Whether the page may lack some of the apps.
    may_lack_apps: bool,
    /// The path of the list of the user's connected apps, where an administrator can disconnect each.
    all_apps: String,
    history: History<'a>,
    events: Vec<EventItem<'a>>,
    all_events: String,
    /// The time of the last change, which tells whether a form is sent again.
    version: String,
    in_terminal: InTerminal,
    now: Timestamp,
}

struct AppItem<'a> {
    name: &'a str,
    path: String,
    scopes: Vec<String>,
}

/// Renders the page of one user.
pub(crate) fn user(page: &UserPage<'_>) -> Response {
    let Overview {
        account,
        sessions,
        apps,
        events,
        changes,
        families,
        emails,
        ..
    } = page.overview;
    let ended = [
        Count::all(sessions.len() as u64),
        Count {
            n: apps.len() as u64,
            may_lack_some: page.overview.may_lack_apps(),
        },
        Count::from(*families),
    ];
    let (id, parts) = (account.user.id, page.parts);
    let path: &str = &paths::of_user(id);
    let is_disabled = account.disabled_at.is_some();
    let of_user = |list| paths::with_query(list, &[("user_id", &id.to_string())]);
    let change = |change: UserChange| {
        let (label, effect) = change.in_words(ended, is_disabled);
        ChangeItem {
            name: change.as_str(),
            label: label.plain(),
            effect,
            is_dangerous: change.is_dangerous(),
            in_terminal: change.in_terminal(&account.user.email, page.url),
        }
    };
    let session = |own: &OwnSession| SessionItem::new(&own.session, own.current);
    let template = UserTemplate {
        form: page.form,
        id,
        changes_path: format!("{path}/changes"),
        email: &account.user.email,
        role: role_in_words(account.user.role),
        tags: tags(account),
        created_at: account.user.created_at,
        disabled_at: account.disabled_at,
        blocked_at: page.overview.blocked_at,
        is_own: page.is_own,
        sign_in: page.sign_in.as_deref(),
        clock_differs: page.clock_differs,
        changes: possible_changes(account)
            .into_iter()
            .filter(|change| !page.clock_differs || change.only_ends_access())
            .map(change)
            .collect(),
        sessions: Part::of(sessions, parts.sessions, (path, "sessions"), session),
        all_sessions: of_user(paths::ADMIN_SESSIONS),
        apps: Part::of(apps, parts.apps, (path, "apps"), app_item),
        may_lack_apps: page.overview.may_lack_apps(),
        all_apps: of_user(paths::ADMIN_CONSENTS),
        history: History::new(changes, emails, path),
        events: event_items(events, emails),
        all_events: of_user(paths::ADMIN_EVENTS),
        version: account.user.updated_at.to_string(),
        in_terminal: InTerminal::new(
            &format!("users show --email {}", quoted(&account.user.email)),
            &quoted(page.url),
        ),
        now: page.now,
    };
    render_in_tab("users", &account.user.email, &template)
}

/// Returns the changes that make sense for an account as it is. A user is signed out when the account is
/// disabled.
fn possible_changes(account: &Account) -> Vec<UserChange> {
    let has_second_factor = account.mfa_enabled || account.passkeys > 0;
    let roles = Role::ALL.into_iter().filter(|role| *role != account.user.role);
    let (sign_out, state) = match account.disabled_at {
        Some(_) => (None, UserChange::Enable),
        None => (Some(UserChange::SignOut), UserChange::Disable),
    };
    let mut changes: Vec<_> = sign_out.into_iter().collect();
    changes.extend([UserChange::Unlock, UserChange::SetPassword]);
    changes.extend(has_second_factor.then_some(UserChange::ResetSecondFactor));
    changes.extend(roles.map(UserChange::Role));
    changes.push(state);
    changes
}

fn app_item(app: &ConnectedApp) -> AppItem<'_> {
    AppItem {
        name: &app.access.client_name,
        path: paths::of_client(&app.id),
        scopes: app.access.scope.split(' ').map(text::scope).collect(),
    }
}

#[derive(Template)]
#[template(path = "initial_password.html")]
struct InitialPasswordTemplate<'a> {
    title: Text<'a>,
    password: &'a str,
    /// The path of the page of the user.
    next: &'a str,
}

/// Renders an initial password of the account with this address, which is shown once, and a link to the page
/// with the path `next`.
pub(crate) fn initial_password(email: &str, password: &Secret, next: &str) -> Response {
    let title = text::of("initial-password").with("email", email);
    let plain = title.plain();
    let template = InitialPasswordTemplate {
        title,
        password: password.expose(),
        next,
    };
    render(&plain, &template)
}
