//! The page of all apps, for administrators.

use super::filter::{Condition, Refused};
use super::{Choice, InTerminal, by_id, by_name, none, options, orders, quoted};
use crate::pages::text::Text;
use crate::pages::{render_in_tab, text};
use crate::paths;
use askama::Template;
use axum::response::Response;
use identity::clients::list::ListQuery;
use identity::clients::{Client, ClientOrigin, ClientType};
use web::Links;

/// The page of all apps.
pub(crate) struct ClientsPage<'a> {
    pub(crate) clients: &'a [Client],
    /// The condition on the apps, which the form shows.
    pub(crate) query: &'a ListQuery,
    pub(crate) links: Links,
    /// The URL of the list with its condition.
    pub(crate) list_url: &'a str,
}

#[derive(Template)]
#[template(path = "clients.html")]
struct ClientsTemplate<'a> {
    search: Condition,
    kinds: [Choice; 4],
    owners: [Choice; 2],
    states: [Choice; 2],
    orders: [Choice; 2],
    refused: Refused<'a>,
    clients: Vec<ClientItem<'a>>,
    /// The sentence of a page without apps.
    no_clients: Text<'static>,
    links: &'a Links,
    /// Whether the form has a condition.
    has_condition: bool,
    new_client: &'static str,
    in_terminal: InTerminal,
}

struct ClientItem<'a> {
    id: &'a str,
    path: String,
    name: &'a str,
    kind: String,
    tags: Vec<String>,
}

/// Renders the page of all apps.
pub(crate) fn clients(page: &ClientsPage<'_>) -> Response {
    let (query, refused) = (page.query, Refused(&page.query.refused));
    let kind = |kind: ClientType| Choice {
        value: kind.as_str(),
        label: kind_in_words(kind),
        is_chosen: query.kind == Some(kind),
    };
    let choice = |value, label: Text<'_>, chosen: Option<bool>| Choice {
        value,
        label: label.plain(),
        is_chosen: chosen == Some(value == "true"),
    };
    let clients = page.clients.iter().map(|client| ClientItem {
        id: &client.id,
        path: paths::of_client(&client.id),
        name: &client.name,
        kind: kind_in_words(client.kind),
        tags: tags(client),
    });
    let in_words = match query.search {
        Some(_) => by_name,
        None => by_id,
    };
    let conditions = [
        query.search.is_some(),
        query.kind.is_some(),
        query.first_party.is_some(),
        query.disabled.is_some(),
    ];
    let list_command = format!("clients list{}", options(query.page.accepted()));
    let template = ClientsTemplate {
        search: Condition::new(
            "search",
            &text::of("clients-search"),
            query.search.clone(),
            refused,
        ),
        kinds: ClientType::ALL.map(kind),
        owners: [
            choice("true", text::of("client-first-party"), query.first_party),
            choice("false", text::of("client-third-party"), query.first_party),
        ],
        states: [
            choice("false", text::of("user-enabled"), query.disabled),
            choice("true", text::of("user-disabled"), query.disabled),
        ],
        orders: orders(query.order(), in_words),
        refused,
        clients: clients.collect(),
        no_clients: none(&page.links, text::of("clients-none")),
        links: &page.links,
        has_condition: conditions.contains(&true),
        new_client: paths::ADMIN_NEW_CLIENT,
        in_terminal: InTerminal::new(&list_command, &quoted(page.list_url)),
    };
    render_in_tab("clients", &text::of("clients").plain(), &template)
}

/// Returns the type of a client in words.
pub(super) fn kind_in_words(kind: ClientType) -> String {
    match kind {
        ClientType::Spa => text::of("client-spa"),
        ClientType::Native => text::of("client-native"),
        ClientType::Web => text::of("client-web"),
        ClientType::Service => text::of("client-service"),
    }
    .plain()
}

/// Returns what is special about a client, in words.
pub(super) fn tags(client: &Client) -> Vec<String> {
    let tags = [
        (client.disabled_at.is_some(), text::of("user-disabled")),
        (client.first_party, text::of("client-own")),
        (
            client.origin == ClientOrigin::Registration,
            text::of("client-registered-itself"),
        ),
        (
            client.origin == ClientOrigin::Document,
            text::of("client-describes-itself"),
        ),
    ];
    let tags = tags.into_iter().filter(|(holds, _)| *holds);
    tags.map(|(_, text)| text.plain()).collect()
}
