//! The pages in a real browser, without JavaScript.

use tests::{Chromium, PASSWORD, Shape, World, on_every_shape};

async fn a_person_signs_in_and_consents_without_scripts(world: World) {
    let person = world.sign_up().await;
    let base = world.base();
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    // The demo is the one-process program's; elsewhere an app of ours that shows something at its address.
    let callback = format!(
        "{base}{}",
        if world.shape == Shape::Split {
            "/livez"
        } else {
            "/demo"
        }
    );
    let (client, says) = match world.shape {
        Shape::Split => (
            world.app().redirect_uri(&callback).first_party().register().id,
            "live",
        ),
        _ => ("demo".to_owned(), "The code has arrived"),
    };
    let browser = Chromium::without_scripts().await;
    // By the address: the page goes on at the name that its cookies are bound to.
    let elsewhere = base.replace("localhost", "127.0.0.1");
    let request = format!(
        "response_type=code&client_id={client}&redirect_uri={callback}&scope=posts:read&state=here&\
         code_challenge={challenge}&code_challenge_method=S256"
    );
    browser.open(&format!("{elsewhere}/authorize?{request}")).await;
    let page = browser.expect("Sign in").await;
    assert!(page.starts_with(base), "{page}");

    browser.fill("#email", &person.email).await;
    browser.fill("#password", "not the password").await;
    browser.press("button").await;
    browser.expect("The e-mail or the password is wrong").await;
    browser.fill("#password", PASSWORD).await;
    browser.press("button").await;

    browser.expect("button").await;
    browser.press("button[value=allow]").await;
    let landing = browser.expect(says).await;
    assert!(landing.starts_with(&format!("{callback}?code=")), "{landing}");
    assert!(landing.contains("state=here"), "{landing}");

    // What the browser was told to forget and to keep: signed in, the next request goes straight to consent.
    browser.open(&format!("{base}/authorize?{request}")).await;
    let landing = browser.expect(says).await;
    assert!(landing.starts_with(&format!("{callback}?code=")), "{landing}");
}

on_every_shape!(a_person_signs_in_and_consents_without_scripts);
