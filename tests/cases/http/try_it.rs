//! Requests from `/docs/try`: with the access token of a sign-in there, or else with the session.

use serde_json::{Value, json};
use tests::{
    App, Chromium, PASSWORD, SUBMIT, Shape, SharedWorld, User, World, eventually, free_port, on_shapes,
};

/// The element of `GET /me`.
const OPERATION: &str = "#operations-Users-readMe";
/// The words of the page with an access token.
const SIGNED_IN: &str = "You are signed in: requests have an access token.";
/// The words of the page after a sign-in without tokens.
const SESSION: &str = "Requests have the session of the browser.";
/// The words about a response to no sign-in of the tab.
const MISMATCH: &str = "state_mismatch: The response is not to the latest sign-in of this tab.";
/// Refuses the document, as a limit of requests does.
const REFUSE_DOCUMENT: &str = "
    const refused = { status: 429, headers: { 'Retry-After': '7' } };
    window.fetch = () => Promise.resolve(new Response('', refused));
";

/// Sends `GET /me`, and waits for the response with the user.
async fn expect_response(chromium: &Chromium, user: &User) {
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
}

/// Registers a client of the page.
fn register(world: &World, page: &str) -> App {
    let app = world.app().redirect_uri(page).first_party();
    app.option(&["--refresh-cookie"]).register()
}

/// Signs in on the page, sends a request and signs out. `client` is given by the address, or else the page
/// proposes its own.
async fn sign_in_and_send_a_request(world: &World, page: &str, client: Option<&str>) {
    let user = world.user().await;
    let chromium = Chromium::in_language("en").await;
    let query = client.map(|client| format!("?client_id={client}"));
    // A place that the page does not have, to which it does not scroll.
    let start = format!("{page}{}#/Nowhere", query.unwrap_or_default());
    chromium.open(&start).await;
    chromium.expect(&OPERATION[1..]).await;
    chromium.submit(&[], "#sign-in button", "id=\"password\"").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    chromium.submit(&fields, SUBMIT, SIGNED_IN).await;
    // The same place of the page, without the code.
    let address = chromium.expect(&OPERATION[1..]).await;
    let same_place = format!("{page}?client_id={}#/Nowhere", client.unwrap_or("reference"));
    assert_eq!(address, same_place);
    let stored =
        "return [localStorage.length, sessionStorage.length, Object.keys(JSON.parse(sessionStorage.try))]";
    let kept = json!([0, 1, ["clientId", "scope", "hash"]]);
    assert_eq!(chromium.run(stored, &[]).await, kept);
    // The page refuses a response to none of its sign-ins, and restores its own.
    let unsolicited = format!("{page}?code=foreign&state=foreign&iss={}", world.base());
    chromium.open(&unsolicited).await;
    chromium.expect(&format!("{MISMATCH} {SIGNED_IN}")).await;
    let address = chromium.expect(&OPERATION[1..]).await;
    assert_eq!(address, same_place);
    chromium.open(page).await;
    chromium.expect(SIGNED_IN).await;
    chromium.expect(&OPERATION[1..]).await;
    // The cookie of the session would be enough for this request.
    chromium.delete_cookies().await;
    expect_response(&chromium, &user).await;
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

/// `latchkey` on loopback has a client of the page.
async fn a_reader_signs_in_and_sends_a_request(world: SharedWorld) {
    let page = format!("{}/docs/try", world.base());
    sign_in_and_send_a_request(&world, &page, None).await;
}

async fn a_reader_signs_in_where_replicas_are_behind_one_origin(world: SharedWorld) {
    let page = format!("{}/docs/try", world.base());
    let app = register(&world, &page);
    sign_in_and_send_a_request(&world, &page, Some(&app.id)).await;
}

/// Starts a deployment whose API has an origin of its own, on the site of the issuer. Returns it, the origin,
/// and the process of the API, which ends on drop.
pub(crate) async fn with_origin_of_api(shape: Shape) -> (World, String, impl Drop) {
    let port = free_port();
    let api = format!("http://localhost:{port}");
    let world = World::builder(shape).flag("--audience", &api).start().await;
    let key_set = format!("{}/.well-known/jwks.json", world.base());
    let flags = [
        ("--issuer", world.base()),
        ("--base-url", &api),
        ("--jwks-url", &key_set),
    ];
    let (_, replica) = world.start_api_replica_at(port, &flags).await;
    (world, api, replica)
}

async fn a_reader_signs_in_on_the_origin_of_the_api(shape: Shape) {
    let (world, api, _replica) = with_origin_of_api(shape).await;
    let page = format!("{api}/docs/try");
    let app = register(&world, &page);
    world.expect_origin(&api).await;
    sign_in_and_send_a_request(&world, &page, Some(&app.id)).await;
}

/// Whether the user denies the sign-in or leaves it, requests have the session as before.
async fn a_sign_in_without_tokens_leaves_the_session(world: SharedWorld) {
    let user = world.user().await;
    let page = format!("{}/docs/try", world.base());
    let app = world.app().redirect_uri(&page);
    let app = app.option(&["--refresh-cookie"]).register();
    let address = format!("{page}?client_id={}", app.id);
    let chromium = Chromium::in_language("en").await;
    chromium.open(&address).await;
    chromium.expect(&OPERATION[1..]).await;
    chromium.submit(&[], "#sign-in button", "id=\"password\"").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    chromium.submit(&fields, SUBMIT, "value=\"deny\"").await;
    chromium.press("button[value=deny]").await;
    chromium.expect("access_denied").await;
    for is_last in [false, true] {
        chromium.expect(SESSION).await;
        assert_eq!(chromium.expect(&OPERATION[1..]).await, address);
        let kept = chromium.run("return sessionStorage.try ?? null", &[]).await;
        assert_eq!(kept, Value::Null);
        expect_response(&chromium, &user).await;
        if !is_last {
            chromium.submit(&[], "#sign-in button", "value=\"deny\"").await;
            chromium.open(&address).await;
        }
    }
}

async fn a_page_without_its_document_says_so(world: SharedWorld) {
    let chromium = Chromium::in_language("en").await;
    chromium.add_script(REFUSE_DOCUMENT).await;
    chromium.open(&format!("{}/docs/try", world.base())).await;
    chromium
        .expect("/openapi.json has the status 429. Load the page again in 7 seconds.")
        .await;
}

on_shapes!(a_reader_signs_in_and_sends_a_request: sqlite Sqlite);
on_shapes!(a_reader_signs_in_where_replicas_are_behind_one_origin: ; long: split Split);
on_shapes!(a_reader_signs_in_on_the_origin_of_the_api: ; long: split Split);
on_shapes!(a_sign_in_without_tokens_leaves_the_session: ; long: sqlite Sqlite);
on_shapes!(a_page_without_its_document_says_so: ; long: sqlite Sqlite);
