//! Changes of a document: a change that the user relied on needs a new consent, and a removed redirect URI
//! ends what it began.

use super::super::assertions::ASSERTION_TYPE;
use super::super::assertions::key::Key;
use super::{DescribedApp, FLAG, STALE, consent_page, open, start};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tests::{
    App, CALLBACK, Call, Grant, Shape, StubServer, Tokens, User, World, eventually, on_every_shape, parameter,
};

const OTHER_CALLBACK: &str = "https://other.test/cb";

/// The members of a document of a client that authenticates by this key, with others.
fn confidential(key: &Key, others: &Value) -> Value {
    let mut members =
        json!({ "token_endpoint_auth_method": "private_key_jwt", "jwks": { "keys": [key.jwk()] } });
    members
        .as_object_mut()
        .unwrap()
        .extend(others.as_object().unwrap().clone());
    members
}

/// Signs the user in, and expects that the consent page is shown or is skipped. Returns the code.
async fn sign_in(world: &World, user: &User, app: &App, is_asked: bool) -> Grant {
    let user = world.log_in(&user.email, &user.password).await;
    let (mut browser, request) = (user.browser(), app.authorization());
    let mut page = super::super::super::consent::follow(&mut browser, &request.path()).await;
    assert_eq!(page.asks_for("decision"), is_asked, "{}", page.reply);
    if is_asked {
        // A consent counts if it is later than the last change.
        world.advance(Duration::from_secs(1));
        page = browser.submit(&page, &[("decision", "allow")]).await;
    }
    Grant::parse(page.location().unwrap(), request.verifier.clone())
}

/// Prepares the exchange of a code with an assertion that this key signs.
fn exchange(world: &World, app: &App, grant: &Grant, key: &Key) -> Call {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", &grant.code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", &grant.verifier),
    ];
    token_request(world, app, &fields, key)
}

/// Prepares a token request with these fields and an assertion that this key signs.
fn token_request(world: &World, app: &App, fields: &[(&str, &str)], key: &Key) -> Call {
    client_call(world, app, "/token", fields, key)
}

/// Prepares a call with these fields and an assertion that this key signs. Only the assertion names the
/// client.
fn client_call(world: &World, app: &App, path: &str, fields: &[(&str, &str)], key: &Key) -> Call {
    let assertion = key.assertion(&json!({
        "iss": app.id, "sub": app.id, "aud": world.base(), "jti": foundation::random::id(),
        "exp": world.now().seconds() + 60,
    }));
    let authentication = [
        ("client_assertion_type", ASSERTION_TYPE),
        ("client_assertion", assertion.as_str()),
    ];
    let form = [fields, authentication.as_slice()].concat();
    world.anyone().post(path).form(&form)
}

async fn a_change_that_the_user_relied_on_needs_a_new_consent(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let (key, other_key) = (Key::rsa("rsa"), Key::ec());
    let described = DescribedApp::start(confidential(&key, &json!({}))).await;
    let app = &described.app;
    let grant = sign_in(&world, &user, app, true).await;
    // The app authenticates by its key, and by nothing else.
    let without = app.exchange(&world.anyone(), &grant).await;
    without.expect_token_error(401, "invalid_client");
    let stolen = exchange(&world, app, &grant, &other_key).await;
    stolen.expect_token_error(401, "invalid_client");
    Tokens::parse(exchange(&world, app, &grant, &key).await);
    sign_in(&world, &user, app, false).await;
    for (members, is_asked) in [
        (confidential(&key, &json!({})), false),
        (
            confidential(&key, &json!({ "client_name": "Another name" })),
            true,
        ),
        (
            confidential(
                &key,
                &json!({ "client_name": "Another name", "logo_uri": "https://app.test/logo" }),
            ),
            false,
        ),
        (
            confidential(&key, &json!({ "redirect_uris": [CALLBACK, OTHER_CALLBACK] })),
            true,
        ),
        (
            confidential(&key, &json!({ "redirect_uris": [OTHER_CALLBACK, CALLBACK] })),
            false,
        ),
        (
            confidential(
                &other_key,
                &json!({ "redirect_uris": [OTHER_CALLBACK, CALLBACK] }),
            ),
            true,
        ),
        (
            json!({ "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://app.test/jwks" }),
            true,
        ),
    ] {
        described.publish(members.clone());
        world.advance(STALE);
        sign_in(&world, &user, app, is_asked).await;
        sign_in(&world, &user, app, false).await;
    }
    // A public client always asks, and the page no longer says what was allowed to another description.
    described.publish(json!({}));
    world.advance(STALE);
    let user = world.log_in(&user.email, &user.password).await;
    let words = consent_page(&user, app).await.visible_text();
    assert!(!words.contains("You have allowed it before"), "{words}");
    let events = world.cli(&["events", "list", "--json"], "").to_string();
    assert!(
        events.contains("client_created") && events.contains("its document changed: client_name"),
        "{events}"
    );
}

async fn a_new_key_counts_at_the_next_token_request(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let (key, new_key) = (Key::rsa("rsa"), Key::ec());
    let described = DescribedApp::start(confidential(&key, &json!({}))).await;
    let app = &described.app;
    let grant = sign_in(&world, &user, app, true).await;
    let tokens = Tokens::parse(exchange(&world, app, &grant, &key).await);
    described.publish(confidential(&new_key, &json!({})));
    world.advance(STALE);
    let refresh = |token, key| {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
        token_request(&world, app, &fields, key)
    };
    Tokens::parse(refresh(&tokens.refresh, &new_key).await);
    // The other issuers hear of the change as of that of every client.
    eventually("the old key is accepted", async || {
        refresh("unknown", &key).await.status == 401
    })
    .await;
}

async fn an_app_that_is_no_longer_accepted_gets_no_answers(shape: Shape) {
    const AFTER_LOGOUT: &str = "https://app.test/bye";
    let mut world = start(shape).await;
    let (user, key) = (world.user().await, Key::rsa("rsa"));
    let members = confidential(&key, &json!({ "post_logout_redirect_uris": [AFTER_LOGOUT] }));
    let described = DescribedApp::start(members).await;
    let app = &described.app;
    sign_in(&world, &user, app, true).await;
    let logout = form_urlencoded::Serializer::new("/signout?".to_owned())
        .extend_pairs([
            ("client_id", app.id.as_str()),
            ("post_logout_redirect_uri", AFTER_LOGOUT),
        ])
        .finish();
    let introspect = |world: &World| client_call(world, app, "/introspect", &[("token", "unknown")], &key);
    introspect(&world).await.expect(200);
    assert_ne!(world.anyone().get(&logout).await.status, 400);
    world.stop().await;
    world.set_issuer_flags(&[(FLAG, Some("off"))]);
    world.restart().await;
    introspect(&world).await.expect_token_error(401, "invalid_client");
    world.anyone().get(&logout).await.expect(400);
}

/// A consent to the description that a page showed is none to the one that is fetched at that moment.
async fn a_consent_during_the_fetch_of_another_description_does_not_count(shape: Shape) {
    let world = start(shape).await;
    let (victim, attacker) = (world.user().await, world.user().await);
    let (key, stalling) = (Key::rsa("rsa"), StubServer::start().await);
    let described = DescribedApp::start(confidential(&key, &json!({}))).await;
    let app = &described.app;
    let mut browser = victim.browser();
    let shown = open(&mut browser, app).await;
    let logo = json!({ "client_name": "Another name", "logo_uri": format!("{}/logo", stalling.url) });
    described.publish(confidential(&key, &logo));
    stalling.answer_slowly("HTTP/1.1 200 OK\r\n\r\n");
    world.advance(STALE);
    let fetch = async {
        let user = world.log_in(&attacker.email, &attacker.password).await;
        let page = consent_page(&user, app).await;
        assert!(page.visible_text().contains("Another name"), "{}", page.reply);
    };
    let consent = async {
        eventually("the logo is not fetched", async || {
            !stalling.received().is_empty()
        })
        .await;
        world.advance(Duration::from_secs(1));
        let page = browser.submit(&shown, &[("decision", "allow")]).await;
        assert_eq!(page.reply.status, 303, "{}", page.reply);
    };
    tokio::join!(fetch, consent);
    sign_in(&world, &victim, app, true).await;
    sign_in(&world, &victim, app, false).await;
}

/// The decision about another description than the present one is made again, in the same flow.
async fn a_decision_about_another_description_has_no_effect(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let described = DescribedApp::start(json!({})).await;
    let mut browser = user.browser();
    let shown = open(&mut browser, &described.app).await;
    let other = [("decision", "allow"), ("client_version", "another")];
    let refused = browser.submit(&shown, &other).await;
    assert_eq!(refused.reply.status, 400, "{}", refused.reply);
    let mut links = refused.links().into_iter();
    let again = links.find(|link| link.path() == "/consent").unwrap();
    let page = browser.open(again.as_str()).await;
    let allowed = browser.submit(&page, &[("decision", "allow")]).await;
    assert!(parameter(&allowed.location().unwrap(), "code").is_some());
}

/// A consent that was given before a change counts for nothing, also for the union of scopes.
async fn a_new_consent_does_not_revive_the_scope_of_a_former_one(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let described = DescribedApp::start(json!({})).await;
    let app = &described.app;
    app.tokens(&user, "posts:read posts:write").await;
    described.publish(json!({ "client_name": "Another name" }));
    world.advance(STALE);
    app.tokens(&user, "posts:read").await;
    let connected = user.get("/me/grants").await.expect(200).json();
    assert_eq!(connected["items"][0]["scope"], "posts:read", "{connected}");
}

async fn a_removed_redirect_uri_ends_what_it_began(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let loopback = "http://127.0.0.1/cb";
    let uris = |uris: &[&str]| json!({ "redirect_uris": uris });
    let described = DescribedApp::start(uris(&[CALLBACK, OTHER_CALLBACK, loopback])).await;
    let app_with = |redirect_uri: &str| App {
        redirect_uri: redirect_uri.to_owned(),
        ..described.app.clone()
    };
    let app = &described.app;
    let kept = app.tokens(&user, "posts:read").await;
    let mut removed = Vec::new();
    for uri in [
        OTHER_CALLBACK,
        "http://127.0.0.1:4000/cb",
        "http://127.0.0.1:5000/cb",
    ] {
        removed.push(app_with(uri).tokens(&user, "posts:read").await);
    }
    described.publish(uris(&[CALLBACK, "https://third.test/cb"]));
    world.advance(STALE);
    // A refresh reads the document again.
    let kept = Tokens::parse(app.refresh(&world.anyone(), &kept.refresh).await);
    world.expect_accepted(&kept.access).await;
    for tokens in removed {
        world.expect_revoked(&tokens.access).await;
        for issuer in world.at_each_issuer(&world.anyone()) {
            let refused = app.refresh(&issuer, &tokens.refresh).await;
            let refused = refused.expect_token_error(400, "invalid_grant");
            let words = "the metadata document of the app no longer lists the redirect URI";
            assert!(refused.text().contains(words), "{refused}");
        }
    }
    let user = world.log_in(&user.email, &user.password).await;
    let page = open(&mut user.browser(), &app_with(OTHER_CALLBACK)).await;
    assert_eq!(page.reply.status, 400, "{}", page.reply);
    page.expect_page_within_origin();
    // A code for a redirect URI that is removed before the exchange is worthless.
    let third = app_with("https://third.test/cb");
    let grant = third.authorize(&mut user.browser(), &user, "posts:read").await;
    let db = world.db().await;
    let set_uris = "UPDATE clients SET redirect_uris = $2 WHERE id = $1";
    storage::execute!(
        db.writer(),
        set_uris,
        app.id.as_str(),
        json!([CALLBACK]).to_string()
    )
    .unwrap();
    eventually("the code is exchanged", async || {
        third.exchange(&world.anyone(), &grant).await.status == 400
    })
    .await;
    let kept = Tokens::parse(app.refresh(&world.anyone(), &kept.refresh).await);
    // So is a refresh token that slipped through.
    let set_uris = "UPDATE clients SET redirect_uris = $2 WHERE id = $1";
    storage::execute!(
        db.writer(),
        set_uris,
        app.id.as_str(),
        json!([OTHER_CALLBACK]).to_string()
    )
    .unwrap();
    let (mut refresh, began) = (kept.refresh, Instant::now());
    loop {
        let reply = app.refresh(&world.anyone(), &refresh).await;
        if reply.status == 400 {
            reply.expect_token_error(400, "invalid_grant");
            break;
        }
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "the refresh token is accepted"
        );
        refresh = Tokens::parse(reply).refresh;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn every_issuer_sees_a_change(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let described = DescribedApp::start(json!({})).await;
    consent_page(&user, &described.app).await;
    described.publish(json!({ "client_name": "Another name" }));
    world.advance(STALE);
    let issuers = world.issuer_ports().len();
    for _ in 0..2 * issuers {
        let words = consent_page(&user, &described.app).await.visible_text();
        assert!(words.contains("Another name"), "{words}");
    }
    assert_eq!(described.fetches(), 2);
    let redirect = user
        .browser()
        .complete_flow(&described.app.authorization().path(), &user, "allow")
        .await;
    assert!(parameter(&redirect.unwrap(), "code").is_some());
}

on_every_shape!(
    a_change_that_the_user_relied_on_needs_a_new_consent,
    a_new_key_counts_at_the_next_token_request,
    an_app_that_is_no_longer_accepted_gets_no_answers,
    a_consent_during_the_fetch_of_another_description_does_not_count,
    a_decision_about_another_description_has_no_effect,
    a_new_consent_does_not_revive_the_scope_of_a_former_one,
    a_removed_redirect_uri_ends_what_it_began,
    every_issuer_sees_a_change,
);
