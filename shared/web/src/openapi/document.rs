//! The OpenAPI 3.1 document. Router and document are one list: routes are added by `routes!`, each with
//! the description that stands on its handler. What all operations have in common is added here.

mod common_responses;
pub mod error_responses;
pub mod headers;
mod publish;

pub(crate) use error_responses::add_to_operations;
pub use error_responses::error_responses;
pub use publish::publish;

use crate::{cookies, csrf};
use foundation::scope;
use foundation::urls::Urls;
use foundation::urls::origin_of;
use std::collections::BTreeSet;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, AuthorizationCode, Flow, Http, HttpAuthScheme, OAuth2, Scopes, SecurityScheme,
};
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{Components, Contact, Info, License, OpenApi, OpenApiBuilder, Paths, Server};

/// What the front page of the document says.
const ABOUT: &str = "\
Latchkey is an OAuth 2.0 issuer and a resource API.

**Who calls** says so by an access token (`Authorization: Bearer`), or by the session cookie that signing in \
gives; a call by cookie that changes something repeats the `csrf` cookie in the header `x-csrf-token`.

**Errors** are `{code, message, correlationId}`: programs look at `code`, people at `message`, and the \
correlation id finds the request in the log.

**Idempotency**: a write that takes the header `Idempotency-Key` is done once for each key, however often it \
is sent. A key belongs to a user of a client, a method and a path (with or without `/v1`), and is kept for 30 days \
unless this installation says otherwise. Once a call succeeded, the same key and body are answered with the same \
status, body and `Location`, and `Idempotent-Replayed: true`; another body is refused with 422. Bodies are the same \
if they have the same members with the same values: neither their order nor white space matters. An error stores \
nothing: the call may be sent again with the same key. Calls with one key at the same time wait for the first, five \
seconds at most.

**Versions**: the paths of the API exist with and without the prefix `/v1`, and both are version 1.";

/// What operations are grouped by.
const TAGS: [(&str, &str); 10] = [
    ("Posts", "Texts of users, drafts and published ones."),
    ("Comments", "What readers say of a post."),
    ("Payments", "Sums of money, and what becomes of them."),
    ("Users", "Accounts, and one's own."),
    (
        "Sessions",
        "Signing in and out with cookies, and trying out tokens.",
    ),
    ("OAuth", "The endpoints of RFC 6749 for apps."),
    (
        "Pages",
        "Plain HTML forms, for people: sign-in, consent, a new password.",
    ),
    ("Administration", "For administrators alone."),
    ("Discovery", "What client libraries read."),
    ("Service", "Health, and this document."),
];

/// The document of a program whose routes are these.
fn document(routes: OpenApi, urls: &Urls) -> OpenApi {
    let mut document = OpenApiBuilder::new()
        .info(info(urls))
        .paths(routes.paths)
        .components(Some(components(routes.components, urls)))
        .build();
    document.tags = Some(tags(&document.paths));
    document.servers = Some(servers(routes.servers, urls));
    common_responses::add(&mut document);
    document
}

/// Says of a service's routes that they exist under one prefix alone: version prefixes are none of theirs.
pub fn unversioned(document: &mut OpenApi, server: &str) {
    for item in document.paths.paths.values_mut() {
        item.servers = Some(vec![Server::new(server)]);
    }
}

/// Those of the tags that a path has.
fn tags(paths: &Paths) -> Vec<Tag> {
    let items = paths.paths.values();
    let operations = items.flat_map(|item| [&item.get, &item.post, &item.put, &item.patch, &item.delete]);
    let used: BTreeSet<&str> = operations
        .flatten()
        .filter_map(|operation| operation.tags.as_ref())
        .flatten()
        .map(String::as_str)
        .collect();
    TAGS.into_iter()
        .filter(|(name, _)| used.contains(name))
        .map(|(name, description)| {
            TagBuilder::new()
                .name(name)
                .description(Some(description))
                .build()
        })
        .collect()
}

fn info(urls: &Urls) -> Info {
    let mut license = License::new(env!("CARGO_PKG_LICENSE"));
    license.identifier = Some(env!("CARGO_PKG_LICENSE").to_owned());
    let mut contact = Contact::new();
    contact.name = Some("Who runs this installation".to_owned());
    contact.url = Some(origin_of(&urls.base));
    let mut info = Info::new("Latchkey", env!("CARGO_PKG_VERSION"));
    info.description = Some(ABOUT.to_owned());
    info.license = Some(license);
    info.contact = Some(contact);
    info
}

/// Where the routes say that they are served, below the base URL; there itself if they say nothing.
fn servers(given: Option<Vec<Server>>, urls: &Urls) -> Vec<Server> {
    let base = origin_of(&urls.base);
    let mut servers = given.unwrap_or_else(|| vec![Server::new("")]);
    for server in &mut servers {
        server.url = format!("{base}{}", server.url);
    }
    servers
}

/// How callers authenticate: the names that operations use in `security`.
fn components(given: Option<Components>, urls: &Urls) -> Components {
    let mut components = given.unwrap_or_default();
    let scopes = scope::ALL.map(|name| (name, scope::in_words(name)));
    let (authorize, token) = (
        format!("{}/authorize", urls.issuer),
        format!("{}/token", urls.issuer),
    );
    let code = AuthorizationCode::with_refresh_url(&authorize, &token, Scopes::from_iter(scopes), &token);
    let sid = ApiKeyValue::with_description(cookies::SID, "The session that signing in begins.");
    let token = ApiKeyValue::with_description(csrf::HEADER, "The value of the csrf cookie, see /csrf.");
    let schemes = [
        ("session", SecurityScheme::ApiKey(ApiKey::Cookie(sid))),
        ("csrf", SecurityScheme::ApiKey(ApiKey::Header(token))),
        (
            "oauth2",
            SecurityScheme::OAuth2(OAuth2::with_description(
                [Flow::AuthorizationCode(code)],
                "An access token, got by the authorization code grant with PKCE.",
            )),
        ),
        (
            "client",
            SecurityScheme::Http(
                Http::builder()
                    .scheme(HttpAuthScheme::Basic)
                    .description(Some("A confidential client's id and secret, each form-encoded."))
                    .build(),
            ),
        ),
    ];
    let schemes = schemes.map(|(name, scheme)| (name.to_owned(), scheme.into()));
    components.security_schemes.extend(schemes);
    components
}
