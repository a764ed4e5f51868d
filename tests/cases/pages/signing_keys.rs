//! The page of the signing keys, for administrators.

mod retirement;

use super::{expect_redirect, expect_words, post, sign_in_at};
use serde_json::Value;
use std::time::Duration;
use tests::{PASSWORD, Page, Shape, SharedWorld, User, World, eventually, items, on_every_shape};

const PATH: &str = "/admin/keys";
/// The time from staging until a key may sign: the JWKS max-age, and a second until every issuer replica
/// publishes it.
const STAGING_TIME: Duration = Duration::from_secs(301);

/// The kids and states of all keys, the oldest first.
fn keys(world: &World) -> Vec<(String, String)> {
    let listed = world.cli(&["keys", "list", "--json"], "");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let keys = listed.as_array().unwrap().iter();
    keys.map(|key| (text(&key["kid"]), text(&key["state"]))).collect()
}

fn states(world: &World) -> Vec<String> {
    keys(world).into_iter().map(|(_, state)| state).collect()
}

/// Whether the page has a form with this action.
fn has_form(page: &Page, action: &str) -> bool {
    page.reply.text().contains(&format!("action=\"{action}\""))
}

async fn an_administrator_rotates_the_keys(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let mut browser = world.user_with_role("admin").await.browser();
    let before = keys(&world);
    let page = browser.open(PATH).await;
    for (kid, state) in &before {
        expect_words(&page, 200, &format!("{kid} {state}"));
    }
    assert_eq!(
        page.reply.text().matches("<svg viewBox=\"0 0 1000").count(),
        2,
        "{}",
        page.reply
    );
    expect_words(&page, 200, &format!("{} signs from now on", before[1].0));
    expect_words(&page, 200, "keys rotate");
    expect_words(&page, 200, "Which tokens are accepted after an action");
    // The tokens of the staged, the active and the retired keys after each action.
    for row in [
        "Rotate the keys accepted where it is known: it signs now accepted until they expire accepted until they expire",
        "Retire the staged key as compromised refused accepted: it keeps signing accepted until they expire",
        "Retire the active key as compromised accepted where it is known: it signs now refused accepted until they expire",
        "Retire a retired key as compromised accepted, once it signs accepted: it keeps signing refused",
    ] {
        expect_words(&page, 200, row);
    }
    let rotations = format!(
        "curl -H \"Authorization: Bearer $TOKEN\" -X POST {}/admin/keys/rotations",
        world.base()
    );
    expect_words(&page, 200, &rotations);
    let csrf = page.hidden("csrf").unwrap();
    expect_redirect(&browser.submit(&page, &[("csrf", &csrf)]).await, PATH);
    assert_eq!(states(&world), ["retired", "active", "staged"]);

    let after = browser.open(PATH).await;
    expect_words(&after, 200, &format!("{} began to sign", before[1].0));
    expect_words(&after, 200, "The keys can be rotated in 6 minutes");
    expect_words(&after, 200, "It may sign in 6 minutes");
    expect_words(&after, 200, "when the last cached key set without it has expired");
    expect_words(&after, 200, "It no longer signs. It is deleted in 11 minutes");
    let planned = after
        .visible_text()
        .matches("It is planned to be deleted in")
        .count();
    assert_eq!(planned, 2, "{}", after.reply);
    assert!(!has_form(&after, "/admin/keys/rotate"), "{}", after.reply);
    // The form of the first page, sent again, announced another rotation.
    let stale = browser.submit(&page, &[("csrf", &csrf)]).await;
    expect_words(
        &stale,
        409,
        "The keys have changed since the page was shown, so that the form had no effect.",
    );
    let staged = keys(&world)[2].0.clone();
    // As an event about a key leads to the page.
    let beginning = browser.open(&format!("{PATH}?kid={}", before[1].0)).await;
    let lists = |kid: &str| {
        beginning
            .reply
            .text()
            .contains(&format!("role=\"row\" id=\"{kid}\""))
    };
    let listed = [&before[0].0, &before[1].0, &staged]
        .map(String::as_str)
        .map(lists);
    assert_eq!(listed, [true, true, false], "{}", beginning.reply);
    let early = post(&mut browser, &page, "/admin/keys/rotate", &[("staged", &staged)]).await;
    expect_words(&early, 409, "The keys can be rotated in 6 minutes");
    assert_eq!(states(&world), ["retired", "active", "staged"]);
    // A link can select the list, but not what the page says about the present.
    for query in ["state=active", "state=staged", "order=asc", "cursor=x", "kid=x"] {
        let selected = browser.open(&format!("{PATH}?{query}")).await;
        expect_words(&selected, 200, "The keys can be rotated in 6 minutes");
    }
    eventually("a replica of the API lacks the staged key", async || {
        let listed = world.cli(&["keys", "verifiers", "--json"], "");
        listed["api"]["ready"] == listed["api"]["all"]
    })
    .await;
    world.advance(STAGING_TIME);
    let later = browser.open(PATH).await;
    assert!(!later.visible_text().contains("began to sign"), "{}", later.reply);
    expect_redirect(&browser.submit(&later, &[("csrf", &csrf)]).await, PATH);
    assert_eq!(states(&world), ["retired", "retired", "active", "staged"]);
}

async fn the_live_tokens_of_each_key_are_counted(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let admin = world.user_with_role("admin").await;
    let (app, mut browser) = (world.app().register(), admin.browser());
    let counts = |keys: &[Value]| -> Vec<u64> {
        let counts = keys.iter().map(|key| key["live_tokens"].as_u64().unwrap());
        counts.collect()
    };
    let list = || world.cli(&["keys", "list", "--json"], "");
    for _ in 0..2 {
        app.tokens(&admin, "posts:read").await;
    }
    world.advance(Duration::from_secs(60));
    eventually("the tokens are not counted", async || {
        counts(list().as_array().unwrap()) == [2, 0]
    })
    .await;
    let listed = admin.get("/admin/keys?order=asc").await.expect(200);
    assert_eq!(counts(&items(&listed)), [2, 0]);
    let printed = String::from_utf8(world.run(&["keys", "list"], "").stdout).unwrap();
    assert!(printed.contains("about 2 live access tokens"), "{printed}");
    let page = browser.open(PATH).await;
    expect_words(&page, 200, "about 2");
    let touched = format!(
        "Live tokens of it: about 2 . Replicas of the API that have it: {} .",
        world.api_ports().len()
    );
    eventually("the dialog does not tell whom a retirement touches", async || {
        let page = admin.browser().open(PATH).await;
        page.visible_text().contains(&touched)
    })
    .await;
    // The tokens live for ten minutes, and are counted until the minute has ended in which they expire.
    world.advance(Duration::from_secs(660));
    assert_eq!(counts(list().as_array().unwrap()), [0, 0]);
    let later = browser.open(PATH).await;
    expect_words(&later, 200, "none counted");
    assert!(!later.visible_text().contains("about 2"), "{}", later.reply);
}

async fn a_program_gets_json_at_the_address_of_the_page(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let token = world.app().register().tokens(&admin, "admin").await.access;
    let token = world.anyone().bearer(&token);
    let (html, origin) = ("text/html,application/xhtml+xml,*/*;q=0.8", world.base());
    let with = |accept: &str, further: &[(&str, &str)]| {
        let call = admin.get(PATH).header("accept", accept);
        further
            .iter()
            .fold(call, |call, (name, value)| call.header(name, value))
    };
    let (page, json) = ("text/html; charset=utf-8", "application/json");
    for (call, expected) in [
        (with(html, &[]), page),
        (with(html, &[("sec-fetch-mode", "navigate")]), page),
        (with(html, &[("sec-fetch-mode", "no-cors")]), json),
        (with(html, &[("origin", origin)]), json),
        (with("application/json, text/html;q=0.9", &[]), json),
        (with("*/*", &[]), json),
        (admin.get(PATH), json),
        (token.get(PATH).header("accept", html), json),
    ] {
        let reply = call.await.expect(200);
        assert_eq!(reply.header("content-type"), expected, "{reply}");
        let vary = reply.headers.get_all("vary").iter();
        let mut vary = vary.flat_map(|value| value.to_str().unwrap().split(", "));
        assert!(vary.any(|name| name.eq_ignore_ascii_case("accept")), "{reply}");
    }
}

async fn only_administrators_see_the_page(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let form = admin.browser().open(PATH).await;
    for role in ["user", "editor"] {
        let user = world.user_with_role(role).await;
        let mut browser = user.browser();
        expect_words(
            &browser.open(PATH).await,
            403,
            "Only administrators can see this page",
        );
        for action in ["/admin/keys/rotate", "/admin/keys/retire"] {
            let fields = ["csrf", "user", "kid"].map(|name| match name {
                "csrf" => (name.to_owned(), user.csrf.clone()),
                "user" => (name.to_owned(), user.id.to_string()),
                _ => (name.to_owned(), "none".to_owned()),
            });
            let refused = browser.post(&form.url.join(action).unwrap(), &fields).await;
            expect_words(&refused, 403, "Only administrators can see this page");
        }
    }
    let (mut browser, signed_in) = sign_in_at(&world, &admin, PATH).await;
    let once_more = browser.open(signed_in.location().unwrap().as_str()).await;
    assert_eq!(once_more.location().unwrap().query(), None, "{}", once_more.reply);
    expect_words(&browser.open(PATH).await, 200, "Signing keys");
    // A form of one administrator, submitted by another.
    let other: User = world.user_with_role("admin").await;
    let fields = [("csrf", other.csrf.clone()), ("user", admin.id.to_string())];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    let rotate = form.url.join("/admin/keys/rotate").unwrap();
    let refused = other.browser().post(&rotate, &fields).await;
    expect_words(&refused, 409, "This browser is now signed in to another account.");
}

async fn changes_need_a_recent_sign_in(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let mut browser = admin.browser();
    let form = browser.open(PATH).await;
    world.age_sign_ins_of(&admin).await;
    for action in ["/admin/keys/rotate", "/admin/keys/retire"] {
        let late = post(&mut browser, &form, action, &[("kid", "none")]).await;
        expect_redirect(&late, "/signin");
        assert_eq!(late.location().unwrap().query(), Some("flow=%2Fadmin%2Fkeys"));
    }
    let page = browser.open(PATH).await;
    expect_words(&page, 200, "you must have signed in within the last ten minutes.");
    assert!(
        !page.reply.text().contains("<form method=\"post\""),
        "{}",
        page.reply
    );
    assert!(
        !page.visible_text().contains("signs from now on"),
        "{}",
        page.reply
    );
    let link = page
        .links()
        .into_iter()
        .find(|link| link.path() == "/signin")
        .unwrap();
    let sign_in = browser.open(link.as_str()).await;
    let signed_in = browser.submit(&sign_in, &[("password", PASSWORD)]).await;
    expect_redirect(&signed_in, PATH);
    assert!(has_form(&browser.open(PATH).await, "/admin/keys/retire"));
}

on_every_shape!(
    an_administrator_rotates_the_keys,
    the_live_tokens_of_each_key_are_counted,
    a_program_gets_json_at_the_address_of_the_page,
    only_administrators_see_the_page,
    changes_need_a_recent_sign_in,
);
