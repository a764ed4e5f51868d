//! Requests from `/docs/try` with the access token of a sign-in there.

use serde_json::json;
use tests::{Chromium, PASSWORD, SUBMIT, SharedWorld, eventually, on_shapes};

/// The element of `GET /me`.
const OPERATION: &str = "#operations-Users-readMe";
/// The words of the page with an access token.
const SIGNED_IN: &str = "You are signed in: requests have an access token.";

async fn a_reader_signs_in_and_sends_a_request(world: SharedWorld) {
    let user = world.user().await;
    let chromium = Chromium::in_language("en").await;
    let page = format!("{}/docs/try", world.base());
    // A place that the page does not have, to which it does not scroll.
    chromium.open(&format!("{page}#/Nowhere")).await;
    chromium.expect(&OPERATION[1..]).await;
    chromium.submit(&[], "#sign-in button", "id=\"password\"").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    chromium.submit(&fields, SUBMIT, SIGNED_IN).await;
    // The same place of the page, without the code.
    let address = chromium.expect(&OPERATION[1..]).await;
    let same_place = format!("{page}?client_id=reference#/Nowhere");
    assert_eq!(address, same_place);
    let stored =
        "return [localStorage.length, sessionStorage.length, Object.keys(JSON.parse(sessionStorage.try))]";
    let kept = json!([0, 1, ["clientId", "scope", "hash"]]);
    assert_eq!(chromium.run(stored, &[]).await, kept);
    // The page restores the sign-in, and refuses a response to none of its own.
    let unsolicited = format!("{page}?code=foreign&state=foreign&iss={}", world.base());
    chromium.open(&unsolicited).await;
    chromium.expect("state_mismatch").await;
    let address = chromium.expect(&OPERATION[1..]).await;
    assert_eq!(address, same_place);
    chromium.open(&page).await;
    chromium.expect(SIGNED_IN).await;
    chromium.expect(&OPERATION[1..]).await;
    // The cookie of the session would be enough for this request.
    chromium.delete_cookies().await;
    for (button, shown) in [
        ("opblock-summary-control", "try-out__btn"),
        ("try-out__btn", "btn execute"),
        ("execute", "live-responses-table"),
    ] {
        let button = format!("{OPERATION} .{button}");
        chromium.submit(&[], &button, shown).await;
    }
    let shown = format!("return document.querySelector('{OPERATION}').textContent");
    eventually("the page shows no response", async || {
        let shown = chromium.run(&shown, &[]).await;
        shown.as_str().unwrap().contains(&user.email)
    })
    .await;
    let ended = "signed_out: The user signed out.";
    chromium.submit(&[], "#sign-out", ended).await;
    let source = chromium.source().await;
    assert!(!source.contains(SIGNED_IN), "{source}");
    // Nothing takes the place of the token.
    let execute = format!("{OPERATION} .execute");
    chromium.submit(&[], &execute, "No request was sent").await;
    chromium.open(&unsolicited).await;
    let address = chromium.expect(&OPERATION[1..]).await;
    assert_eq!(address, page);
    assert_eq!(chromium.run("return sessionStorage.length", &[]).await, json!(0));
}

on_shapes!(a_reader_signs_in_and_sends_a_request: ; long: sqlite Sqlite);
