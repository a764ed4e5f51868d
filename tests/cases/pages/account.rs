//! `/account`.

use super::large_account::{buttons, come_back};
use storage::execute;
use tests::{Browser, PASSWORD, Page, SharedWorld, Tokens, User, World, on_every_shape};

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// The account page of a signed-in browser.
async fn account(browser: &mut Browser) -> Page {
    super::open(browser, "/account").await
}

fn expect_words(page: &Page, words: &[&str]) {
    let text = page.visible_text();
    for expected in words {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// Submits a form of the account page, which leads back there.
async fn submit(browser: &mut Browser, fields: &[(&str, &str)]) -> Page {
    let page = account(browser).await;
    let done = browser.submit(&page, fields).await;
    assert_eq!(done.reply.status, 303, "{}", done.reply);
    assert_eq!(done.location().unwrap().path(), "/account");
    account(browser).await
}

async fn the_account_shows_sessions_apps_and_events(world: SharedWorld) {
    let user = world.sign_up().await;
    let app = world.app().register();
    app.tokens(&user, "posts:read").await;
    let elsewhere = world.anyone().with("user-agent", FIREFOX);
    elsewhere.login(&user.email, PASSWORD).await.expect(200);
    elsewhere.login(&user.email, "not the password").await.expect(401);
    let page = account(&mut user.browser()).await;
    expect_words(
        &page,
        &[
            &user.email,
            "not confirmed",
            "Two-step sign-in Off: your password alone",
            "Created",
            "this browser",
            "Signed in",
            "Firefox on Linux",
            &format!("IP address {}", user.address()),
            "Some App used",
            "Read posts, including your drafts",
            "A sign-in failed",
            "An app got access: Some App",
            "The account was created",
            "The download of your data has all events.",
        ],
    );
    let text = page.visible_text();
    let (_, activity) = text.split_once("Security activity").unwrap();
    let place = format!("ago · IP address {}", user.address());
    assert!(activity.contains(&place), "{place}: {text}");
    assert!(activity.contains("Signed in"), "{text}");
    let links: Vec<String> = page.links().iter().map(|link| link.path().to_owned()).collect();
    for path in ["/password", "/signout"] {
        assert!(links.iter().any(|link| link == path), "{path}: {links:?}");
    }
    world.confirm_email(&user.email).await;
    let page = account(&mut user.browser()).await;
    assert!(!page.visible_text().contains("not confirmed"), "{}", page.reply);
}

async fn a_session_is_ended_from_another_browser(world: SharedWorld) {
    let user = world.user().await;
    let elsewhere = world.log_in(&user.email, PASSWORD).await;
    let app = world.app().first_party().register();
    let tokens = app.tokens(&elsewhere, "posts:read").await;
    let sessions = elsewhere.get("/me/sessions").await.expect(200).json();
    let sessions = sessions["items"].as_array().unwrap().iter();
    let id = sessions
        .clone()
        .find(|session| session["current"] == true)
        .unwrap()["id"]
        .to_string();
    let mut browser = user.browser();
    let page = submit(&mut browser, &[("session", &id)]).await;
    let done = "The other browser or device is signed out.";
    expect_words(&page, &[done]);
    // The message appears once.
    let page = account(&mut browser).await;
    assert!(!page.visible_text().contains(done), "{}", page.reply);
    elsewhere.get("/me").await.expect_error(401, "unauthenticated");
    user.get("/me").await.expect(200);
    tokens.expect_revoked(&world, &app).await;
}

async fn all_other_sessions_are_ended(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let page = account(&mut browser).await;
    assert!(!page.visible_text().contains("everywhere else"), "{}", page.reply);
    let others = [
        world.log_in(&user.email, PASSWORD).await,
        world.log_in(&user.email, PASSWORD).await,
    ];
    let (own, foreign) = (world.app().first_party().register(), world.app().register());
    let ended = own.tokens(&others[0], "posts:read").await;
    let kept = [
        own.tokens(&user, "posts:read").await,
        foreign.tokens(&others[1], "posts:read").await,
    ];
    let page = account(&mut browser).await;
    expect_words(
        &page,
        &[
            "Sign out everywhere else",
            "This signs you out in all other browsers",
        ],
    );
    let done = post(
        &world,
        &user,
        "/account/sessions/end-others",
        ("csrf", &user.csrf),
    )
    .await;
    assert_eq!(done.location().unwrap().path(), "/account", "{}", done.reply);
    for other in &others {
        other.get("/me").await.expect_error(401, "unauthenticated");
    }
    ended.expect_revoked(&world, &own).await;
    // This session, the tokens of its apps and those of apps of others go on.
    user.get("/me").await.expect(200);
    for tokens in &kept {
        world.expect_accepted(&tokens.access).await;
    }
    let stranger = world.user().await;
    let refused = post(
        &world,
        &stranger,
        "/account/sessions/end-others",
        ("csrf", "another"),
    )
    .await;
    assert_eq!(refused.reply.status, 403, "{}", refused.reply);
}

async fn an_app_is_disconnected(world: SharedWorld) {
    let (user, other) = (world.user().await, world.user().await);
    let app = world.app().register();
    let (tokens, of_other) = (
        app.tokens(&user, "posts:read").await,
        app.tokens(&other, "posts:read").await,
    );
    let page = submit(&mut user.browser(), &[("app", &app.id)]).await;
    expect_words(
        &page,
        &[
            "The app is disconnected.",
            "No app has access",
            "An app was disconnected: Some App",
        ],
    );
    tokens.expect_revoked(&world, &app).await;
    Tokens::parse(app.refresh(&world.anyone(), &of_other.refresh).await);
}

async fn a_link_that_confirms_the_address_is_mailed_again(world: SharedWorld) {
    const SUBJECT: &str = "Confirm your e-mail address";
    let user = world.sign_up().await;
    world.mail(&user.email, SUBJECT, 1).await;
    let mut browser = user.browser();
    let page = account(&mut browser).await;
    let csrf = page.hidden("csrf").unwrap();
    let sent = browser.submit(&page, &[("csrf", &csrf)]).await;
    assert_eq!(sent.reply.status, 200, "{}", sent.reply);
    expect_words(&sent, &["Check your e-mail", &user.email]);
    let link = world.mail(&user.email, SUBJECT, 2).await.link();
    let form = browser.open(link.as_str()).await;
    let csrf = form.hidden("csrf").unwrap();
    let confirmed = browser.submit(&form, &[("csrf", &csrf)]).await;
    assert_eq!(confirmed.reply.status, 200, "{}", confirmed.reply);
}

/// Posts a form of the account page with the session of this user.
async fn post(world: &World, user: &User, path: &str, field: (&str, &str)) -> Page {
    let url = url::Url::parse(world.base()).unwrap().join(path).unwrap();
    let id = user.id.to_string();
    let fields = match field.0 {
        "csrf" => vec![field, ("user", &id)],
        _ => vec![field, ("csrf", &user.csrf), ("user", &id)],
    };
    let fields: Vec<_> = fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    user.browser().post(&url, &fields).await
}

async fn nobody_reaches_the_sessions_and_apps_of_others(world: SharedWorld) {
    let (user, other) = (world.user().await, world.user().await);
    let app = world.app().register();
    let tokens = app.tokens(&other, "posts:read").await;
    let sessions = other.get("/me/sessions").await.expect(200).json();
    let id = sessions["items"][0]["id"].to_string();
    for session in [id.as_str(), "0", "-1", "x", "99999999999999999999"] {
        let ended = post(&world, &user, "/account/sessions/end", ("session", session)).await;
        assert_eq!(ended.location().unwrap().path(), "/account", "{}", ended.reply);
    }
    for client in [app.id.as_str(), "", "none"] {
        let disconnected = post(&world, &user, "/account/apps/disconnect", ("app", client)).await;
        assert_eq!(
            disconnected.location().unwrap().path(),
            "/account",
            "{}",
            disconnected.reply
        );
    }
    other.get("/me").await.expect(200);
    world.expect_accepted(&tokens.access).await;
}

async fn the_account_needs_a_session(world: SharedWorld) {
    let mut browser = world.browser();
    let page = browser.open("/account").await;
    assert_eq!(page.location().unwrap().path(), "/signin", "{}", page.reply);
    let dropped = browser.open("/account?signed_in=1").await;
    assert_eq!(dropped.reply.status, 400, "{}", dropped.reply);
    expect_words(&dropped, &["did not keep the session cookie"]);
    let email = world.fresh_email();
    let created = world.cli(&["users", "create", "--email", &email, "--json"], "");
    let initial = created["initial_password"].as_str().unwrap();
    let restricted = world.log_in(&email, initial).await;
    let mut browser = restricted.browser();
    let page = browser.open("/account").await;
    assert_eq!(page.location().unwrap().path(), "/password", "{}", page.reply);
    let required = browser.open("/password").await;
    expect_words(&required, &["Choose one of your own", "At least 8 characters"]);
    let user = world.user().await;
    let page = user.browser().open("/signin").await;
    assert_eq!(page.location().unwrap().path(), "/account", "{}", page.reply);
    let own = user.get("/me/sessions").await.expect(200).json()["items"][0]["id"].to_string();
    let ended = post(&world, &user, "/account/sessions/end", ("session", &own)).await;
    assert_eq!(ended.location().unwrap().path(), "/signin", "{}", ended.reply);
    user.get("/me").await.expect_error(401, "unauthenticated");
}

/// Access that an app had before displaces no other event.
async fn renewed_access_is_no_activity(world: SharedWorld) {
    let (user, db) = (world.sign_up().await, world.db().await);
    let app = world.app().kind("native").option(&["--device"]).register();
    let device = app.device(&world.anyone(), "posts:read").await;
    device.decide(&user, "allow").await;
    let insert = "WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < 250)
                  INSERT INTO security_events (at, name, outcome, user_id, client_id, trace_id)
                  SELECT $1 + n, 'authz_access_renewed', 'success', $2, $3, 'trace' FROM series";
    execute!(db.writer(), insert, world.now(), user.id, app.id.as_str()).unwrap();
    let page = account(&mut user.browser()).await;
    expect_words(&page, &["An app got access: Some App", "The account was created"]);
    assert!(!page.visible_text().contains("renewed"), "{}", page.reply);
}

async fn password_managers_find_the_page_that_changes_the_password(world: SharedWorld) {
    let reply = world.anyone().get("/.well-known/change-password").await;
    assert_eq!(reply.expect(303).header("location"), "/password");
    let reliable = "/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200";
    world.anyone().get(reliable).await.expect(404);
}

/// The part of a form is a number, and nothing else of a form is in the address of the redirect.
async fn a_form_leads_back_to_its_part(world: SharedWorld) {
    let user = world.user().await;
    world.start_sessions(&user, 20).await;
    let mut browser = user.browser();
    let last = browser.open("/account?sessions=2").await;
    let ended = buttons(&last, "session").pop().unwrap();
    // The part is empty now, so that the page shows the one before it.
    let done = browser.submit(&last, &[("session", &ended)]).await;
    let page = come_back(&mut browser, &done, "/account?sessions=2").await;
    assert_eq!(buttons(&page, "session").len(), 19, "{}", page.reply);
    for part in ["1", "0", "+2", "02", "x", "//example.org", "2&apps=3", "2#x", ""] {
        let fields = [("session", ended.as_str()), ("sessions", part), ("apps", "2")];
        let done = browser.submit(&page, &fields).await;
        come_back(&mut browser, &done, "/account").await;
    }
}

on_every_shape!(
    a_form_leads_back_to_its_part,
    password_managers_find_the_page_that_changes_the_password,
    the_account_shows_sessions_apps_and_events,
    renewed_access_is_no_activity,
    a_session_is_ended_from_another_browser,
    all_other_sessions_are_ended,
    an_app_is_disconnected,
    a_link_that_confirms_the_address_is_mailed_again,
    nobody_reaches_the_sessions_and_apps_of_others,
    the_account_needs_a_session,
);
