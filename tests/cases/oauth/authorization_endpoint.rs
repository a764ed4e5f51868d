//! The authorization endpoint: `/authorize`, the pages, and the redirect back to a third-party app (RFC 6749
//! §4.1).

use serde_json::json;
use std::time::Duration;
use tests::{CALLBACK, Shape, SharedWorld, World, on_every_shape, parameter};

async fn the_response_returns_the_exact_state_and_the_issuer(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = user.browser();
    for state in ["a b+é&=%26#'\"<script>", &"s".repeat(2048)] {
        let request = app.authorization().set("state", state);
        let redirect = browser
            .complete_flow(&request.path(), &user, "allow")
            .await
            .unwrap();
        assert!(
            redirect.as_str().starts_with("https://app.test/cb?"),
            "{redirect}"
        );
        assert_eq!(parameter(&redirect, "state").as_deref(), Some(state));
        assert_eq!(parameter(&redirect, "iss").as_deref(), Some(world.base()));
        assert!(
            parameter(&redirect, "code").unwrap().len() >= 22,
            "a code has at least 128 bits"
        );
    }
    let without = app.authorization().without("state");
    let redirect = browser
        .complete_flow(&without.path(), &user, "allow")
        .await
        .unwrap();
    assert_eq!(parameter(&redirect, "state"), None);
}

async fn an_unknown_client_gets_an_error_page_and_never_a_redirect(world: SharedWorld) {
    let app = world.app().register();
    for client_id in ["nobody", "", "app-0 ", "' OR 1=1 --"] {
        app.authorization()
            .set("client_id", client_id)
            .expect_error_page(&world)
            .await;
    }
    app.authorization()
        .without("client_id")
        .expect_error_page(&world)
        .await;
}

async fn only_response_type_code_is_supported(world: SharedWorld) {
    let app = world.app().register();
    for response_type in ["token", "id_token", "code token", "CODE"] {
        let request = app.authorization().set("response_type", response_type);
        request
            .expect_error_redirect(&world, "unsupported_response_type")
            .await;
    }
    for response_mode in ["fragment", "web_message", "form_post"] {
        let request = app.authorization().set("response_mode", response_mode);
        request.expect_error_redirect(&world, "invalid_request").await;
    }
    app.authorization()
        .without("response_type")
        .expect_error_redirect(&world, "invalid_request")
        .await;
}

async fn repeated_parameters_are_rejected(world: SharedWorld) {
    let app = world.app().register();
    for (name, value) in [
        ("state", "other"),
        ("scope", "posts:read"),
        ("code_challenge_method", "S256"),
    ] {
        let request = app.authorization().set("scope", "posts:read").append(name, value);
        let page = world.browser().open(&request.path()).await;
        match page.location() {
            Some(redirect) => assert_eq!(
                parameter(&redirect, "error").as_deref(),
                Some("invalid_request"),
                "{name}"
            ),
            None => assert_eq!(page.reply.status, 400, "{name}: {}", page.reply),
        }
    }
    app.authorization()
        .append("client_id", &app.id)
        .expect_error_page(&world)
        .await;
    app.authorization()
        .append("redirect_uri", CALLBACK)
        .expect_error_page(&world)
        .await;
}

async fn unknown_parameters_and_empty_ones_are_ignored(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let request = app
        .authorization()
        .set("foo", "bar")
        .set("ui_locales", "xx")
        .set("claims_locales", "xx")
        .set("scope", "");
    let redirect = user
        .browser()
        .complete_flow(&request.path(), &user, "allow")
        .await
        .unwrap();
    assert!(parameter(&redirect, "code").is_some(), "{redirect}");
}

async fn scopes_must_be_known_and_registered_and_have_a_default(world: SharedWorld) {
    let user = world.user().await;
    let app = world
        .app()
        .scope("posts:read posts:write")
        .default_scope("posts:read")
        .register();
    for scope in [
        "posts:everything",
        "posts:read nonsense",
        "posts:read profile:read",
        "POSTS:READ",
    ] {
        app.authorization()
            .set("scope", scope)
            .expect_error_redirect(&world, "invalid_scope")
            .await;
    }
    let repeated = app.tokens(&user, "posts:read posts:read").await;
    assert_eq!(repeated.reply.json()["scope"], "posts:read");
    let unasked = app.tokens(&user, "").await;
    assert_eq!(unasked.reply.json()["scope"], "posts:read");
    assert_eq!(unasked.claims()["scope"], "posts:read");
}

async fn authorization_requests_may_be_posted(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = user.browser();
    let request = app.authorization().set("state", "a b&c=é");
    // A browser sends no session cookie with a form of another site, but it does with the redirect that
    // follows.
    let of_other_site = world
        .anyone()
        .with("origin", "https://app.test")
        .with("sec-fetch-site", "cross-site");
    let with_csrf_cookie = of_other_site.with("cookie", &format!("csrf={}", user.csrf));
    let of_no_browser = world.anyone();
    for caller in [of_other_site, with_csrf_cookie, of_no_browser] {
        let posted = caller.post("/authorize").form(request.parameters()).await;
        let posted = posted.expect(303);
        let next = posted.header("location");
        assert!(next.starts_with("/authorize?posted="), "{next}");
        expect_nothing_of(request.parameters(), next);
        let redirect = browser.complete_flow(next, &user, "allow").await.unwrap();
        assert!(parameter(&redirect, "code").is_some(), "{redirect}");
    }
}

/// Expects that a URL has none of the values of a posted request in it. Short ones may be in it by accident.
pub(super) fn expect_nothing_of(parameters: &[(impl AsRef<str>, impl AsRef<str>)], url: &str) {
    let decoded: String = form_urlencoded::parse(url.as_bytes())
        .map(|(name, value)| format!("{name} {value} "))
        .collect();
    for (name, value) in parameters {
        let (name, value) = (name.as_ref(), value.as_ref());
        assert!(value.len() < 8 || !decoded.contains(value), "{name}: {url}");
    }
}

async fn a_posted_request_is_repeated_on_its_page_and_soon(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let request = app.authorization();
    let posted = world.anyone().post("/authorize").form(request.parameters()).await;
    let next = posted.expect(303).header("location").to_owned();
    let elsewhere = next.replace("/authorize", "/signout");
    let mut altered = next.clone();
    altered.replace_range(40..41, if next[40..].starts_with('A') { "B" } else { "A" });
    for path in [
        elsewhere.as_str(),
        &altered,
        "/authorize?posted=x",
        "/signout?posted=x",
    ] {
        let page = user.browser().open(path).await;
        assert_eq!(page.reply.status, 400, "{path}: {}", page.reply);
        page.expect_page_within_origin();
    }
    world.advance(Duration::from_secs(299));
    assert_eq!(user.browser().open(&next).await.reply.status, 303);
    world.advance(Duration::from_secs(1));
    assert_eq!(user.browser().open(&next).await.reply.status, 400);
    user.get("/me").await.expect(200);
}

async fn the_authorization_endpoint_is_not_readable_by_other_origins(world: SharedWorld) {
    let app = world.app().register();
    let anyone = world.anyone().with("origin", "https://app.test");
    for method in ["GET", "OPTIONS"] {
        let reply = anyone.call(method, &app.authorization().path()).await;
        let allowed = reply
            .headers
            .keys()
            .find(|name| name.as_str().starts_with("access-control-"));
        assert_eq!(allowed, None, "{reply}");
    }
}

async fn an_oversized_state_is_rejected(world: SharedWorld) {
    let app = world.app().register();
    let mut raw = tests::RawConnection::connect(world.issuer_ports()[0]).await;
    let path = app.authorization().set("state", &"s".repeat(70_000)).path();
    raw.send(format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    ))
    .await;
    let answer = raw.read_to_end().await;
    let is_refused = ["400", "414", "431"]
        .iter()
        .any(|status| answer.starts_with(&format!("HTTP/1.1 {status}")));
    assert!(is_refused, "{answer:.200}");
}

async fn tokens_are_limited_to_their_scope(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    let caller = world.anyone().bearer(&tokens.access);
    caller.get("/posts").await.expect(200);
    let reply = caller.post("/posts").json(&json!({ "title": "No" })).await;
    reply.expect_error(403, "insufficient_scope");
}

async fn a_blank_scope_is_invalid(world: SharedWorld) {
    let (_, app) = world.user_and_app().await;
    let request = app.authorization().set("scope", " ");
    request.expect_error_redirect(&world, "invalid_scope").await;
}

on_every_shape!(
    a_blank_scope_is_invalid,
    the_response_returns_the_exact_state_and_the_issuer,
    an_unknown_client_gets_an_error_page_and_never_a_redirect,
    only_response_type_code_is_supported,
    repeated_parameters_are_rejected,
    unknown_parameters_and_empty_ones_are_ignored,
    scopes_must_be_known_and_registered_and_have_a_default,
    authorization_requests_may_be_posted,
    a_posted_request_is_repeated_on_its_page_and_soon,
    the_authorization_endpoint_is_not_readable_by_other_origins,
    an_oversized_state_is_rejected,
    tokens_are_limited_to_their_scope,
);
