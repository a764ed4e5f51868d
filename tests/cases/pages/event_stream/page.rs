//! The page that shows new events, in Chromium.

use super::super::events::PATH;
use super::open_all;
use storage::execute;
use tests::{Chromium, World, eventually, on_one_shape};

const BUTTON: &str = "[data-events] button";

/// Waits until the page reports this about the stream.
async fn expect_status(chromium: &Chromium, words: &str) {
    let read = "return document.querySelector('[data-events] [role=status]').textContent";
    eventually(words, async || {
        let status = chromium.run(read, &[]).await;
        status.as_str().unwrap().contains(words)
    })
    .await;
}

/// A process with too many streams answers with an error, as a proxy does while the issuer starts again.
async fn a_page_follows_events_again_after_an_error(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let chromium = Chromium::in_language("en").await;
    chromium.open(&format!("{}/signin", world.base())).await;
    let fields = [("#email", admin.email.as_str()), ("#password", &admin.password)];
    let signed_in = "href=\"/signout\"";
    chromium.submit(&fields, "button[type=submit]", signed_in).await;
    let list = format!("{}{PATH}?user_id={}", world.base(), user.id);
    chromium.open(&list).await;
    let streams = open_all(&world, &admin).await;
    chromium.press(BUTTON).await;
    expect_status(&chromium, "The connection was interrupted.").await;
    let failed = user.anonymous().login(&user.email, "not the password").await;
    let failed = failed.expect(401);
    drop(streams);
    chromium.expect(failed.correlation_id()).await;
    expect_status(&chromium, "New events: 1").await;
    // Without the session, the page does not try again.
    let end = "UPDATE sessions SET expires_at = 0 WHERE user_id = $1";
    execute!(world.db().await.writer(), end, admin.id).unwrap();
    expect_status(&chromium, "Reload the page, and sign in again").await;
}

on_one_shape!(a_page_follows_events_again_after_an_error);
