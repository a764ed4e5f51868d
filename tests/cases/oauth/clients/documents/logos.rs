//! The logos of apps that describe themselves: the issuer fetches them, and shows them inside the consent
//! page.

use super::{DescribedApp, STALE, consent_page, start};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tests::{Page, Sentinel, Shape, StubServer, on_every_shape, response};

/// The beginning of an image, which is text.
const IMAGE: &str = "GIF89a\u{1}\0\u{1}\0";

#[track_caller]
fn expect_no_logo(page: &Page) {
    assert!(!page.reply.text().contains("<img"), "{}", page.reply);
    assert!(!page.reply.header("content-security-policy").contains("data:"));
}

async fn the_consent_page_shows_the_logo(shape: Shape) {
    let world = start(shape).await;
    let (user, images) = (world.user().await, StubServer::start().await);
    images.answer_raw(&response("200 OK", "Content-Type: image/gif\r\n", IMAGE));
    let logo = json!({ "logo_uri": format!("{}/logo.gif", images.url) });
    let described = DescribedApp::start(logo).await;
    for _ in 0..2 {
        let page = consent_page(&user, &described.app).await;
        let image = format!("<img src=\"data:image/gif;base64,{}\"", STANDARD.encode(IMAGE));
        assert!(page.reply.text().contains(&image), "{}", page.reply);
        let policy = page.reply.header("content-security-policy");
        assert!(policy.contains("img-src 'self' data:;"), "{policy}");
    }
    assert_eq!(images.received().len(), 1, "a logo is fetched with its document");
    described.publish(json!({}));
    world.advance(STALE);
    let user = world.log_in(&user.email, &user.password).await;
    expect_no_logo(&consent_page(&user, &described.app).await);
}

async fn unusable_logos_are_left_out(shape: Shape) {
    let world = start(shape).await;
    let (user, images, sentinel) = (world.user().await, StubServer::start().await, Sentinel::start());
    let to_sentinel = format!("Location: http://localhost:{}/\r\n", sentinel.port);
    let gif = "Content-Type: image/gif\r\n";
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    for response in [
        response("404 Not Found", gif, IMAGE),
        response("302 Found", &to_sentinel, ""),
        response("200 OK", "Content-Type: text/html\r\n", IMAGE),
        response("200 OK", "Content-Type: image/svg+xml\r\n", svg),
        response("200 OK", gif, svg),
        response("200 OK", gif, ""),
        response("200 OK", gif, &format!("{IMAGE}{}", " ".repeat(24 * 1024))),
    ] {
        images.answer_raw(&response);
        let fetches = images.received().len();
        let logo = json!({ "logo_uri": format!("{}/logo", images.url) });
        let described = DescribedApp::start(logo).await;
        expect_no_logo(&consent_page(&user, &described.app).await);
        assert_eq!(images.received().len(), fetches + 1);
    }
    for logo in [
        // Without a check of the address, these reach this machine.
        format!("https://0.0.0.0:{}/logo.gif", sentinel.port),
        format!("https://[::ffff:127.0.0.1]:{}/logo.gif", sentinel.port),
        "http://app.test/logo.gif".to_owned(),
        "data:image/gif;base64,R0lGODlh".to_owned(),
    ] {
        let described = DescribedApp::start(json!({ "logo_uri": logo })).await;
        expect_no_logo(&consent_page(&user, &described.app).await);
    }
    sentinel.expect_no_connection();
}

on_every_shape!(the_consent_page_shows_the_logo, unusable_logos_are_left_out,);
