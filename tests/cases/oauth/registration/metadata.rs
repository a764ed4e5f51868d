//! The metadata that clients can register, and the clients that come of them.

use super::super::consent::follow;
use super::{REGISTER, Registered, expect_metadata_error, open, register, spa, web};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use storage::fetch_all;
use tests::{App, Caller, Shape, SharedWorld, Signer, World, on_every_shape};

/// A caller at another address for each registration, so that no limit applies.
fn elsewhere(world: &World, n: usize) -> Caller {
    world.anyone().with("x-forwarded-for", &format!("198.51.100.{n}"))
}

async fn what_was_registered_is_returned(shape: Shape) {
    let world = open(shape).await;
    let jwks = json!({ "keys": [Signer::unknown("key").jwk()] });
    for (n, (metadata, expected, kind)) in [
        // A stock client of the Model Context Protocol.
        (
            json!({ "client_name": "Agent", "redirect_uris": ["http://localhost:3456/callback"],
                    "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
                    "response_types": ["code"], "scope": "posts:read profile:read", "client_uri": "https://agent.test" }),
            json!({ "application_type": "native", "scope": "posts:read profile:read", "client_name": "Agent" }),
            "native",
        ),
        (
            spa(),
            json!({ "application_type": "web", "token_endpoint_auth_method": "none",
                    "scope": "comments:write email openid payments:read posts:read posts:write profile profile:read" }),
            "spa",
        ),
        (
            json!({ "redirect_uris": ["https://a.test/cb"], "token_endpoint_auth_method": "client_secret_post",
                    "grant_types": ["implicit", "authorization_code"], "response_types": ["token", "code"],
                    "scope": "admin posts:write offline_access", "contacts": null, "client_name#fr": "Le site",
                    "first_party": true, "refresh_cookie": true, "jwks": jwks }),
            json!({ "token_endpoint_auth_method": "client_secret_post", "scope": "posts:write", "response_types": ["code"],
                    "grant_types": ["authorization_code", "refresh_token"], "client_secret_expires_at": 0, "jwks": null }),
            "web",
        ),
        (
            json!({ "redirect_uris": ["https://b.test/cb"], "token_endpoint_auth_method": "private_key_jwt", "jwks": jwks,
                    "post_logout_redirect_uris": ["https://b.test/bye"], "backchannel_logout_uri": "https://b.test/logout",
                    "require_pushed_authorization_requests": true, "dpop_bound_access_tokens": true }),
            json!({ "jwks": jwks, "post_logout_redirect_uris": ["https://b.test/bye"], "client_secret": null,
                    "backchannel_logout_uri": "https://b.test/logout", "require_pushed_authorization_requests": true,
                    "dpop_bound_access_tokens": true }),
            "web",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let client = register(&elsewhere(&world, n), &metadata).await;
        let body = client.reply.json();
        assert_eq!(body["redirect_uris"], metadata["redirect_uris"]);
        for (member, value) in expected.as_object().unwrap() {
            assert_eq!(&body[member], value, "{member}: {}", client.reply);
        }
        assert_eq!(body["client_secret"].is_string(), kind == "web" && body["jwks"].is_null());
        assert_eq!(body["client_id_issued_at"], world.now().seconds());
        let uri = format!("{}/register/{}", world.base(), client.app.id);
        assert_eq!(body["registration_client_uri"], uri);
        let shown = world.cli(&["clients", "show", &client.app.id, "--json"], "");
        for (member, value) in [
            ("type", json!(kind)),
            ("origin", json!("registration")),
            ("first_party", json!(false)),
            ("refresh_cookie", json!(false)),
        ] {
            assert_eq!(shown[member], value, "{shown}");
        }
        assert!(shown["unused_until"].is_string(), "{shown}");
    }
}

async fn registered_clients_sign_users_in(shape: Shape) {
    let world = open(shape).await;
    let user = world.user().await;
    for metadata in [spa(), web()] {
        let client = register(&world.anyone(), &metadata).await;
        let app = &client.app;
        let page = follow(&mut user.browser(), &app.authorization().path()).await;
        let words = page.visible_text();
        assert!(
            words.contains("This app registered itself. Latchkey has not checked it."),
            "{words}"
        );
        // The default scope is that of other clients.
        assert!(
            words.contains("posts:read") && !words.contains("payments:read"),
            "{words}"
        );
        let tokens = app.tokens(&user, "posts:read payments:read openid").await;
        world.expect_accepted(&tokens.access).await;
        for refused in ["admin", "payments:write"] {
            let request = app.authorization().set("scope", refused);
            request.expect_error_redirect(&world, "invalid_scope").await;
        }
    }
    // A redirect URI on a loopback address may have any port.
    let agent =
        json!({ "redirect_uris": ["http://127.0.0.1:3456/callback"], "token_endpoint_auth_method": "none" });
    let agent = register(&world.anyone(), &agent).await;
    let elsewhere = App {
        redirect_uri: "http://127.0.0.1:61000/callback".to_owned(),
        ..agent.app
    };
    elsewhere.tokens(&user, "posts:read").await;
    // That of an administrator's client has no such sentence.
    let page = follow(
        &mut user.browser(),
        &world.app().register().authorization().path(),
    )
    .await;
    assert!(
        !page.visible_text().contains("registered itself"),
        "{}",
        page.reply
    );
}

async fn unacceptable_metadata_are_refused(shape: Shape) {
    let world = open(shape).await;
    let (anyone, key) = (world.anyone(), Signer::unknown("key").jwk());
    let before = world.cli(&["clients", "list", "--json"], "");
    let refuse = async |metadata: &Value, error: &str| {
        let reply = anyone.post(REGISTER).json(metadata).await;
        assert_eq!(reply.status, 400, "{metadata}: {reply}");
        expect_metadata_error(reply, error);
    };
    for (member, value) in [
        ("client_name", json!(1)),
        ("client_name", json!("x".repeat(101))),
        ("client_name", json!("a\nb")),
        ("redirect_uris", json!("https://app.test/cb")),
        ("redirect_uris", json!([1])),
        ("scope", json!("admin payments:write")),
        ("scope", json!("unknown")),
        ("scope", json!(["posts:read"])),
        ("grant_types", json!(["implicit"])),
        ("grant_types", json!("authorization_code")),
        // A service needs an initial access token.
        ("grant_types", json!(["client_credentials"])),
        ("response_types", json!(["id_token"])),
        ("application_type", json!("mobile")),
        ("token_endpoint_auth_method", json!("client_secret_jwt")),
        ("token_endpoint_auth_method", json!("private_key_jwt")),
        ("jwks_uri", json!(7)),
        ("jwks_uri", json!("http://10.0.0.1/keys")),
        ("backchannel_logout_uri", json!("http://app.test/logout")),
        ("post_logout_redirect_uris", json!(["javascript:alert(1)"])),
        ("dpop_bound_access_tokens", json!("true")),
        ("require_pushed_authorization_requests", json!(1)),
    ] {
        let mut metadata = web();
        metadata[member] = value;
        refuse(&metadata, "invalid_client_metadata").await;
    }
    let mut private = key.clone();
    private["d"] = json!("AAAA");
    for jwks in [json!({ "keys": [] }), json!({ "keys": [private] }), json!([key])] {
        let mut metadata = web();
        metadata["token_endpoint_auth_method"] = json!("private_key_jwt");
        metadata["jwks"] = jwks;
        refuse(&metadata, "invalid_client_metadata").await;
    }
    for uris in [
        json!(null),
        json!([]),
        json!(["http://app.test/cb"]),
        json!(["https://app.test/cb#fragment"]),
        json!(["https://*.app.test/cb"]),
        json!(["javascript:alert(1)"]),
        json!(["app:/cb"]),
        json!(["https://app.test/cb", format!("{}/docs/try", world.base())]),
        json!(vec!["https://app.test/cb"; 21]),
    ] {
        for method in ["none", "client_secret_basic"] {
            let metadata = json!({ "redirect_uris": uris, "token_endpoint_auth_method": method });
            refuse(&metadata, "invalid_redirect_uri").await;
        }
    }
    let mut stated = web();
    stated["software_statement"] = json!("a.b.c");
    refuse(&stated, "unapproved_software_statement").await;
    for body in [
        "",
        "[]",
        "{",
        r#"{"scope":"a","scope":"b"}"#,
        r#"{"client_name":"\u0000"}"#,
    ] {
        let reply = anyone.post(REGISTER).body("application/json", body).await;
        expect_metadata_error(reply, "invalid_client_metadata");
    }
    let form = anyone.post(REGISTER).form(&[("client_name", "A form")]).await;
    form.expect_error(415, "unsupported_media_type");
    let long = format!("{{}}{}", " ".repeat(1 << 16));
    let long = anyone.post(REGISTER).body("application/json", long).await;
    long.expect_error(413, "payload_too_large");
    assert_eq!(world.cli(&["clients", "list", "--json"], ""), before);
    // Refused registrations do not count.
    let client = register(&anyone, &web()).await;
    expect_recorded(&world, &client).await;
}

/// Expects the event of a registration without a token.
async fn expect_recorded(world: &World, client: &Registered) {
    let query = "SELECT name, detail, address FROM security_events WHERE client_id = $1";
    type Event = (String, Option<String>, Option<String>);
    let events = fetch_all!(world.db().await.reader(), Event, query, client.app.id.as_str()).unwrap();
    let expected = ("client_created", "without a token", "127.0.0.1");
    let owned = |text: &str| text.to_owned();
    assert_eq!(
        events,
        [(
            owned(expected.0),
            Some(owned(expected.1)),
            Some(owned(expected.2))
        )]
    );
}

async fn nothing_can_be_registered_unless_the_operator_allows_it(world: SharedWorld) {
    let anyone = world.anyone();
    let reply = anyone.post(REGISTER).json(&spa()).await;
    reply.expect_error(404, "not_found");
    let manager = anyone.bearer("some token");
    for method in ["GET", "PUT", "DELETE"] {
        let reply = manager.call(method, "/register/some-client").json(&spa()).await;
        reply.expect_error(404, "not_found");
    }
    for document in ["oauth-authorization-server", "openid-configuration"] {
        let metadata = anyone
            .get(&format!("/.well-known/{document}"))
            .await
            .expect(200)
            .json();
        assert!(metadata.get("registration_endpoint").is_none(), "{metadata}");
    }
}

async fn the_metadata_of_the_issuer_name_the_endpoint(shape: Shape) {
    let world = open(shape).await;
    for document in ["oauth-authorization-server", "openid-configuration"] {
        let reply = world.anyone().get(&format!("/.well-known/{document}")).await;
        let endpoint = reply.expect(200).json()["registration_endpoint"].clone();
        assert_eq!(endpoint, format!("{}{REGISTER}", world.base()));
    }
    let ids: BTreeSet<String> = [
        register(&world.anyone(), &spa()).await,
        register(&world.anyone(), &spa()).await,
    ]
    .into_iter()
    .map(|client| client.app.id)
    .collect();
    assert_eq!(ids.len(), 2, "each registration is another client");
}

on_every_shape!(
    what_was_registered_is_returned,
    registered_clients_sign_users_in,
    unacceptable_metadata_are_refused,
    nothing_can_be_registered_unless_the_operator_allows_it,
    the_metadata_of_the_issuer_name_the_endpoint,
);
