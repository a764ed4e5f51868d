//! The sign-in and consent pages in Chromium without JavaScript.

use tests::{Chromium, PASSWORD, SUBMIT, Shape, Tokens, World, on_one_process, on_one_shape};

async fn a_user_signs_in_and_consents_without_javascript(world: World) {
    let user = world.user().await;
    let base = world.base();
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    // Only the single-process program has the demo page.
    let (path, expected_text) = match world.shape {
        Shape::Split => ("/livez", "live"),
        _ => ("/demo", "Authorization code received"),
    };
    let callback = format!("{base}{path}");
    let client = world.app().kind("web").redirect_uri(&callback).register().id;
    let browser = Chromium::without_scripts().await;
    // Opened by IP address, the page redirects to the host name that its cookies are bound to.
    let elsewhere = base.replace("localhost", "127.0.0.1");
    let request = format!(
        "response_type=code&client_id={client}&redirect_uri={callback}&scope=posts:read&state=here&\
         code_challenge={challenge}&code_challenge_method=S256"
    );
    browser.open(&format!("{elsewhere}/authorize?{request}")).await;
    let page = browser.expect("Sign in").await;
    assert!(page.starts_with(base), "{page}");

    browser.fill("#email", &user.email).await;
    browser.fill("#password", "not the password").await;
    browser.press(SUBMIT).await;
    browser
        .expect("The e-mail address or the password is wrong")
        .await;
    browser.fill("#password", PASSWORD).await;
    browser.press(SUBMIT).await;

    browser.expect("value=\"allow\"").await;
    browser.press("button[value=allow]").await;
    let redirect = browser.expect(expected_text).await;
    assert!(redirect.starts_with(&format!("{callback}?code=")), "{redirect}");
    assert!(redirect.contains("state=here"), "{redirect}");

    // The browser is still signed in and the consent is remembered, so the next request shows no page.
    browser.open(&format!("{base}/authorize?{request}")).await;
    let redirect = browser.expect(expected_text).await;
    assert!(redirect.starts_with(&format!("{callback}?code=")), "{redirect}");
}

async fn a_user_connects_a_device_without_javascript(world: World) {
    let (user, anyone) = (world.user().await, world.anyone());
    let app = world.app().kind("native").option(&["--device"]).register();
    let device = app.device(&anyone, "posts:read").await;
    let browser = Chromium::without_scripts().await;
    browser.open(&device.complete_uri).await;
    browser.expect("Sign in").await;
    browser.fill("#email", &user.email).await;
    browser.fill("#password", PASSWORD).await;
    browser.press(SUBMIT).await;
    browser.expect("id=\"user_code\"").await;
    browser.press(SUBMIT).await;
    browser.expect("Some App").await;
    browser.press("button[value=allow]").await;
    browser.expect("Your device is connected").await;
    Tokens::parse(device.poll(&anyone).await);
}

on_one_shape!(a_user_signs_in_and_consents_without_javascript);
on_one_process!(a_user_connects_a_device_without_javascript);
