//! The document: general description, tags, servers and security schemes.

use super::common_responses::complete_operations;
use crate::openapi::operations::operations;
use crate::{cookies, csrf};
use foundation::scope;
use foundation::urls::{Urls, origin_of};
use std::collections::BTreeSet;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, AuthorizationCode, ClientCredentials, Flow, Http, HttpAuthScheme, OAuth2, Scopes,
    SecurityScheme,
};
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{Components, Contact, Info, License, OpenApi, OpenApiBuilder, Paths, Server};

/// The description of the API at the head of the document, in Markdown.
const DESCRIPTION: &str = "\
Latchkey is an OAuth 2.0 issuer and a resource API.

**Authentication**: send an access token (`Authorization: Bearer`), or the session cookie that signing in \
sets. A request with the session cookie that changes something also sends the value of the `csrf` cookie in \
the header `x-csrf-token`.

**Errors** have the body `{code, message, correlationId}`. The `code` is for programs, the `message` is for \
people, and the `correlationId` identifies the request in the log.

**Idempotency**: a write that accepts the header `Idempotency-Key` takes effect once per key, even if it is \
sent several times. A key is valid for one user, client, method and path (with or without `/v1`). It is \
stored for 30 days, unless the operator configured another time. After a request succeeded, another request \
with the same key and the same body gets the same status, body and `Location`, with the header \
`Idempotent-Replayed: true`. A different body is rejected with 422. Two bodies are the same if they have \
the same members with the same values; member order and white space do not matter. Errors are not stored, \
so a failed request can be sent again with the same key. Concurrent requests with the same key wait for the \
first one, for at most five seconds.

**Versions**: every path of the API exists with and without the prefix `/v1`. Both are version 1.";

/// The tags of operations with their descriptions, in the order of the document.
const TAGS: [(&str, &str); 11] = [
    ("Posts", "Posts of users: drafts and published posts."),
    ("Comments", "Comments on posts."),
    ("Payments", "Payments and their states."),
    ("Users", "User accounts, including the caller's own."),
    (
        "Sessions",
        "Signing in and out with cookies, and checking access tokens.",
    ),
    ("OAuth", "The OAuth 2.0 endpoints for apps (RFC 6749)."),
    (
        "Pages",
        "HTML forms for people: sign-in, consent and password reset.",
    ),
    ("Administration", "Operations for administrators only."),
    ("OpenID Connect", "Claims about the user, and logout by clients."),
    ("Discovery", "Metadata for OAuth client libraries."),
    ("Service", "Health checks and this document."),
];

/// Returns the published document of a program. `routes` is the document that `routes!` collected: the paths,
/// their components and, if declared, their servers.
pub(super) fn complete(routes: OpenApi, urls: &Urls) -> OpenApi {
    let mut document = OpenApiBuilder::new()
        .info(info(urls))
        .paths(routes.paths)
        .components(Some(components(routes.components, urls)))
        .build();
    document.tags = Some(tags(&document.paths));
    document.servers = Some(servers(routes.servers, urls));
    complete_operations(&mut document);
    remove_unused_schemas(&mut document);
    document
}

/// Removes the schemas to which nothing refers. utoipa repeats the schema of an item in that of a generic
/// list, and collects it too.
fn remove_unused_schemas(document: &mut OpenApi) {
    let text = serde_json::to_string(document).unwrap_or_default();
    let references = text.split("\"#/components/schemas/").skip(1);
    let used: BTreeSet<&str> = references.filter_map(|rest| rest.split('"').next()).collect();
    if let Some(components) = &mut document.components {
        components.schemas.retain(|name, _| used.contains(name.as_str()));
    }
}

/// Returns the members of [`TAGS`] that at least one operation uses.
fn tags(paths: &Paths) -> Vec<Tag> {
    let used: BTreeSet<&str> = operations(paths)
        .filter_map(|(_, _, operation)| operation.tags.as_ref())
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
    contact.name = Some("The operator of this installation".to_owned());
    contact.url = Some(origin_of(&urls.base));
    let mut info = Info::new("Latchkey", env!("CARGO_PKG_VERSION"));
    info.description = Some(DESCRIPTION.to_owned());
    info.license = Some(license);
    info.contact = Some(contact);
    info
}

/// Returns the servers of the routes as absolute URLs below the base URL; the base URL itself if they declare
/// none.
fn servers(declared: Option<Vec<Server>>, urls: &Urls) -> Vec<Server> {
    let base = origin_of(&urls.base);
    let mut servers = declared.unwrap_or_else(|| vec![Server::new("")]);
    for server in &mut servers {
        server.url = format!("{base}{}", server.url);
    }
    servers
}

/// Adds the security schemes, which operations name in `security`, to the collected components.
fn components(collected: Option<Components>, urls: &Urls) -> Components {
    let mut components = collected.unwrap_or_default();
    let scopes =
        |names: &[&'static str]| Scopes::from_iter(names.iter().map(|name| (*name, scope::in_words(name))));
    let [authorize, token] = ["authorize", "token"].map(|path| format!("{}/{path}", urls.issuer));
    let code = AuthorizationCode::with_refresh_url(&authorize, &token, scopes(&scope::ALL), &token);
    let service = ClientCredentials::new(&token, scopes(scope::OF_API));
    let sid = ApiKeyValue::with_description(cookies::SID, "The session cookie that signing in sets.");
    let token =
        ApiKeyValue::with_description(csrf::HEADER, "The value of the csrf cookie. Get one from /csrf.");
    let oauth2 = OAuth2::with_description(
        [Flow::AuthorizationCode(code), Flow::ClientCredentials(service)],
        "An access token of the authorization code grant with PKCE, or a service's own.",
    );
    let http = |scheme, description: &str| {
        SecurityScheme::Http(
            Http::builder()
                .scheme(scheme)
                .description(Some(description))
                .build(),
        )
    };
    let client = "The id and the secret of a confidential client, each form-encoded.";
    let registration = "An initial access token of an administrator (RFC 7591 §3), or the registration access token \
                        of a client (RFC 7592 §3).";
    let schemes = [
        ("session", SecurityScheme::ApiKey(ApiKey::Cookie(sid))),
        ("csrf", SecurityScheme::ApiKey(ApiKey::Header(token))),
        ("oauth2", SecurityScheme::OAuth2(oauth2)),
        ("client", http(HttpAuthScheme::Basic, client)),
        ("registration", http(HttpAuthScheme::Bearer, registration)),
    ];
    let schemes = schemes.map(|(name, scheme)| (name.to_owned(), scheme.into()));
    components.security_schemes.extend(schemes);
    components
}
