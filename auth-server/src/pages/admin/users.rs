//! The page of all users, for administrators.

use super::filter::{Condition, Refused};
use super::{Choice, InTerminal, by_name, by_time, none, options, orders, program, quoted};
use crate::pages::text::Text;
use crate::pages::{render_in_tab, text};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::users::Role;
use identity::users::account::Account;
use identity::users::list::ListQuery;
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
    search: Condition,
    roles: [Choice; 3],
    states: [Choice; 2],
    orders: [Choice; 2],
    refused: Refused<'a>,
    users: Vec<UserItem<'a>>,
    /// The sentence of a page without users.
    no_users: Text<'static>,
    links: &'a Links,
    create_command: String,
    in_terminal: InTerminal,
    now: Timestamp,
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
    let refused = Refused(&query.refused);
    let email = query.email.as_ref().map(|email| email.as_str().to_owned());
    let search = query.search.clone().or(email);
    let in_words = match query.search {
        Some(_) => by_name,
        None => by_time,
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
    let list_command = format!("users list{}", options(query.page.accepted()));
    let template = UsersTemplate {
        search: Condition::new("search", &text::of("users-search"), search, refused),
        roles: Role::ALL.map(role),
        states: [
            state("false", false, text::of("user-enabled")),
            state("true", true, text::of("user-disabled")),
        ],
        orders: orders(query.order(), in_words),
        refused,
        users: users.collect(),
        no_users: none(&page.links, text::of("users-none")),
        links: &page.links,
        create_command: format!("{} users create --help", program()),
        in_terminal: InTerminal::new(&list_command, &quoted(page.list_url)),
        now: page.now,
    };
    render_in_tab("users", &text::of("users").plain(), &template)
}

/// Returns the role in words.
pub(super) fn role_in_words(role: Role) -> String {
    match role {
        Role::User => text::of("role-user"),
        Role::Editor => text::of("role-editor"),
        Role::Admin => text::of("role-admin"),
    }
    .plain()
}

/// Returns what is special about an account, in words.
pub(super) fn tags(account: &Account) -> Vec<String> {
    let tags = [
        (account.disabled_at.is_some(), text::of("user-disabled")),
        (
            !account.user.email_verified,
            text::of("account-email-not-confirmed"),
        ),
        (account.mfa_enabled, text::of("user-two-step")),
        (
            account.passkeys > 0,
            text::of("user-passkeys").count("n", account.passkeys.unsigned_abs()),
        ),
        (!account.has_password, text::of("user-without-password")),
        (
            account.password_change_required,
            text::of("user-must-change-password"),
        ),
    ];
    let tags = tags.into_iter().filter(|(holds, _)| *holds);
    tags.map(|(_, text)| text.plain()).collect()
}
