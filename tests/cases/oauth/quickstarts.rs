//! The programs of `docs/apps/quickstarts.md`. Each is the file in `docs/apps/examples/` itself, with the
//! library that the page names.

use reqwest::{Client, Response};
use serde_json::{Value, json};
use tests::{App, Chromium, Example, SharedWorld, TokenForger, World, eventually, free_port, on_one_shape};
use url::Url;

/// A header without effect.
const NOTHING: (&str, &str) = ("accept", "*/*");

/// Starts a program with its settings for this app.
fn start(world: &World, file: &str, app: &App, port: &str) -> Example {
    let settings = &[
        ("ISSUER", world.base()),
        ("API", world.base()),
        ("CLIENT_ID", app.id.as_str()),
        ("CLIENT_SECRET", app.secret.as_deref().unwrap_or_default()),
        ("PORT", port),
    ];
    Example::start(file, settings)
}

/// Requests a page of a program, with this header.
async fn get(url: &str, (name, value): (&str, &str)) -> Response {
    let client = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none());
    let request = client.build().unwrap().get(url).header(name, value);
    request.send().await.unwrap()
}

/// The value of a header.
fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers()[name].to_str().unwrap()
}

/// The cookie that a response sets, with its name.
fn cookie(response: &Response) -> &str {
    header(response, "set-cookie").split(';').next().unwrap()
}

async fn a_service_reads_the_posts(world: SharedWorld) {
    let app = world.app().kind("service").scope("posts:read").register();
    world.user().await.publish("A post for a service").await;
    let printed = start(&world, "service.py", &app, "").end().await;
    assert!(printed.contains("posts:read"), "{printed}");
    assert!(printed.contains("- "), "no post: {printed}");
}

async fn a_command_line_app_signs_a_user_in(world: SharedWorld) {
    let user = world.user().await;
    let app = world
        .app()
        .kind("native")
        .redirect_uri("http://127.0.0.1/callback")
        .register();
    let mut program = start(&world, "command_line.py", &app, "");
    let url = program.url("/authorize?").await;
    let began = Url::parse(&url).unwrap();
    let redirect_uri = began.query_pairs().find(|(name, _)| name == "redirect_uri");
    for query in ["", "?code=a&state=b"] {
        let callback = format!("{}{query}", redirect_uri.as_ref().unwrap().1);
        let ignored = get(&callback, NOTHING).await;
        assert_eq!(ignored.status(), 404, "{callback} ends the sign-in");
    }
    world.browser().return_to_app(&url, &user).await;
    let printed = program.end().await;
    assert!(printed.contains(&user.email), "{printed}");
}

async fn a_web_app_signs_a_user_in(world: SharedWorld) {
    let (user, port) = (world.user().await, free_port().to_string());
    let app = world
        .app()
        .kind("web")
        .redirect_uri("http://localhost/callback")
        .register();
    let mut server = start(&world, "web_app.mjs", &app, &port);
    let url = server.url("localhost").await;
    let began = get(&url, NOTHING).await;
    let mut browser = world.browser();
    let callback = browser
        .complete_flow(header(&began, "location"), &user, "allow")
        .await;
    let callback = callback.unwrap();
    let elsewhere = get(callback.as_str(), NOTHING).await;
    assert_eq!(elsewhere.status(), 400, "the response belongs to another browser");
    let returned = get(callback.as_str(), ("cookie", cookie(&began))).await;
    assert_eq!(returned.status(), 303);
    let page = get(header(&returned, "location"), ("cookie", cookie(&returned))).await;
    let text = page.text().await.unwrap();
    assert_eq!(text, format!("You are signed in as {}.\n", user.email));
    world.cli(&["clients", "disable", &app.id, "--json"], "");
    eventually("the app kept a revoked token", async || {
        let page = get(&url, ("cookie", cookie(&returned))).await;
        page.status() == 303
    })
    .await;
}

async fn a_single_page_app_signs_a_user_in_in_chromium(world: SharedWorld) {
    let (user, port) = (world.user().await, free_port().to_string());
    let origin = format!("http://localhost:{port}");
    let callback = format!("{origin}/callback");
    let app = world
        .app()
        .redirect_uri(&callback)
        .option(&["--refresh-cookie"])
        .register();
    world.expect_origin(&origin).await;
    let mut server = start(&world, "single_page_app.mjs", &app, &port);
    assert_eq!(server.url("localhost").await, origin);
    let signed_in = state(&format!("You are signed in as {}.", user.email));
    let browser = Chromium::with_scripts().await;
    browser.open(&origin).await;
    browser.expect(&state("You are signed out.")).await;
    browser.press("#sign-in").await;
    browser.sign_in_and_allow(&user).await;
    assert_eq!(browser.expect(&signed_in).await, callback);
    browser.open(&origin).await;
    browser.expect(&signed_in).await;
    browser.press("#sign-out").await;
    browser.expect(&state("You are signed out.")).await;
}

/// The element in which the single-page app shows its state.
fn state(text: &str) -> String {
    format!(r#"<p id="state">{text}</p>"#)
}

async fn a_resource_server_accepts_tokens_of_the_issuer(world: SharedWorld) {
    let (user, app, port) = (
        world.user().await,
        world.app().register(),
        free_port().to_string(),
    );
    let mut server = start(&world, "resource_server.mjs", &app, &port);
    let url = server.url("localhost").await;
    let tokens = app.tokens(&user, "openid posts:read").await;
    let id_token = tokens.reply.json()["id_token"].as_str().unwrap().to_owned();
    let narrow = app.tokens(&user, "profile:read").await.access;
    let forger = TokenForger::new(&world, &user).await;
    let invalid = [
        format!("{}A", tokens.access),
        id_token,
        forger.with_header("kid", None),
        forger.with_header("kid", json!("unknown")),
        forger.with_claim("aud", json!("https://api.example.org")),
        forger.with_claim("exp", json!(world.now().seconds() - 1)),
    ];
    let invalid = invalid.map(|token| (token, 401_u16, r#"Bearer error="invalid_token""#));
    let narrow = (
        narrow,
        403,
        r#"Bearer error="insufficient_scope", scope="posts:read""#,
    );
    let absent = (String::new(), 401, "Bearer");
    for (token, status, challenge) in invalid.into_iter().chain([absent, narrow]) {
        let refused = get(&url, ("authorization", &format!("Bearer {token}"))).await;
        assert_eq!(refused.status(), status, "{token}");
        assert_eq!(header(&refused, "www-authenticate"), challenge);
    }
    let accepted = get(&url, ("authorization", &format!("Bearer {}", tokens.access))).await;
    assert_eq!(accepted.status(), 200);
    let claims: Value = accepted.json().await.unwrap();
    let expected = json!({ "sub": user.id.to_string(), "client_id": app.id, "scope": "openid posts:read" });
    assert_eq!(claims, expected);
}

on_one_shape!(
    a_service_reads_the_posts,
    a_command_line_app_signs_a_user_in,
    a_web_app_signs_a_user_in,
    a_single_page_app_signs_a_user_in_in_chromium,
    a_resource_server_accepts_tokens_of_the_issuer,
);
