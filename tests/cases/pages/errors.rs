//! The pages of errors: each has the correlation id of the response and a way on.

use tests::{Page, Shape, SharedWorld, World, on_every_shape};

/// Expects the page of an error with this heading.
fn expect_error_page(page: &Page, status: u16, heading: &str) {
    assert_eq!(page.reply.status, status, "{}", page.reply);
    let text = page.visible_text();
    assert!(text.contains(heading), "{}", page.reply);
    assert!(text.contains(page.reply.correlation_id()), "{}", page.reply);
    let leads_on = page
        .links()
        .iter()
        .any(|link| link.path().starts_with("/account"));
    assert!(leads_on, "{}", page.reply);
}

async fn a_browser_gets_a_page_for_every_error(shape: Shape) {
    let setup = World::builder(shape).env("LATCHKEY_RATE_LIMITS", "on");
    let world = setup.start().await;
    let mut browser = world.browser();
    let invalid = browser.open("/authorize?client_id=none").await;
    expect_error_page(&invalid, 400, "This authorization request is invalid");
    let form = browser.open("/signin").await;
    let action = form.url.join("/signin").unwrap();
    let large = [("email".to_owned(), "x".repeat(65 << 10))];
    let refused = browser.post(&action, &large).await;
    expect_error_page(&refused, 413, "The form was not accepted");
    // Programs get the error that they can read.
    let reply = world.anyone().post("/signin").form(&large).await;
    reply.expect_error(413, "payload_too_large");
    let mut limited = browser.open("/signin").await;
    // Two replicas share their counts with a delay.
    for _ in 0..2_000 {
        if limited.reply.status == 429 {
            break;
        }
        limited = browser.open("/signin").await;
    }
    expect_error_page(&limited, 429, "Too many requests");
    assert!(limited.reply.has("retry-after"), "{}", limited.reply);
}

async fn an_unknown_path_has_a_page_in_a_browser(world: SharedWorld) {
    let page = world.browser().in_language("de").open("/account/none").await;
    expect_error_page(&page, 404, "Diese Seite gibt es nicht");
    let reply = world.anyone().get("/account/none").await;
    reply.expect_error(404, "not_found");
}

on_every_shape!(
    a_browser_gets_a_page_for_every_error,
    an_unknown_path_has_a_page_in_a_browser,
);
