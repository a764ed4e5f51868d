//! The pages of an installation with a name, a logo, a color and a captcha of its own, at which apps register
//! themselves.

use super::rare_states::too_many_requests;
use super::{DONE, FAILED, Pictures, SUBMIT, Walk};
use serde_json::json;
use tests::{App, Appearance, CALLBACK, Chromium, PASSWORD, Shape, StubServer, User, World, response};

/// The largest number of accounts that a network can create in a quarter of an hour.
const MAX_SIGN_UPS: usize = 100;
/// The largest number of documents that are fetched for a user in an hour.
const MAX_DOCUMENTS: usize = 30;
const LOGO: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#8e24aa"/></svg>"##;

/// A GIF image with one pixel, as text: the first byte after its size counts eight colors, and the one after
/// that is ignored.
const IMAGE: &str = concat!(
    "GIF89a\u{1}\0\u{1}\0\u{80}\0",
    "\0\0\0\u{0b}\u{5d}\u{4e}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ",\0\0\0\0\u{1}\0\u{1}\0\0\u{3}\u{2}\u{18}\u{9}\0;",
);

/// Names another version of the document in the form, as if the app had changed it since.
const SET_VERSION: &str = "document.querySelector('input[name=client_version]').value = 'another'";

/// Measures by how many pixels the logo is beside the middle of the window.
const LOGO_TO_MIDDLE: &str = "
    const { left, right } = document.querySelector('.brand img').getBoundingClientRect();
    return Math.abs(left + right - document.documentElement.clientWidth) / 2;
";

/// Fills in the widget as the script of a captcha service does.
const CAPTCHA_SCRIPT: &str = r##"
    for (const widget of document.querySelectorAll("[data-sitekey]")) {
        widget.innerHTML = "<p>A widget of the captcha service</p>";
    }
"##;

/// Waits until the page says that the captcha did not load.
const CAPTCHA_NOT_LOADED: &str = "
    const message = document.querySelector('[data-sitekey] + div');
    while (message.hidden) await new Promise(done => setTimeout(done, 100));
";

/// Visits the pages on which the settings of the installation show.
pub(super) async fn walk(
    shape: Shape,
    language: &'static str,
    appearances: Vec<Appearance>,
    pictures: Option<Pictures>,
) {
    let directory = tempfile::tempdir().unwrap();
    let logo = directory.path().join("logo.svg");
    std::fs::write(&logo, LOGO).unwrap();
    let secret = directory.path().join("captcha");
    std::fs::write(&secret, "a secret of the captcha\n").unwrap();
    // As that of reCAPTCHA, the script loads another one from a second origin.
    let (captcha, widget) = (StubServer::start().await, StubServer::start().await);
    let source = format!("{}/widget.js", widget.url);
    captcha.answer_raw(&script(&format!(
        "document.head.append(Object.assign(document.createElement('script'), {{ src: '{source}' }}));"
    )));
    widget.answer_raw(&script(CAPTCHA_SCRIPT));
    let world = World::builder(shape)
        .flag("--captcha-verify-url", &captcha.url)
        .flag("--captcha-secret-file", secret.to_str().unwrap())
        .flag("--captcha-site-key", "our-site-key")
        .flag("--captcha-script-url", &format!("{}/api.js", captcha.url))
        .flag("--captcha-sources", &format!("{},{}", captcha.url, widget.url))
        .flag("--brand-name", "The Gazette of Upper Example")
        .flag("--brand-logo", logo.to_str().unwrap())
        .flag("--brand-accent", "#8e24aa")
        .flag("--help-url", "https://example.org/help")
        .flag("--terms-url", "https://example.org/terms")
        .flag("--privacy-url", "https://example.org/privacy")
        .flag("--client-registration", "open")
        .flag("--client-id-metadata-documents", "any")
        .env("LATCHKEY_RATE_LIMITS", "on");
    let world = world.start().await;
    let walk = Walk {
        pictures,
        third_parties: vec![captcha.url.clone(), widget.url.clone()],
        ..Walk::start(&world, language, appearances).await
    };
    walk.visit("branded-front-page", "/").await;
    check_logo(&walk).await;
    walk.visit("branded-sign-up", "/signup").await;
    let user = world.sign_up().await;
    let app = registered(&world).await;
    walk.open(&app.authorization().path()).await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    walk.submit(&fields, SUBMIT, "value=\"allow\"").await;
    walk.check("branded-consent-of-registered-app").await;
    walk.visit("branded-account", "/account").await;
    described_apps(&walk).await;
    walk.chromium.delete_cookies().await;
    fail_to_sign_in(&walk, &user).await;
    walk.chromium.expect("A widget of the captcha service").await;
    walk.check_expecting("branded-sign-in-captcha", 401).await;
    if let Some(pictures) = &walk.pictures {
        unsolved_captcha(&walk).await;
        captcha_without_scripts(&walk, &user, pictures).await;
        widget.answer_raw(&script(""));
        fail_to_sign_in(&walk, &user).await;
        walk.chromium.run(CAPTCHA_NOT_LOADED, &[]).await;
        walk.check_expecting("branded-sign-in-captcha-not-loaded", 401)
            .await;
        nobody_signed_in(&walk).await;
        too_many_documents(&walk).await;
        too_many_sign_ups(&walk).await;
        too_many_requests(&walk).await;
    }
    walk.end().await;
}

/// Returns the response with this script.
fn script(source: &str) -> String {
    let headers = "Content-Type: text/javascript\r\nCache-Control: no-store\r\n";
    response("200 OK", headers, source)
}

/// Enters a wrong password, after which the sign-in page has the captcha.
async fn fail_to_sign_in(walk: &Walk<'_>, user: &User) {
    walk.open("/signin").await;
    let fields = [("#email", user.email.as_str()), ("#password", "not the password")];
    walk.submit(&fields, SUBMIT, "data-sitekey").await;
}

/// The sign-in page of a user who did not solve the captcha after three failures.
async fn unsolved_captcha(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    for _ in 0..3 {
        let failed = walk.world.anyone().login(&user.email, "not the password");
        failed.await.expect(401);
    }
    fail_to_sign_in(walk, &user).await;
    walk.chromium.expect("A widget of the captcha service").await;
    walk.check_expecting("branded-captcha-required", 422).await;
}

/// The sign-in page with the captcha in a browser without scripts, which axe-core cannot check.
async fn captcha_without_scripts(walk: &Walk<'_>, user: &User, pictures: &Pictures) {
    let chromium = Chromium::without_scripts().await;
    let page = format!("{}/signin?language={}", walk.world.base(), walk.language);
    chromium.open(&page).await;
    let fields = [("#email", user.email.as_str()), ("#password", "not the password")];
    chromium.submit(&fields, SUBMIT, "data-sitekey").await;
    for appearance in &walk.appearances {
        chromium.appear(*appearance).await;
        let name = "branded-sign-in-captcha-without-scripts";
        pictures.take(&chromium, name, *appearance).await;
    }
}

/// Expects that the logo is in the middle of a narrow phone, where the name of the service is below it.
async fn check_logo(walk: &Walk<'_>) {
    walk.chromium.be_a_phone(320).await;
    let distance = walk.chromium.run(LOGO_TO_MIDDLE, &[]).await;
    assert!(distance.as_f64().unwrap() <= 1.0, "{distance}");
}

/// The consent to apps that describe themselves by a document, one of which has a logo, and the page after a
/// decision about another version of the document.
async fn described_apps(walk: &Walk<'_>) {
    let (documents, images) = (StubServer::start().await, StubServer::start().await);
    images.answer_raw(&response("200 OK", "Content-Type: image/gif\r\n", IMAGE));
    let logo = json!({ "logo_uri": format!("{}/logo.gif", images.url) });
    for (name, members) in [
        ("branded-consent-of-described-app", json!({})),
        ("branded-consent-of-described-app-with-logo", logo),
    ] {
        let app = App {
            id: format!("{}/{name}.json", documents.url),
            secret: None,
            redirect_uri: CALLBACK.to_owned(),
        };
        let mut document =
            json!({ "client_id": app.id, "client_name": "A described app", "redirect_uris": [CALLBACK] });
        document
            .as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        documents.answer(200, &document.to_string());
        walk.visit(name, &app.authorization().path()).await;
    }
    if walk.pictures.is_some() {
        walk.chromium.run(SET_VERSION, &[]).await;
        walk.submit(&[], "button[value=allow]", DONE).await;
        walk.check_expecting("branded-app-changed", 400).await;
    }
}

/// The page for a stranger whom an app that describes itself sends without a page to sign in.
async fn nobody_signed_in(walk: &Walk<'_>) {
    let app = App {
        id: "https://app.example.org/client.json".to_owned(),
        secret: None,
        redirect_uri: CALLBACK.to_owned(),
    };
    let silent = app.authorization().set("prompt", "none").path();
    walk.visit_expecting("branded-nobody-signed-in", &silent, 400)
        .await;
}

/// The page about an app that describes itself, for a user who opened many others in the last hour.
async fn too_many_documents(walk: &Walk<'_>) {
    let (user, documents) = (walk.world.user().await, StubServer::start().await);
    let silent = |n: usize| {
        let app = App {
            id: format!("{}/{n}.json", documents.url),
            secret: None,
            redirect_uri: CALLBACK.to_owned(),
        };
        app.authorization().set("prompt", "none").path()
    };
    let mut browser = user.browser();
    for n in 0..MAX_DOCUMENTS {
        browser.open(&silent(n)).await;
    }
    walk.sign_in(&user).await;
    walk.visit_expecting("branded-too-many-documents", &silent(MAX_DOCUMENTS), 429)
        .await;
    walk.chromium.delete_cookies().await;
}

/// The sign-up page for a network from which as many accounts were created as are possible in a quarter of an
/// hour.
async fn too_many_sign_ups(walk: &Walk<'_>) {
    for _ in 0..MAX_SIGN_UPS {
        let sign_up = json!({ "email": walk.world.fresh_email(), "password": PASSWORD });
        walk.world.anyone().post("/users").json(&sign_up).await;
    }
    walk.open("/signup").await;
    let email = walk.world.fresh_email();
    walk.submit(&[("#email", &email), ("#password", PASSWORD)], SUBMIT, FAILED)
        .await;
    walk.check_expecting("branded-sign-up-too-many", 429).await;
}

/// An app that registered itself.
async fn registered(world: &World) -> App {
    let metadata = json!({
        "client_name": "An assistant", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none",
    });
    let registered = world.anyone().post("/register").json(&metadata).await;
    let registered = registered.expect(201).json();
    App {
        id: registered["client_id"].as_str().unwrap().to_owned(),
        secret: None,
        ..world.app().kind("spa").register()
    }
}
