//! Single-page apps whose refresh token is in a cookie of their own, at `/token`.

use serde_json::{Value, json};
use std::time::Duration;
use tests::{App, Call, Caller, Chromium, Reply, Shape, StubServer, User, World, on_every_shape};

/// The page of the app: another origin than the issuer's, and the same site.
const ORIGIN: &str = "http://localhost:4000";
const CALLBACK: &str = "http://localhost:4000/cb";
const CSRF: &str = "00000000-0000-4000-8000-00000000c5f1";

fn app_with_cookie(world: &World) -> App {
    world
        .app()
        .redirect_uri(CALLBACK)
        .option(&["--refresh-cookie"])
        .register()
}

fn cookie_name(app: &App) -> String {
    format!("refresh_{}", app.id)
}

/// A page of the app, with the cookies that its browser sends and the anti-forgery token.
fn page(world: &World, cookies: &str) -> Caller {
    let caller = world.anyone().cookies(&format!("csrf={CSRF}; {cookies}"));
    caller.with("origin", ORIGIN).with("x-csrf-token", CSRF)
}

/// A page of the app whose browser has this refresh token.
fn page_with(world: &World, app: &App, refresh_token: &str) -> Caller {
    page(world, &format!("{}={refresh_token}", cookie_name(app)))
}

fn refresh(page: &Caller, app: &App) -> Call {
    app.token(page, &[("grant_type", "refresh_token")])
}

/// Signs the user in to the app. Returns the access token and the refresh token in the cookie.
async fn sign_in(world: &World, user: &User, app: &App) -> (String, String) {
    let grant = app.authorize(&mut user.browser(), user, "posts:read").await;
    read(app, app.exchange(&page(world, ""), &grant).await)
}

/// Reads a token response, which must have the refresh token in the cookie only.
fn read(app: &App, reply: Reply) -> (String, String) {
    let reply = reply.expect(200);
    let body = reply.json();
    assert_eq!(body["refresh_token"], Value::Null, "{reply}");
    assert_eq!(reply.header("cache-control"), "no-store");
    let access = body["access_token"].as_str().unwrap().to_owned();
    (access, reply.cookie(&cookie_name(app)))
}

async fn expect_invalid(world: &World, app: &App, refresh_token: &str) {
    let reply = refresh(&page_with(world, app, refresh_token), app).await;
    reply.expect_token_error(400, "invalid_grant");
}

async fn the_refresh_token_is_in_a_cookie_for_the_token_endpoint_only(world: World) {
    let (user, app) = (world.sign_up().await, app_with_cookie(&world));
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let reply = app.exchange(&page(&world, ""), &grant).await.expect(200);
    let line = reply.set_cookie(&cookie_name(&app)).unwrap().to_owned();
    let mut attributes: Vec<&str> = line.split("; ").skip(1).collect();
    attributes.sort_unstable();
    assert_eq!(
        attributes,
        [
            "HttpOnly",
            "Max-Age=1209600",
            "Path=/token",
            "SameSite=Strict",
            "Secure"
        ]
    );
    let (access, first) = read(&app, reply);
    let (next_access, second) = read(&app, refresh(&page_with(&world, &app, &first), &app).await);
    assert_ne!(first, second);
    for token in [&access, &next_access] {
        world.expect_accepted(token).await;
    }
    let (_, third) = read(&app, refresh(&page_with(&world, &app, &second), &app).await);
    // The first token is used, and so is its successor.
    expect_invalid(&world, &app, &first).await;
    expect_invalid(&world, &app, &third).await;
    world.expect_revoked(&next_access).await;
}

/// Sends a form with cookies and the anti-forgery token, as the page of an app does.
const FETCH: &str = r#"
    const [base, path, fields] = args;
    const { token } = await (await fetch(base + "/csrf", { credentials: "include" })).json();
    const response = await fetch(base + path, {
        method: "POST", credentials: "include", headers: { "x-csrf-token": token }, body: new URLSearchParams(fields),
    });
    const text = await response.text();
    return { status: response.status, body: text && JSON.parse(text), readable: document.cookie };
"#;

async fn a_page_in_chromium_signs_in_refreshes_and_signs_out(world: World) {
    let page = StubServer::start().await;
    let origin = page.url.replace("127.0.0.1", "localhost");
    let callback = format!("{origin}/cb");
    let registration = world.app().redirect_uri(&callback);
    let (user, app) = (
        world.sign_up().await,
        registration.option(&["--refresh-cookie"]).register(),
    );
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let browser = Chromium::with_scripts().await;
    browser.open(&origin).await;
    let fetch = async |path: &str, fields: &[(&str, &str)]| {
        let fields = [fields, &[("client_id", &app.id)]].concat();
        let args = [json!(world.base()), json!(path), json!(fields)];
        let answer = browser.run(FETCH, &args).await;
        let readable = answer["readable"].as_str().unwrap();
        assert!(!readable.contains("refresh_"), "{answer}");
        answer
    };
    let exchange = [
        ("grant_type", "authorization_code"),
        ("code", &grant.code),
        ("redirect_uri", &app.redirect_uri),
        ("code_verifier", &grant.verifier),
    ];
    let refresh = [("grant_type", "refresh_token")];
    for fields in [&exchange[..], &refresh, &refresh] {
        let answer = fetch("/token", fields).await;
        assert_eq!(answer["status"], 200, "{answer}");
        assert_eq!(answer["body"]["refresh_token"], Value::Null, "{answer}");
        let access = answer["body"]["access_token"].as_str().unwrap();
        world.expect_accepted(access).await;
    }
    assert_eq!(fetch("/token/revoke", &[]).await["status"], 200);
    let answer = fetch("/token", &refresh).await;
    assert_eq!(answer["body"]["error"], "invalid_grant", "{answer}");
    let description = answer["body"]["error_description"].as_str().unwrap();
    assert!(description.contains("no cookie"), "{description}");
}

async fn two_tabs_may_refresh_at_the_same_time(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.sign_up().await, app_with_cookie(&world));
    let (_, first) = sign_in(&world, &user, &app).await;
    let (_, second) = read(&app, refresh(&page_with(&world, &app, &first), &app).await);
    let (access, again) = read(&app, refresh(&page_with(&world, &app, &first), &app).await);
    assert_eq!(again, second);
    world.expect_accepted(&access).await;
    world.advance(Duration::from_secs(11));
    expect_invalid(&world, &app, &first).await;
    world.expect_revoked(&access).await;
}

async fn a_refresh_by_cookie_needs_the_anti_forgery_token_and_a_trusted_origin(world: World) {
    let (user, app) = (world.sign_up().await, app_with_cookie(&world));
    let (_, token) = sign_in(&world, &user, &app).await;
    let browser = |cookies: &str| {
        world
            .anyone()
            .cookies(&format!("{}={token}{cookies}", cookie_name(&app)))
    };
    let csrf = format!("; csrf={CSRF}");
    let double_submit = || browser(&csrf).with("x-csrf-token", CSRF);
    for forged in [
        browser(""),
        browser(&csrf),
        browser("").with("x-csrf-token", CSRF),
        browser(&csrf).with("x-csrf-token", ""),
        browser(&csrf).with("x-csrf-token", "00000000-0000-4000-8000-00000000c5f2"),
        browser(&format!("{csrf}{csrf}")).with("x-csrf-token", CSRF),
        double_submit().with("origin", "https://evil.test"),
        double_submit().with("origin", "http://localhost:4001"),
        double_submit().with("origin", "null"),
        double_submit().with("sec-fetch-site", "cross-site"),
    ] {
        refresh(&forged, &app).await.expect_error(403, "csrf_mismatch");
        let revocation = app.client_call(&forged, "/token/revoke", &[]).await;
        revocation.expect_error(403, "csrf_mismatch");
    }
    for trusted in [
        double_submit().with("origin", ORIGIN),
        double_submit().with("origin", world.base()),
        double_submit().with("sec-fetch-site", "same-origin"),
    ] {
        // Within the retry window.
        read(&app, refresh(&trusted, &app).await);
    }
}

async fn a_foreign_page_cannot_sign_the_browser_in(world: World) {
    let (user, app) = (world.sign_up().await, app_with_cookie(&world));
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    for foreign in ["https://evil.test", "http://localhost:4001", "null"] {
        let reply = app
            .exchange(&world.anyone().with("origin", foreign), &grant)
            .await;
        assert_eq!(reply.set_cookie(&cookie_name(&app)), None, "{reply}");
        reply.expect_error(403, "csrf_mismatch");
    }
    // The exchange itself uses no cookie, so it needs no anti-forgery token.
    read(
        &app,
        app.exchange(&world.anyone().with("origin", ORIGIN), &grant).await,
    );
}

async fn the_cookie_is_the_only_place_of_the_refresh_token(world: World) {
    let user = world.sign_up().await;
    let (app, other, plain) = (
        app_with_cookie(&world),
        app_with_cookie(&world),
        world.app().register(),
    );
    let (_, token) = sign_in(&world, &user, &app).await;
    let in_body = app.refresh(&page(&world, ""), &token).await;
    in_body.expect_token_error(400, "invalid_request");
    refresh(&page(&world, ""), &app)
        .await
        .expect_token_error(400, "invalid_grant");
    // Each client has a cookie of its own.
    let of_other = format!("{}={token}", cookie_name(&other));
    refresh(&page(&world, &of_other), &app)
        .await
        .expect_token_error(400, "invalid_grant");
    refresh(&page(&world, &of_other), &other)
        .await
        .expect_token_error(400, "invalid_grant");
    let twice = format!("{0}={token}; {0}={token}", cookie_name(&app));
    refresh(&page(&world, &twice), &app)
        .await
        .expect_token_error(400, "invalid_grant");
    let of_plain = format!("{}={token}", cookie_name(&plain));
    refresh(&page(&world, &of_plain), &plain)
        .await
        .expect_token_error(400, "invalid_request");
    read(&app, refresh(&page_with(&world, &app, &token), &app).await);
}

async fn revocation_by_cookie_ends_the_grant_and_removes_the_cookie(world: World) {
    let (user, app) = (world.sign_up().await, app_with_cookie(&world));
    let (access, token) = sign_in(&world, &user, &app).await;
    for _ in 0..2 {
        let browser = page_with(&world, &app, &token);
        let reply = app.client_call(&browser, "/token/revoke", &[]).await.expect(200);
        let line = reply.set_cookie(&cookie_name(&app)).unwrap();
        assert!(
            line.contains("Path=/token;") && line.contains("Max-Age=0"),
            "{line}"
        );
        assert_eq!(reply.cookie(&cookie_name(&app)), "");
        world.expect_revoked(&access).await;
    }
    expect_invalid(&world, &app, &token).await;
    let signed_out = page(&world, "");
    app.client_call(&signed_out, "/token/revoke", &[])
        .await
        .expect(200);
}

async fn with_a_token_both_revocation_endpoints_are_the_same(world: World) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let tokens = app.tokens(&user, "posts:read").await;
    let missing = app.client_call(&anyone, "/token/revoke", &[]).await;
    missing.expect_token_error(400, "invalid_request");
    let fields = [("token", tokens.refresh.as_str())];
    app.client_call(&anyone, "/token/revoke", &fields)
        .await
        .expect(200);
    tokens.expect_revoked(&world, &app).await;
    let (with_cookie, user) = (app_with_cookie(&world), world.sign_up().await);
    let (access, token) = sign_in(&world, &user, &with_cookie).await;
    let fields = [("token", access.as_str())];
    let reply = with_cookie.client_call(&anyone, "/token/revoke", &fields).await;
    reply.expect(200);
    world.expect_revoked(&access).await;
    let still_valid = page_with(&world, &with_cookie, &token);
    read(&with_cookie, refresh(&still_valid, &with_cookie).await);
}

async fn only_a_same_site_single_page_app_can_have_the_cookie(world: World) {
    for (kind, uri, reason) in [
        ("spa", "https://app.test/cb", "not same-site with the issuer"),
        ("spa", "http://127.0.0.1:4000/cb", "not same-site with the issuer"),
        ("spa", "https://localhost/cb", "not same-site with the issuer"),
        ("native", CALLBACK, "only a client of the type spa"),
        ("web", CALLBACK, "only a client of the type spa"),
    ] {
        let create = [
            "clients",
            "create",
            "--id",
            "refused",
            "--name",
            "Refused",
            "--scope",
            "posts:read",
        ];
        let options = ["--type", kind, "--redirect-uri", uri, "--refresh-cookie"];
        let refused = world.run(&[&create[..], &options].concat(), "");
        assert_eq!(refused.status.code(), Some(64), "{kind} {uri}: {refused:?}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(reason), "{kind} {uri}: {message}");
    }
    let app = app_with_cookie(&world);
    let shown = world.cli(&["clients", "show", &app.id, "--json"], "");
    assert_eq!(shown["refresh_cookie"], true);
    assert_eq!(shown["refresh_retry_window"], 10);
    let moved = [
        "clients",
        "update",
        &app.id,
        "--redirect-uri",
        "https://app.test/cb",
    ];
    assert_eq!(world.run(&moved, "").status.code(), Some(64));
}

async fn the_page_of_the_app_may_send_cookies_to_the_token_endpoint_only(world: World) {
    app_with_cookie(&world);
    for (path, with_cookies) in [
        ("/token", true),
        ("/token/revoke", true),
        ("/csrf", true),
        ("/revoke", false),
        ("/posts", false),
        ("/me", false),
    ] {
        let preflight = world.anyone().call("OPTIONS", path).header("origin", ORIGIN);
        let reply = preflight.header("access-control-request-method", "POST").await;
        assert_eq!(reply.header("access-control-allow-origin"), ORIGIN, "{path}");
        assert_eq!(
            reply.has("access-control-allow-credentials"),
            with_cookies,
            "{path}"
        );
    }
}

on_every_shape!(
    the_refresh_token_is_in_a_cookie_for_the_token_endpoint_only,
    a_page_in_chromium_signs_in_refreshes_and_signs_out,
    two_tabs_may_refresh_at_the_same_time,
    a_refresh_by_cookie_needs_the_anti_forgery_token_and_a_trusted_origin,
    a_foreign_page_cannot_sign_the_browser_in,
    the_cookie_is_the_only_place_of_the_refresh_token,
    revocation_by_cookie_ends_the_grant_and_removes_the_cookie,
    with_a_token_both_revocation_endpoints_are_the_same,
    only_a_same_site_single_page_app_can_have_the_cookie,
    the_page_of_the_app_may_send_cookies_to_the_token_endpoint_only,
);
