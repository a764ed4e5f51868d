//! The languages of the pages.

use serde_json::json;
use tests::{PASSWORD, Shape, SharedWorld, World, on_every_shape, on_one_process};

async fn pages_are_in_the_preferred_language(world: SharedWorld) {
    for (accepted, language, words) in [
        ("de-AT, en;q=0.5", "de", "Passwort vergessen?"),
        ("fr, en;q=0.5, de;q=0.4", "en", "Forgot your password?"),
        ("fr", "en", "Forgot your password?"),
    ] {
        let caller = world.anyone().with("accept-language", accepted);
        let reply = caller.get("/signin").await.expect(200);
        let html = reply.text();
        assert!(
            html.contains(&format!("<html lang=\"{language}\">")),
            "{accepted}: {html}"
        );
        assert!(html.contains(words), "{accepted}: {html}");
        assert_eq!(reply.header("content-language"), language);
    }
}

async fn messages_are_in_the_language_of_the_page(world: SharedWorld) {
    let ann = world.user().await;
    let mut browser = world.browser().in_language("de");
    let form = browser.open("/signin").await;
    let refused = browser
        .submit(&form, &[("email", &ann.email), ("password", "not the password")])
        .await;
    assert_eq!(refused.reply.status, 401, "{}", refused.reply);
    assert!(
        refused.visible_text().contains("Passwort ist falsch"),
        "{}",
        refused.reply
    );
    // The reason that is meant for the developer of the app is in English, and says so to screen readers.
    let invalid = browser.open("/authorize?client_id=none").await;
    assert_eq!(invalid.reply.status, 400, "{}", invalid.reply);
    let html = invalid.reply.text();
    assert!(
        html.contains("Die App hat eine ungültige Anfrage geschickt") && html.contains("<p lang=\"en\">"),
        "{html}"
    );
}

async fn the_app_chooses_the_language_of_its_flow(world: SharedWorld) {
    let metadata = world
        .anyone()
        .get("/.well-known/openid-configuration")
        .await
        .json();
    assert_eq!(metadata["ui_locales_supported"], json!(["en", "de"]));
    let ann = world.user().await;
    let app = world.app().register();
    let request = app.authorization().set("ui_locales", "fr de-CH en");
    let pushed = world
        .anyone()
        .post("/par")
        .form(request.parameters())
        .await
        .expect(201)
        .json();
    let reference = [
        ("client_id", app.id.as_str()),
        ("request_uri", pushed["request_uri"].as_str().unwrap()),
    ];
    let reference = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(reference)
        .finish();
    for path in [request.path(), format!("/authorize?{reference}")] {
        let mut browser = world.browser();
        let to_sign_in = browser.open(&path).await.location().unwrap();
        let form = browser.open(to_sign_in.as_str()).await;
        assert!(form.visible_text().contains("Anmelden"), "{}", form.reply);
        let signed_in = browser
            .submit(&form, &[("email", &ann.email), ("password", PASSWORD)])
            .await;
        let consent = browser.open(signed_in.location().unwrap().as_str()).await;
        let text = consent.visible_text();
        assert!(
            text.contains("Zugriff auf Ihr Konto geben?") && text.contains("auch Ihre Entwürfe"),
            "{}",
            consent.reply
        );
        // The next request without the parameter is in the language of the browser.
        let plain = browser
            .open(&app.authorization().path())
            .await
            .location()
            .unwrap();
        let consent = browser.open(plain.as_str()).await;
        assert!(consent.visible_text().contains("Read posts"), "{}", consent.reply);
    }
    // The form of another page does not repeat the parameter.
    let mut browser = world.browser();
    let form = browser.open("/signup?ui_locales=fr+de").await;
    let fields = [("email", "x"), ("password", "x")];
    let refused = browser.submit(&form, &fields).await;
    assert_eq!(
        refused.reply.header("content-language"),
        "de",
        "{}",
        refused.reply
    );
    let mut browser = ann.browser();
    let form = browser.open("/signout?ui_locales=de").await;
    assert!(form.visible_text().contains("Abmelden?"), "{}", form.reply);
    let csrf = form.hidden("csrf").unwrap();
    let signed_out = browser.submit(&form, &[("csrf", &csrf)]).await;
    assert!(
        signed_out.visible_text().contains("Sie sind abgemeldet"),
        "{}",
        signed_out.reply
    );
}

async fn users_choose_the_language(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let mut browser = ann.browser();
    let request = app.authorization().set("ui_locales", "en");
    let to_consent = browser.open(&request.path()).await.location().unwrap();
    let consent = browser.open(to_consent.as_str()).await;
    assert!(consent.visible_text().contains("Read posts"), "{}", consent.reply);
    let links = consent.links();
    let to_german = links.iter().find(|link| link.as_str().ends_with("language=de"));
    // The same page of the same flow, in spite of the language for which the app asked.
    let consent = browser.open(to_german.unwrap().as_str()).await;
    assert!(
        consent
            .visible_text()
            .contains("Beiträge lesen, auch Ihre Entwürfe"),
        "{}",
        consent.reply
    );
    for path in ["/account", "/forgot"] {
        let page = browser.open(path).await.reply.expect(200);
        assert_eq!(page.header("content-language"), "de", "{path}");
    }
    let unsupported = browser.open("/forgot?language=fr").await;
    assert_eq!(unsupported.reply.set_cookie("chosen_language"), None);
    assert_eq!(unsupported.reply.header("content-language"), "de");
    let mut browser = world.browser().in_language("de");
    let form = browser.open("/signin?language=en").await;
    let refused = browser
        .submit(&form, &[("email", &ann.email), ("password", "not the password")])
        .await;
    assert!(
        refused.visible_text().contains("password is wrong"),
        "{}",
        refused.reply
    );
    // A form that is shown again can be read in the other language, within its flow.
    let mut browser = world.browser();
    let page = browser.open(&app.authorization().path()).await;
    let form = browser.open(page.location().unwrap().as_str()).await;
    let refused = browser
        .submit(&form, &[("email", &ann.email), ("password", "not the password")])
        .await;
    let links = refused.links();
    let to_german = links.iter().find(|link| link.as_str().ends_with("language=de"));
    let german = browser.open(to_german.unwrap().as_str()).await;
    assert!(german.visible_text().contains("Anmelden"), "{}", german.reply);
    assert_eq!(german.hidden("flow"), form.hidden("flow"));
    assert!(form.hidden("flow").is_some(), "{}", form.reply);
    // The result of a form has no address to which a link could lead.
    let form = browser.open("/forgot").await;
    let sent = browser.submit(&form, &[("email", &ann.email)]).await;
    assert!(!sent.reply.text().contains("hreflang"), "{}", sent.reply);
}

/// The page with the request of a device answers a form, whose page a link opens with the same code.
async fn a_device_is_connected_in_the_chosen_language(world: SharedWorld) {
    let app = world.app().kind("native").option(&["--device"]).register();
    let device = app.device(&world.anyone(), "posts:read").await;
    let mut browser = world.user().await.browser();
    let form = browser
        .open(&format!("/device?user_code={}", device.user_code))
        .await;
    let csrf = form.hidden("csrf").unwrap();
    let request = browser.submit(&form, &[("csrf", &csrf)]).await;
    assert!(request.asks_for("decision"), "{}", request.reply);
    let links = request.links();
    let to_german = links.iter().find(|link| link.as_str().ends_with("language=de"));
    let form = browser.open(to_german.unwrap().as_str()).await;
    let csrf = form.hidden("csrf").unwrap();
    let request = browser.submit(&form, &[("csrf", &csrf)]).await;
    assert!(
        request.asks_for("decision") && request.visible_text().contains("Diese App gehört einem Dritten"),
        "{}",
        request.reply
    );
}

async fn the_front_page_is_in_the_preferred_language(shape: Shape) {
    let world = World::start(shape).await;
    let front = world.browser().in_language("de").open("/").await;
    assert!(front.visible_text().contains("Konto anlegen"), "{}", front.reply);
}

on_every_shape!(
    pages_are_in_the_preferred_language,
    messages_are_in_the_language_of_the_page,
    the_app_chooses_the_language_of_its_flow,
    users_choose_the_language,
    a_device_is_connected_in_the_chosen_language,
);
on_one_process!(the_front_page_is_in_the_preferred_language);
