//! A page in Chromium, on the site of the issuer and another origin.

use serde_json::{Value, json};
use tests::{Chromium, SharedWorld, StubServer, on_one_shape};

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

async fn a_page_in_chromium_signs_in_refreshes_and_signs_out(world: SharedWorld) {
    let page = StubServer::start().await;
    let origin = page.url.replace("127.0.0.1", "localhost");
    let callback = format!("{origin}/cb");
    let registration = world.app().redirect_uri(&callback);
    let (user, app) = (
        world.user().await,
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

on_one_shape!(a_page_in_chromium_signs_in_refreshes_and_signs_out);
