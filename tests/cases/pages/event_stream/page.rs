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

/// The script builds the rows that the page has when it is loaded again.
async fn a_new_event_has_the_row_that_the_page_would_give_it(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().register();
    let chromium = Chromium::in_language("en").await;
    chromium.open(&format!("{}/signin", world.base())).await;
    let fields = [("#email", admin.email.as_str()), ("#password", &admin.password)];
    let signed_in = "href=\"/signout\"";
    chromium.submit(&fields, "button[type=submit]", signed_in).await;
    let list = format!("{}{PATH}?client_id={}", world.base(), app.id);
    chromium.open(&list).await;
    chromium.press(BUTTON).await;
    expect_status(&chromium, "Waiting for the next event").await;
    let record = "INSERT INTO security_events (at, name, outcome, user_id, client_id, administrator_id, address, trace_id, detail, count)
                  VALUES ($1, 'authz_fail', 'failure', $2, $3, $4, '2001:db8::1', 'a-new-event', 'odd', 3)";
    let (db, now) = (world.db().await, world.now());
    execute!(db.writer(), record, now, user.id, app.id.as_str(), admin.id).unwrap();
    chromium.expect("a-new-event").await;
    let read = "
        const [row] = document.querySelector('table.cards').tBodies[0].rows;
        const attributes = ['role', 'scope', 'abbr', 'class', 'data-label'];
        return [row.dataset.id, ...[...row.cells].map((cell) => [
            cell.localName, attributes.map((name) => cell.getAttribute(name)),
            cell.classList.contains('short') ? '' : cell.innerText.replace(/\\s+/g, ' ').trim(),
            [...cell.querySelectorAll('a')].map((link) => link.getAttribute('href')),
            [...cell.querySelectorAll('.tag')].map((tag) => tag.className)])]";
    let live = chromium.run(read, &[]).await;
    chromium.open(&list).await;
    let loaded = chromium.run(read, &[]).await;
    assert_eq!(live, loaded);
    assert!(loaded.to_string().contains("failure 3 times"), "{loaded}");
}

on_one_shape!(
    a_page_follows_events_again_after_an_error,
    a_new_event_has_the_row_that_the_page_would_give_it,
);
