//! The captcha: required after repeated failures if configured, and verified by its service.

use serde_json::{Value, json};
use tests::{Call, Caller, PASSWORD, Shape, StubServer, World, WorldBuilder, on_every_shape};

const SECRET: &str = "a secret of the captcha alone";
const SITE_KEY: &str = "our-site-key";
const WRONG: &str = "not the password";

fn with_captcha(shape: Shape, service: &StubServer) -> WorldBuilder {
    service.answer(200, r#"{"success":true,"hostname":"localhost"}"#);
    World::builder(shape)
        .flag("--captcha-verify-url", &format!("{}/siteverify", service.url))
        .flag("--captcha-secret", SECRET)
        .flag("--captcha-site-key", SITE_KEY)
        .flag("--captcha-script-url", "https://captcha.example/api.js")
        .flag(
            "--captcha-sources",
            "https://captcha.example,https://*.captcha.example",
        )
}

fn login(caller: &Caller, email: &str, password: &str, captcha: Option<&str>) -> Call {
    let mut body = json!({ "email": email, "password": password });
    if let Some(answer) = captcha {
        body["captcha"] = Value::from(answer);
    }
    caller.post("/login").json(&body)
}

async fn three_failures_require_a_captcha_for_known_and_unknown_emails(shape: Shape) {
    let service = StubServer::start().await;
    let world = with_captcha(shape, &service).start().await;
    world.register_secret(SECRET);
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    let mut responses = Vec::new();
    for email in [ann.email.as_str(), "nobody@example.org"] {
        for _ in 0..3 {
            login(&anyone, email, WRONG, None).await.expect(401);
        }
        // Without a captcha no attempt is made or counted, not even with the right password.
        for _ in 0..5 {
            responses.push(
                login(&anyone, email, PASSWORD, None)
                    .await
                    .expect_validation_errors(&["/captcha"]),
            );
        }
    }
    assert_eq!(responses[0].comparable_parts(), responses[9].comparable_parts());
    assert!(service.received().is_empty(), "no captcha response was verified");

    service.answer(
        200,
        r#"{"success":false,"error-codes":["invalid-input-response"]}"#,
    );
    login(&anyone, &ann.email, PASSWORD, Some("an answer that is refused"))
        .await
        .expect_validation_errors(&["/captcha"]);
    service.answer(200, r#"{"success":true}"#);
    login(&anyone, &ann.email, PASSWORD, Some("an answer that is good"))
        .await
        .expect(200);
    let received = service.received();
    let fields: Vec<(String, String)> = form_urlencoded::parse(received[1].body.as_bytes())
        .into_owned()
        .collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let expected = [
        pair("secret", SECRET),
        pair("response", "an answer that is good"),
        pair("remoteip", "127.0.0.1"),
    ];
    assert_eq!(fields, expected);
    // The success cleared the counter.
    login(&anyone, &ann.email, PASSWORD, None).await.expect(200);
    let long = "x".repeat(8193);
    login(&anyone, &ann.email, PASSWORD, Some(&long))
        .await
        .expect_validation_errors(&["/captcha"]);
}

async fn a_solved_captcha_does_not_lift_the_lockout(shape: Shape) {
    let service = StubServer::start().await;
    let world = with_captcha(shape, &service).start().await;
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    for _ in 0..5 {
        login(&anyone, &ann.email, WRONG, Some("good")).await.expect(401);
    }
    login(&anyone, &ann.email, PASSWORD, Some("good"))
        .await
        .expect_error(429, "login_locked");
}

async fn sign_ins_fail_if_the_captcha_service_is_unavailable(shape: Shape) {
    let service = StubServer::start().await;
    let world = with_captcha(shape, &service).start().await;
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    for _ in 0..3 {
        login(&anyone, &ann.email, WRONG, None).await.expect(401);
    }
    for (status, body) in [(500, ""), (302, ""), (200, "nonsense"), (200, "{}")] {
        service.answer(status, body);
        let refused = login(&anyone, &ann.email, PASSWORD, Some("good"))
            .may_fail()
            .await;
        let refused = refused.expect_error(503, "dependency_unavailable");
        assert!(refused.has("retry-after"));
    }
    service.answer(200, r#"{"success":true}"#);
    login(&anyone, &ann.email, PASSWORD, Some("good"))
        .await
        .expect(200);
}

async fn the_sign_in_page_embeds_the_captcha_and_allows_its_script(shape: Shape) {
    let service = StubServer::start().await;
    let world = with_captcha(shape, &service).start().await;
    let (ann, mut browser) = (world.sign_up().await, world.browser());
    let policy_of = |page: &tests::Page| page.reply.header("content-security-policy").to_owned();
    let mut page = browser.open("/signin").await;
    let before = policy_of(&page);
    assert!(before.ends_with("; script-src 'self'"), "{before}");
    assert!(!page.reply.text().contains(SITE_KEY), "{}", page.reply);
    let fields = |password: &str| {
        [
            ("email".to_owned(), ann.email.clone()),
            ("password".to_owned(), password.to_owned()),
        ]
    };
    for expected in [401, 401, 401, 422] {
        let sent = fields(WRONG);
        let sent: Vec<(&str, &str)> = sent
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        page = browser.submit(&page, &sent).await;
        assert_eq!(page.reply.status, expected, "{}", page.reply);
    }
    let sources = "https://captcha.example https://*.captcha.example";
    let styles = before.replace("style-src 'self'", &format!("style-src 'self' {sources}"));
    let expected = format!("{styles} {sources}; frame-src {sources}; connect-src {sources}");
    assert_eq!(policy_of(&page), expected);
    let html = page.reply.text();
    assert!(html.contains(&format!("data-sitekey=\"{SITE_KEY}\"")), "{html}");
    assert!(
        html.contains("<script src=\"https://captcha.example/api.js\" async defer></script>"),
        "{html}"
    );
    let without_scripts = "<noscript><p class=\"error\" role=\"alert\">The captcha needs JavaScript.";
    assert!(html.contains(without_scripts), "{html}");
    let mut sent = fields(PASSWORD).to_vec();
    sent.push(("csrf".to_owned(), page.hidden("csrf").unwrap()));
    sent.push(("cf-turnstile-response".to_owned(), "good".to_owned()));
    let action = format!("{}/signin", world.base()).parse().unwrap();
    let done = browser.post(&action, &sent).await;
    assert_eq!(done.reply.status, 303, "{}", done.reply);
    assert!(browser.cookie("sid").is_some());
}

on_every_shape!(
    three_failures_require_a_captcha_for_known_and_unknown_emails,
    a_solved_captcha_does_not_lift_the_lockout,
    sign_ins_fail_if_the_captcha_service_is_unavailable,
    the_sign_in_page_embeds_the_captcha_and_allows_its_script,
);
