//! The head of every response is so short that proxies pass it on with their default settings. nginx takes
//! heads of up to 4 KiB.

use tests::{App, Authorization, Browser, Page, Reply, SharedWorld, User, World, on_every_shape, parameter};
use url::Url;

/// The longest head, in bytes.
const MAX_HEAD: usize = 4096;
/// The longest authorization request, in bytes of its names and values.
const MAX_REQUEST: usize = 8192;
/// The longest URI for the return to an app, in bytes.
const MAX_RETURN: usize = 2800;
const AFTER: &str = "https://app.test/after";

#[track_caller]
fn expect_short_head(reply: &Reply) {
    let headers = reply.headers.iter();
    // A name is followed by a colon and a blank, a value by a line break.
    let lines: usize = headers
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    let head = lines + "HTTP/1.1 303 See Other\r\n\r\n".len();
    assert!(head < MAX_HEAD, "{head} bytes: {reply}");
}

/// The request with the longest `state` that is accepted, with `extra` bytes more.
fn with_long_state(app: &App, issuer: &str, extra: usize) -> Authorization {
    let mut answer = form_urlencoded::Serializer::new(String::new());
    answer.append_pair("state", "").append_pair("iss", issuer);
    let others = app.redirect_uri.len() + 1 + answer.finish().len();
    let state = "s".repeat(MAX_RETURN - others + extra);
    app.authorization().set("state", &state)
}

/// Fills a request up to the longest.
fn filled(request: Authorization) -> Authorization {
    let length = |(name, value): &(String, String)| name.len() + value.len();
    let length: usize = request.parameters().iter().map(length).sum();
    let nonce = "n".repeat(MAX_REQUEST - length - "nonce".len());
    request.set("nonce", &nonce)
}

/// Sends the browser from an address to the app, and checks every head on the way. Returns the last page.
async fn walk(browser: &mut Browser, user: &User, start: Page) -> Page {
    let mut page = start;
    loop {
        expect_short_head(&page.reply);
        page = match page.location() {
            Some(next) if next.origin() != page.url.origin() => return page,
            Some(next) => browser.open(next.as_str()).await,
            None if page.asks_for("password") => {
                let fields = [("email", &*user.email), ("password", &*user.password)];
                browser.submit(&page, &fields).await
            }
            None if page.asks_for("decision") => browser.submit(&page, &[("decision", "allow")]).await,
            None => return page,
        };
    }
}

async fn the_longest_authorization_request_has_short_heads(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let issuer = world.base().to_owned();
    let request = filled(with_long_state(&app, &issuer, 0));
    let mut browser = world.browser();
    let start = browser.open(&request.path()).await;
    let last = walk(&mut browser, &user, start).await;
    let returned = last.location().unwrap();
    assert!(parameter(&returned, "code").is_some(), "{}", last.reply);
    let state = request.parameters().iter().find(|(name, _)| name == "state");
    assert_eq!(
        parameter(&returned, "state").as_ref(),
        state.map(|(_, state)| state)
    );
    // The same by a form, with the session that the browser has now.
    let action = start_url(&world, "/authorize");
    let start = browser.post(&action, request.parameters()).await;
    let last = walk(&mut browser, &user, start).await;
    assert!(
        parameter(&last.location().unwrap(), "code").is_some(),
        "{}",
        last.reply
    );
    // Errors return to the app too.
    for (name, value) in [
        ("scope", "unknown"),
        ("prompt", "none"),
        ("code_challenge_method", "plain"),
    ] {
        let request = with_long_state(&app, &issuer, 0).set(name, value);
        let start = world.browser().open(&request.path()).await;
        expect_short_head(&start.reply);
        assert!(
            parameter(&start.location().unwrap(), "error").is_some(),
            "{}",
            start.reply
        );
    }
}

fn start_url(world: &World, path: &str) -> Url {
    Url::parse(world.base()).unwrap().join(path).unwrap()
}

async fn a_longer_state_is_refused_on_a_page(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let refused = with_long_state(&app, world.base(), 1);
    let page = world.browser().open(&refused.path()).await;
    assert_eq!(page.reply.status, 400, "{}", page.reply);
    assert!(
        page.visible_text().contains("The state is too long"),
        "{}",
        page.reply
    );
    // A state that URLs escape counts as it is sent.
    let escaped = app.authorization().set("state", &"\u{e9}".repeat(MAX_RETURN / 6));
    let page = world.browser().open(&escaped.path()).await;
    assert_eq!(page.reply.status, 400, "{}", page.reply);
    // Nor is a path made of the flow of somebody else.
    let mut browser = user.browser();
    for flow in ["x".repeat(8_000), "/".repeat(2_048)] {
        let page = browser.open(&format!("/consent?flow={flow}")).await;
        expect_short_head(&page.reply);
        // Without a session, the form leads to the sign-in page.
        let mut stranger = world.browser();
        let csrf = stranger.open("/signin").await.hidden("csrf").unwrap();
        let fields = [
            ("csrf", csrf.as_str()),
            ("flow", &flow),
            ("decision", "allow"),
            ("user", "1"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let page = stranger.post(&start_url(&world, "/consent"), &fields).await;
        expect_short_head(&page.reply);
    }
}

async fn the_longest_sign_out_has_short_heads(world: SharedWorld) {
    let user = world.sign_up().await;
    let options = ["--post-logout-redirect-uri", AFTER];
    let app = world.app().option(&options).register();
    let state = "s".repeat(MAX_RETURN - AFTER.len() - "?state=".len());
    let request = |state: &str| {
        let filling = "x".repeat(4_000);
        [
            ("client_id", &*app.id),
            ("post_logout_redirect_uri", AFTER),
            ("state", state),
            ("unknown", &*filling),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let mut browser = user.browser();
    let action = start_url(&world, "/signout");
    let mut page = browser.post(&action, &request(&state)).await;
    for _ in 0..2 {
        expect_short_head(&page.reply);
        page = match page.location() {
            Some(next) => browser.open(next.as_str()).await,
            None => {
                let csrf = page.hidden("csrf").unwrap();
                browser.submit(&page, &[("csrf", &csrf)]).await
            }
        };
    }
    expect_short_head(&page.reply);
    assert!(
        page.location().unwrap().as_str().starts_with(AFTER),
        "{}",
        page.reply
    );
    let refused = browser.post(&action, &request(&format!("{state}s"))).await;
    assert_eq!(refused.reply.status, 400, "{}", refused.reply);
}

async fn links_to_other_pages_are_short(world: SharedWorld) {
    let ann = world.sign_up().await;
    for n in 0..20 {
        ann.draft(&format!("Post {n}")).await;
    }
    let id = format!("{:0>4000}", ann.id);
    let list = ann.get(&format!("/posts?author_id={id}")).await.expect(200);
    expect_short_head(&list);
    let next = list.json()["links"]["next"].as_str().unwrap().to_owned();
    assert!(next.contains(&format!("author_id={}&", ann.id)), "{next}");
    let names = "x".repeat(4_000);
    let preflight = world.anyone().call("OPTIONS", "/.well-known/jwks.json");
    let preflight = preflight
        .header("origin", "https://app.test")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", &names);
    expect_short_head(&preflight.await);
}

on_every_shape!(
    the_longest_authorization_request_has_short_heads,
    a_longer_state_is_refused_on_a_page,
    the_longest_sign_out_has_short_heads,
    links_to_other_pages_are_short,
);
