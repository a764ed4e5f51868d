//! Sign-in to apps that describe themselves.

use super::super::super::pushed_requests::{push, reference, request_uri};
use super::{DescribedApp, FLAG, STALE, app_at, consent_page, document, expect_refused, open, start};
use serde_json::json;
use std::time::Duration;
use tests::{
    CALLBACK, Grant, Shape, StubServer, Tokens, World, eventually, on_every_shape, parameter, response,
    run_concurrently,
};

const METADATA: &str = "/.well-known/oauth-authorization-server";
const MEMBER: &str = "client_id_metadata_document_supported";

async fn a_user_signs_in_to_an_app_that_nobody_registered(shape: Shape) {
    let world = start(shape).await;
    let (user, anyone) = (world.user().await, world.anyone());
    assert_eq!(anyone.get(METADATA).await.json()[MEMBER], true);
    let described =
        DescribedApp::start(json!({ "grant_types": ["authorization_code", "refresh_token", "other"] })).await;
    let (app, host) = (&described.app, described.server.url.trim_start_matches("http://"));
    let request = app.authorization();
    let mut browser = world.browser();
    let sign_in = browser.open(&request.path()).await.location().unwrap();
    assert_eq!(sign_in.path(), "/signin");
    assert_eq!(described.fetches(), 0, "fetched before the sign-in");
    let redirect = browser.complete_flow(&request.path(), &user, "allow").await;
    let redirect = redirect.unwrap_or_else(|page| panic!("{}", page.reply));
    assert!(redirect.as_str().starts_with(CALLBACK), "{redirect}");
    assert_eq!(parameter(&redirect, "iss").as_deref(), Some(world.base()));
    let grant = Grant::parse(redirect, request.verifier.clone());
    let tokens = Tokens::parse(app.exchange(&anyone, &grant).await);
    let claims = tokens.claims();
    assert_eq!(
        (&claims["client_id"], &claims["scope"]),
        (&json!(app.id), &json!("posts:read profile:read"))
    );
    world.expect_accepted(&tokens.access).await;
    let refreshed = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
    world.expect_accepted(&refreshed.access).await;
    // The page names the hosts of the app and says that nobody checked it.
    let words = consent_page(&user, app).await.visible_text();
    for expected in [
        "Described App",
        host,
        "has not checked it",
        "app.test",
        "You have allowed it before",
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
    assert_eq!(described.fetches(), 1, "a fresh description is used again");

    // Its origin may read responses, as that of a registered single-page app may.
    eventually("the origin of the app is unknown", async || {
        let reply = anyone.get("/posts").header("origin", "https://app.test").await;
        reply.has("access-control-allow-origin") && !reply.has("access-control-allow-credentials")
    })
    .await;
    // It is a connected app like every other.
    let connected = user.get("/me/grants").await.expect(200).json();
    assert_eq!(connected["items"][0]["id"], app.id, "{connected}");
    let path = format!("/me/grants/{}", described.encoded_id());
    user.delete(&path).await.expect(204);
    refreshed.expect_revoked(&world, app).await;
    user.delete(&path).await.expect(404);
}

async fn an_id_has_up_to_2000_characters(shape: Shape) {
    let world = start(shape).await;
    let (user, anyone) = (world.user().await, world.anyone());
    let server = StubServer::start().await;
    let of_length = |length: usize| {
        let url = format!("{}/", server.url);
        format!("{url}{}", "a".repeat(length - url.len()))
    };
    let app = app_at(&of_length(2000));
    server.answer(200, &document(&app.id, json!({})).to_string());
    let tokens = app.tokens(&user, "posts:read").await;
    let refreshed = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
    world.expect_accepted(&refreshed.access).await;
    let revocation = [("client_id", app.id.as_str()), ("token", &refreshed.refresh)];
    anyone.post("/revoke").form(&revocation).await.expect(200);
    refreshed.expect_revoked(&world, &app).await;
    let known = server.received().len();
    expect_refused(&user, &app_at(&of_length(2001)), "2000").await;
    assert_eq!(server.received().len(), known);
}

async fn a_document_gives_neither_administration_nor_payments(shape: Shape) {
    let world = start(shape).await;
    let admin = world.user_with_role("admin").await;
    for (scope, requested, is_given) in [
        (json!(null), "admin", false),
        (json!("admin posts:read"), "admin posts:read", false),
        (json!(null), "payments:write", false),
        (json!("payments:write posts:read"), "payments:write", false),
        (json!("posts:read unknown:scope"), "posts:read", true),
        (json!("posts:read"), "posts:write", false),
        (json!(null), "openid posts:write", true),
    ] {
        let described = DescribedApp::start(json!({ "scope": scope })).await;
        let request = described.app.authorization().set("scope", requested);
        let ended = admin
            .browser()
            .complete_flow(&request.path(), &admin, "allow")
            .await;
        match (ended, is_given) {
            (Ok(redirect), true) => assert!(parameter(&redirect, "code").is_some(), "{redirect}"),
            (Ok(redirect), false) => request.expect_error_response(&world, &redirect, "invalid_scope"),
            // No document gives it, which is known before the fetch.
            (Err(page), _) => {
                let is_reserved = requested.contains("admin") || requested.contains("payments:write");
                assert!(is_reserved && page.reply.status == 400, "{}", page.reply);
                assert_eq!(described.fetches(), 0);
            }
        }
    }
}

async fn nothing_is_fetched_or_redirected_before_the_sign_in(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let described = DescribedApp::start(json!({})).await;
    let request = described.app.authorization();
    for (flawed, reason) in [
        (
            request.clone().set("response_type", "token"),
            "unsupported_response_type",
        ),
        (request.clone().without("code_challenge"), "invalid_request"),
        (
            request.clone().set("code_challenge_method", "plain"),
            "invalid_request",
        ),
        (request.clone().set("scope", "unknown"), "invalid_scope"),
        (request.clone().set("scope", "admin"), "invalid_scope"),
        (
            request.clone().set("resource", "https://other.test"),
            "invalid_target",
        ),
        (request.clone().set("prompt", "nonsense"), "invalid_request"),
        (
            request.clone().set("request", "e30.e30."),
            "request_not_supported",
        ),
        (request.clone().append("state", "twice"), "invalid_request"),
        (
            request.clone().set("id_token_hint", "e30.e30."),
            "invalid_request",
        ),
        (request.clone().set("prompt", "none"), "Nobody is signed in"),
        (request.clone().without("redirect_uri"), "redirect_uri"),
        (request.clone().append("redirect_uri", CALLBACK), "redirect_uri"),
        (request.clone().append("client_id", "other"), "redirect_uri"),
        (
            request.clone().set("redirect_uri", "javascript:alert(1)"),
            "redirect_uri",
        ),
        (
            request.clone().set("redirect_uri", "http://app.test/cb"),
            "redirect_uri",
        ),
        (
            request
                .clone()
                .set("client_id", &format!("{}#me", described.app.id)),
            "fragment",
        ),
        (
            request
                .clone()
                .set("client_id", &format!("{}/../client.json", described.app.id)),
            "normal form",
        ),
        (
            request.clone().set("client_id", "https://user:word@app.test/"),
            "user",
        ),
        (
            request.clone().set("client_id", "https://app.test"),
            "normal form",
        ),
        (
            request.clone().set("client_id", "http://app.test/client.json"),
            "https://",
        ),
        (
            request.clone().set("client_id", "https://10.0.0.1/client.json"),
            "not a public address",
        ),
    ] {
        let text = flawed.expect_error_page(&world).await.visible_text();
        assert!(text.contains(reason), "{reason}: {text}");
    }
    // A form is repeated by GET at the issuer itself.
    let posted = world
        .anyone()
        .post("/authorize")
        .form(request.parameters())
        .await
        .expect(303);
    assert!(posted.header("location").starts_with("/authorize?"), "{posted}");
    // Whether the app has the redirect URI is known after the sign-in, and is told on a page.
    let other = request.clone().set("redirect_uri", "https://other.test/cb");
    let mut browser = world.browser();
    assert_eq!(
        browser.open(&other.path()).await.location().unwrap().path(),
        "/signin"
    );
    assert_eq!(described.fetches(), 0);
    let page = browser
        .complete_flow(&other.path(), &user, "allow")
        .await
        .unwrap_err();
    assert_eq!(
        (page.reply.status, described.fetches()),
        (400, 1),
        "{}",
        page.reply
    );
    page.expect_page_within_origin();
    // Other errors of a signed-in user are redirects, as for every client.
    let silent = request.clone().set("prompt", "none");
    let redirect = user.browser().open(&silent.path()).await.location().unwrap();
    silent.expect_error_response(&world, &redirect, "consent_required");
}

async fn concurrent_flows_share_one_fetch(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    for _ in 0..3 {
        let described = DescribedApp::start(json!({})).await;
        let path = described.app.authorization().path();
        let mut browser = user.browser();
        let consent = browser.open(&path).await.location().unwrap();
        let replies = run_concurrently(12, |_| browser.open_call(consent.as_str()).into_future()).await;
        assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
        let issuers = world.issuer_ports().len();
        assert!(
            (1..=issuers).contains(&described.fetches()),
            "{}",
            described.fetches()
        );
    }
}

async fn a_description_is_fresh_as_long_as_its_response_says(shape: Shape) {
    const HOUR: u64 = 3600;
    let world = start(shape).await;
    let user = world.user().await;
    for (cache_control, fresh) in [
        ("", HOUR),
        ("Cache-Control: no-store\r\n", 300),
        ("Cache-Control: no-cache\r\n", 300),
        ("Cache-Control: max-age=0\r\n", 300),
        ("Cache-Control: max-age=1000\r\n", 1_000),
        ("Cache-Control: max-age=31536000\r\n", 24 * HOUR),
    ] {
        let described = DescribedApp::start(json!({})).await;
        let body = document(&described.app.id, json!({})).to_string();
        let headers = format!("Content-Type: application/json\r\n{cache_control}");
        described.server.answer_raw(&response("200 OK", &headers, &body));
        let show = async || {
            let user = world.log_in(&user.email, &user.password).await;
            consent_page(&user, &described.app).await;
            described.fetches()
        };
        assert_eq!(show().await, 1);
        world.advance(Duration::from_secs(fresh - 1));
        assert_eq!(show().await, 1, "{cache_control}");
        world.advance(Duration::from_secs(1));
        assert_eq!(show().await, 2, "{cache_control}");
    }
}

async fn requests_are_pushed_once_the_app_is_known(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let described = DescribedApp::start(json!({})).await;
    let (app, request) = (&described.app, described.app.authorization());
    let push = || push(&world, app, &request);
    push().await.expect_token_error(401, "invalid_client");
    assert_eq!(described.fetches(), 0);
    consent_page(&user, app).await;
    let pushed = push().await.expect(201);
    let path = reference(&app.id, &request_uri(&pushed));
    let redirect = user.browser().complete_flow(&path, &user, "allow").await.unwrap();
    let grant = Grant::parse(redirect, request.verifier.clone());
    Tokens::parse(app.exchange(&world.anyone(), &grant).await);
}

async fn documents_are_accepted_as_the_setting_says(shape: Shape) {
    let off = World::builder(shape).clock().start().await;
    let described = DescribedApp::start(json!({})).await;
    assert_eq!(off.anyone().get(METADATA).await.json().get(MEMBER), None);
    let user = off.user().await;
    expect_refused(&user, &described.app, "No application is registered").await;
    drop(off);
    let mut listed = World::builder(shape)
        .flag(FLAG, "app.test,127.0.0.1")
        .clock()
        .start()
        .await;
    assert_eq!(listed.anyone().get(METADATA).await.json()[MEMBER], true);
    let user = listed.user().await;
    let at_localhost = app_at(&described.app.id.replace("127.0.0.1", "localhost"));
    expect_refused(&user, &at_localhost, "at this host").await;
    assert_eq!(described.fetches(), 0);
    let tokens = described.app.tokens(&user, "posts:read").await;
    // A host that is removed from the list ends the refreshes of its apps.
    for (setting, reason) in [
        ("app.test", "at this host"),
        ("off", "No application is registered"),
    ] {
        listed.stop().await;
        listed.set_issuer_flags(&[(FLAG, Some(setting))]);
        listed.restart().await;
        let refused = described.app.refresh(&listed.anyone(), &tokens.refresh).await;
        refused.expect_token_error(401, "invalid_client");
        expect_refused(&user, &described.app, reason).await;
    }
}

async fn a_document_has_the_further_members_of_a_registration(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let described = DescribedApp::start(json!({
        "application_type": "native", "dpop_bound_access_tokens": true,
        "post_logout_redirect_uris": ["https://app.test/bye"], "backchannel_logout_uri": "https://app.test/logout",
    }))
    .await;
    let app = &described.app;
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let without_proof = app.exchange(&world.anyone(), &grant).await;
    without_proof.expect_token_error(400, "invalid_dpop_proof");
    let shown = world.cli(&["clients", "show", &app.id, "--json"], "");
    assert_eq!(shown["type"], "native");
    assert_eq!(
        shown["post_logout_redirect_uris"],
        json!(["https://app.test/bye"])
    );
    assert_eq!(shown["backchannel_logout_uri"], "https://app.test/logout");
}

async fn the_user_decides_about_the_description_that_the_page_showed(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let described = DescribedApp::start(json!({})).await;
    let mut browser = user.browser();
    let shown = open(&mut browser, &described.app).await;
    described.publish(json!({ "client_name": "Another name" }));
    world.advance(STALE);
    let page = browser.submit(&shown, &[("decision", "allow")]).await;
    assert_eq!(
        page.reply.status, 303,
        "a description is good for the time of a flow: {}",
        page.reply
    );
    let shown = open(&mut browser, &described.app).await;
    assert!(shown.visible_text().contains("Another name"), "{}", shown.reply);
    described.publish(json!({ "client_name": "A third name" }));
    world.advance(STALE);
    consent_page(&user, &described.app).await;
    let page = browser.submit(&shown, &[("decision", "allow")]).await;
    assert_eq!(page.reply.status, 400, "{}", page.reply);
    assert!(page.visible_text().contains("has changed"), "{}", page.reply);
}

on_every_shape!(
    a_user_signs_in_to_an_app_that_nobody_registered,
    an_id_has_up_to_2000_characters,
    a_document_gives_neither_administration_nor_payments,
    nothing_is_fetched_or_redirected_before_the_sign_in,
    concurrent_flows_share_one_fetch,
    a_description_is_fresh_as_long_as_its_response_says,
    requests_are_pushed_once_the_app_is_known,
    documents_are_accepted_as_the_setting_says,
    a_document_has_the_further_members_of_a_registration,
    the_user_decides_about_the_description_that_the_page_showed,
);
