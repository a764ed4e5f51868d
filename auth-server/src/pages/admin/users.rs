//! The pages of the users, for administrators.

use super::{EventItem, InTerminal, counted, event_items, program, quoted};
use crate::http::paths;
use crate::pages::text::Text;
use crate::pages::{FormState, render, text, user_agent};
use askama::Template;
use audit::events::list::SecurityEvent;
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::secret::Secret;
use identity::grants::consents::list::Consent;
use identity::sessions::UserSession;
use identity::users::Role;
use identity::users::account::Account;
use identity::users::list::ListQuery;
use storage::paging::{PAGE_SIZE, Page};
use web::Links;

/// The page of all users.
pub(crate) struct UsersPage<'a> {
    pub(crate) accounts: &'a [Account],
    /// The condition on the users, which the form shows.
    pub(crate) query: &'a ListQuery,
    pub(crate) links: Links,
    /// The URL of the list with its condition.
    pub(crate) list_url: &'a str,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "users.html")]
struct UsersTemplate<'a> {
    email: String,
    roles: Vec<Choice>,
    states: [Choice; 2],
    refusals: Vec<Text<'a>>,
    users: Vec<UserItem<'a>>,
    links: &'a Links,
    create_command: String,
    in_terminal: InTerminal,
    now: Timestamp,
}

/// A value of a field with a few values.
struct Choice {
    value: &'static str,
    label: String,
    is_chosen: bool,
}

struct UserItem<'a> {
    id: i64,
    email: &'a str,
    role: String,
    tags: Vec<String>,
    created_at: Timestamp,
}

/// Renders the page of all users.
pub(crate) fn users(page: &UsersPage<'_>) -> Response {
    let query = page.query;
    let refused = query.refused.iter().map(|(name, value)| {
        let label = match *name {
            "role" => text::of("user-role"),
            "disabled" => text::of("user-state"),
            _ => text::of("email"),
        };
        let text = text::of("events-refused").with("field", label.plain());
        text.with("value", value)
    });
    let refused_email = query.refused.iter().find(|(name, _)| *name == "email");
    let email = match (&query.email, refused_email) {
        (Some(email), _) => email.as_str().to_owned(),
        (None, Some((_, value))) => value.clone(),
        (None, None) => String::new(),
    };
    let role = |role: Role| Choice {
        value: role.as_str(),
        label: role_in_words(role),
        is_chosen: query.role == Some(role),
    };
    let state = |value, is_disabled, label: Text<'_>| Choice {
        value,
        label: label.plain(),
        is_chosen: query.disabled == Some(is_disabled),
    };
    let users = page.accounts.iter().map(|account| UserItem {
        id: account.user.id,
        email: &account.user.email,
        role: role_in_words(account.user.role),
        tags: tags(account),
        created_at: account.user.created_at,
    });
    let template = UsersTemplate {
        email,
        roles: Role::ALL.map(role).into(),
        states: [
            state("false", false, text::of("user-enabled")),
            state("true", true, text::of("user-disabled")),
        ],
        refusals: refused.collect(),
        users: users.collect(),
        links: &page.links,
        create_command: format!("{} users create --help", program()),
        in_terminal: InTerminal::new("users list", &quoted(page.list_url)),
        now: page.now,
    };
    render(&text::of("users").plain(), &template)
}

fn role_in_words(role: Role) -> String {
    match role {
        Role::User => text::of("role-user"),
        Role::Editor => text::of("role-editor"),
        Role::Admin => text::of("role-admin"),
    }
    .plain()
}

/// Returns what is special about an account, in words.
fn tags(account: &Account) -> Vec<String> {
    let tags = [
        (account.disabled_at.is_some(), text::of("user-disabled")),
        (
            !account.user.email_verified,
            text::of("account-email-not-confirmed"),
        ),
        (account.mfa_enabled, text::of("user-two-step")),
        (account.passkeys > 0, text::of("user-passkeys")),
        (!account.has_password, text::of("user-without-password")),
    ];
    let tags = tags.into_iter().filter(|(holds, _)| *holds);
    tags.map(|(_, text)| text.plain()).collect()
}

/// A change of an account, as a form names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserChange {
    /// Disable the account.
    Disable,
    /// Enable the account.
    Enable,
    /// End all sessions and tokens.
    SignOut,
    /// Delete the failed sign-ins.
    Unlock,
    /// Turn two-step sign-in off and remove the passkeys.
    ResetSecondFactor,
    /// Generate an initial password.
    SetPassword,
    /// Give the user this role.
    Role(Role),
    /// End one session.
    EndSession,
    /// Revoke the consent to one app.
    RevokeConsent,
}

impl UserChange {
    /// All changes but those of the role.
    const WITHOUT_ROLE: [Self; 8] = [
        Self::Disable,
        Self::Enable,
        Self::SignOut,
        Self::Unlock,
        Self::ResetSecondFactor,
        Self::SetPassword,
        Self::EndSession,
        Self::RevokeConsent,
    ];

    /// Returns the change with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let role = name.strip_prefix("role-").and_then(Role::named);
        let plain = || {
            Self::WITHOUT_ROLE
                .into_iter()
                .find(|change| change.name() == name)
        };
        role.map(Self::Role).or_else(plain)
    }

    fn name(self) -> String {
        match self {
            Self::Disable => "disable".to_owned(),
            Self::Enable => "enable".to_owned(),
            Self::SignOut => "sign-out".to_owned(),
            Self::Unlock => "unlock".to_owned(),
            Self::ResetSecondFactor => "reset-second-factor".to_owned(),
            Self::SetPassword => "set-password".to_owned(),
            Self::Role(role) => format!("role-{}", role.as_str()),
            Self::EndSession => "end-session".to_owned(),
            Self::RevokeConsent => "revoke-consent".to_owned(),
        }
    }

    /// Returns the label of the button, and the effect on an account with these numbers of sessions and apps.
    fn in_words(self, sessions: usize, apps: usize) -> (Text<'static>, Text<'static>) {
        let (label, effect) = match self {
            Self::Disable => (text::of("user-disable"), text::of("user-disable-effect")),
            Self::Enable => (text::of("user-enable"), text::of("user-enable-effect")),
            Self::Unlock => (text::of("user-unlock"), text::of("user-unlock-effect")),
            Self::SetPassword => (
                text::of("user-set-password"),
                text::of("user-set-password-effect"),
            ),
            Self::ResetSecondFactor => (
                text::of("user-reset-second-factor"),
                text::of("user-reset-second-factor-effect"),
            ),
            Self::Role(role) => {
                let label = match role {
                    Role::User => text::of("user-make-user"),
                    Role::Editor => text::of("user-make-editor"),
                    Role::Admin => text::of("user-make-admin"),
                };
                (label, text::of("user-role-effect"))
            }
            Self::SignOut | Self::EndSession | Self::RevokeConsent => {
                (text::of("user-sign-out"), text::of("user-sign-out-effect"))
            }
        };
        let effect = effect.with("sessions", counted(sessions));
        (label, effect.with("apps", counted(apps)))
    }

    /// Returns the command and the call that make the change to the account with this address, whose URL at the API is `url`.
    fn in_terminal(self, email: &str, url: &str) -> InTerminal {
        let (command, call) = match self {
            Self::Disable => ("disable", format!("-X POST {url}/disablements")),
            Self::Enable => ("enable", format!("-X POST {url}/enablements")),
            Self::Unlock => ("unlock", format!("-X DELETE {url}/lockouts")),
            Self::ResetSecondFactor => ("reset-mfa", format!("-X DELETE {url}/mfa")),
            Self::SetPassword => ("set-password", format!("-X PUT {url}/password")),
            Self::Role(role) => {
                let command = format!(
                    "users set-role --email {} --role {}",
                    quoted(email),
                    role.as_str()
                );
                let body = format!("{{\"role\":\"{}\"}}", role.as_str());
                let call = format!("-X PATCH -H 'Content-Type: application/json' -d '{body}' {url}");
                return InTerminal::new(&command, &call);
            }
            Self::SignOut | Self::EndSession | Self::RevokeConsent => {
                return InTerminal::call(&format!("-X DELETE {url}/sessions"));
            }
        };
        InTerminal::new(&format!("users {command} --email {}", quoted(email)), &call)
    }

    const fn is_dangerous(self) -> bool {
        !matches!(self, Self::Enable | Self::Unlock)
    }
}

/// The page of one user.
pub(crate) struct UserPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) account: &'a Account,
    /// The newest sessions.
    pub(crate) sessions: &'a Page<UserSession>,
    /// The first apps to which the user has given access.
    pub(crate) consents: &'a Page<Consent>,
    /// The newest events.
    pub(crate) events: &'a [SecurityEvent],
    /// Whether it is the account of the administrator.
    pub(crate) is_own: bool,
    /// The path at which the administrator signs in again before a change, if it is needed.
    pub(crate) sign_in: Option<String>,
    /// The URL of the user at the API.
    pub(crate) url: &'a str,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "user.html")]
struct UserTemplate<'a> {
    form: FormState<'a>,
    id: i64,
    path: String,
    email: &'a str,
    role: String,
    tags: Vec<String>,
    created_at: Timestamp,
    is_own: bool,
    sign_in: Option<&'a str>,
    changes: Vec<ChangeItem>,
    sessions: Vec<SessionItem>,
    /// The name of the change that ends a session.
    end_session: String,
    has_more_sessions: bool,
    apps: Vec<AppItem<'a>>,
    /// The name of the change that revokes a consent.
    revoke_consent: String,
    has_more_apps: bool,
    events: Vec<EventItem<'a>>,
    all_events: String,
    /// The time of the last change, which tells whether a form is sent again.
    version: String,
    in_terminal: InTerminal,
    now: Timestamp,
}

struct ChangeItem {
    name: String,
    label: String,
    effect: Text<'static>,
    is_dangerous: bool,
    in_terminal: InTerminal,
}

struct SessionItem {
    id: i64,
    browser: String,
    began: Timestamp,
    last_used: Timestamp,
    address: String,
}

struct AppItem<'a> {
    name: &'a str,
    client_id: &'a str,
    path: String,
    scopes: Vec<String>,
}

/// Renders the page of one user.
pub(crate) fn user(page: &UserPage<'_>) -> Response {
    let account = page.account;
    let id = account.user.id;
    let (sessions, apps) = (page.sessions.items.len(), page.consents.items.len());
    let change = |change: UserChange| {
        let (label, effect) = change.in_words(sessions, apps);
        ChangeItem {
            name: change.name(),
            label: label.plain(),
            effect,
            is_dangerous: change.is_dangerous(),
            in_terminal: change.in_terminal(&account.user.email, page.url),
        }
    };
    let template = UserTemplate {
        form: page.form,
        id,
        path: paths::of_user(id),
        email: &account.user.email,
        role: role_in_words(account.user.role),
        tags: tags(account),
        created_at: account.user.created_at,
        is_own: page.is_own,
        sign_in: page.sign_in.as_deref(),
        changes: possible_changes(account).into_iter().map(change).collect(),
        sessions: page.sessions.items.iter().map(session_item).collect(),
        end_session: UserChange::EndSession.name(),
        has_more_sessions: sessions == PAGE_SIZE,
        apps: page.consents.items.iter().map(app_item).collect(),
        revoke_consent: UserChange::RevokeConsent.name(),
        has_more_apps: apps == PAGE_SIZE,
        events: event_items(page.events),
        all_events: paths::with_query(paths::ADMIN_EVENTS, &[("user_id", &id.to_string())]),
        version: account.user.updated_at.to_string(),
        in_terminal: InTerminal::new("users list", &quoted(page.url)),
        now: page.now,
    };
    render(&account.user.email, &template)
}

/// Returns the changes that make sense for an account as it is.
fn possible_changes(account: &Account) -> Vec<UserChange> {
    let has_second_factor = account.mfa_enabled || account.passkeys > 0;
    let roles = Role::ALL.into_iter().filter(|role| *role != account.user.role);
    let state = match account.disabled_at {
        Some(_) => UserChange::Enable,
        None => UserChange::Disable,
    };
    let mut changes = vec![UserChange::SignOut, UserChange::Unlock, UserChange::SetPassword];
    changes.extend(has_second_factor.then_some(UserChange::ResetSecondFactor));
    changes.extend(roles.map(UserChange::Role));
    changes.push(state);
    changes
}

fn session_item(session: &UserSession) -> SessionItem {
    let session = &session.session;
    SessionItem {
        id: session.id,
        browser: user_agent::in_words(session.user_agent.as_deref()),
        began: session.created_at,
        last_used: session.last_seen_at,
        address: session
            .address
            .clone()
            .unwrap_or_else(|| text::of("address-unknown").plain()),
    }
}

fn app_item(consent: &Consent) -> AppItem<'_> {
    AppItem {
        name: &consent.access.client_name,
        client_id: &consent.client_id,
        path: paths::of_client(&consent.client_id),
        scopes: consent.access.scope.split(' ').map(text::scope).collect(),
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

/// Renders an initial password of the account with this address, which is shown once, and a link to the page with the path `next`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_found_by_its_name() {
        let roles = Role::ALL.map(UserChange::Role);
        for change in UserChange::WITHOUT_ROLE.into_iter().chain(roles) {
            assert_eq!(UserChange::named(&change.name()), Some(change));
        }
        assert_eq!(UserChange::named("role-owner"), None);
        assert_eq!(UserChange::named(""), None);
    }
}
