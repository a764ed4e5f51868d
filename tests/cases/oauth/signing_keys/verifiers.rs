//! The verifiers of tokens: the issuer knows which of them have the staged key, and a rotation asks if one
//! lacks it.

mod silent_replicas;

use super::{STAGING_TIME, expect_command_error, key_in_state, rotate};
use foundation::clock::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;
use storage::db::Db;
use storage::{execute, fetch_one};
use tests::{Caller, Shape, SharedWorld, User, World, eventually, on_every_shape, rounds};

const PATH: &str = "/admin/keys/verifiers";
const PAGE: &str = "/admin/keys";
const SET_KIDS: &str = "UPDATE verifiers SET kids = $1 WHERE user_agent = $2";

/// The answer of `GET /admin/keys/verifiers`.
async fn verifiers(admin: &User) -> Value {
    admin.get(PATH).await.expect(200).json()
}

/// The other verifiers than the replicas of the API, by user agent, and whether each has the key.
async fn clients(admin: &User, kid: &str) -> Vec<(String, bool)> {
    let listed = verifiers(admin).await;
    let of_clients = listed["verifiers"].as_array().unwrap().iter();
    let of_clients = of_clients.filter(|verifier| verifier["kind"] == "client");
    let mut found: Vec<_> = of_clients
        .map(|verifier| {
            let has_it = verifier["kids"].as_array().unwrap().contains(&json!(kid));
            (verifier["user_agent"].as_str().unwrap().to_owned(), has_it)
        })
        .collect();
    found.sort();
    found
}

/// Waits until every replica of the API has reported that it has the staged key.
async fn wait_until_apis_are_ready(world: &World, admin: &User) {
    let all = world.api_ports().len();
    eventually("a replica of the API lacks the staged key", async || {
        verifiers(admin).await["api"] == json!({ "ready": all, "all": all })
    })
    .await;
}

/// Fetches the key set with this user agent, and waits until the issuer has stored that the client has the
/// key.
async fn fetch(world: &World, admin: &User, user_agent: &str, kid: &str) {
    let client = client(world, user_agent);
    let expected = (user_agent.to_owned(), true);
    eventually("the fetch is not stored", async || {
        // A replica may publish a staged key a moment late.
        client.get("/.well-known/jwks.json").await.expect(200);
        clients(admin, kid).await.contains(&expected)
    })
    .await;
}

fn client(world: &World, user_agent: &str) -> Caller {
    world.anyone().with("user-agent", user_agent)
}

async fn replicas_of_the_api_report_their_keys(shape: Shape) {
    let world = World::start(shape).await;
    let admin = world.user_with_role("admin").await;
    wait_until_apis_are_ready(&world, &admin).await;
    let listed = verifiers(&admin).await;
    let staged = key_in_state(&world, "staged");
    assert_eq!(listed["staged"], staged);
    let mut kids = [key_in_state(&world, "active"), staged];
    kids.sort();
    for verifier in listed["verifiers"].as_array().unwrap() {
        assert_eq!(verifier["kids"], json!(kids), "{verifier}");
    }
    let client = client(&world, "revalidates-2");
    let first = client.get("/.well-known/jwks.json").await.expect(200);
    let tag = first.header("etag");
    eventually("the page does not tell of the conditional fetch", async || {
        let again = client.get("/.well-known/jwks.json");
        again.header("if-none-match", tag).may_fail().await;
        let page = admin.browser().open(PAGE).await;
        page.visible_text().contains("revalidates-2 · If-None-Match")
    })
    .await;
    rotate(&world);
    wait_until_apis_are_ready(&world, &admin).await;
    assert_eq!(verifiers(&admin).await["staged"], key_in_state(&world, "staged"));
}

async fn a_verifier_without_the_next_key_is_named_before_a_rotation(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let db = world.db().await;
    for round in 0..rounds(2, 20) {
        // Signed in just now, as the form requires.
        let admin = world.user_with_role("admin").await;
        let before = key_in_state(&world, "staged");
        let frozen = format!("billing-{round}");
        fetch(&world, &admin, &frozen, &before).await;
        let stored = "SELECT name, network FROM verifiers WHERE user_agent = $1";
        let (address, network) = fetch_one!(db.reader(), (String, String), stored, frozen.as_str()).unwrap();
        assert_eq!(address, network);
        rotate(&world);
        let staged = key_in_state(&world, "staged");
        for ready in ["mail-1", "mail-2"] {
            fetch(&world, &admin, ready, &staged).await;
        }
        wait_until_apis_are_ready(&world, &admin).await;
        let known = clients(&admin, &staged).await;
        assert!(known.contains(&(frozen.clone(), false)), "{known:?}");
        let early = expect_command_error(&world, &["keys", "rotate"]);
        assert!(early.contains("may not sign"), "{early}");
        world.advance(STAGING_TIME);

        let listed = world.run(&["keys", "list"], "");
        let listed = String::from_utf8(listed.stdout).unwrap();
        let counts = format!("and at 2 of {} other clients", known.len());
        assert!(listed.contains(&counts), "{listed}");
        assert!(listed.contains(&frozen) && !listed.contains("mail-"), "{listed}");
        let refused = expect_command_error(&world, &["keys", "rotate"]);
        for words in [frozen.as_str(), &staged, "--yes"] {
            assert!(refused.contains(words), "{refused}");
        }
        assert!(!refused.contains("mail-"), "{refused}");
        let active = key_in_state(&world, "active");
        let refused = expect_command_error(&world, &["keys", "retire", &active]);
        assert!(refused.contains(&frozen), "{refused}");
        assert_eq!(key_in_state(&world, "staged"), staged);

        let mut browser = admin.browser();
        let page = browser.open(PAGE).await;
        let html = page.reply.text();
        let (_, dialog) = html.split_once("<div id=\"rotation\"").unwrap();
        let (named, _) = dialog.split_once("</ul>").unwrap();
        assert!(
            named.contains("These verifiers do not have the staged key."),
            "{named}"
        );
        assert!(named.contains(&frozen) && !named.contains("mail-"), "{named}");
        let counts = format!("within the last day: 2 of {} .", known.len());
        let mut shown = vec![counts, format!("{frozen} does not have it")];
        // The page has no room for those that are ready when many are not.
        if round < 10 {
            shown.extend(["mail-1 has it", "mail-2 has it"].map(str::to_owned));
        }
        for words in shown {
            assert!(page.visible_text().contains(&words), "{words}: {}", page.reply);
        }
        let csrf = page.hidden("csrf").unwrap();
        let unconfirmed = browser.submit(&page, &[("csrf", &csrf)]).await;
        assert_eq!(unconfirmed.reply.status, 409, "{}", unconfirmed.reply);
        assert!(
            unconfirmed
                .visible_text()
                .contains("The keys were not rotated: a verifier lacks the staged key"),
            "{}",
            unconfirmed.reply
        );
        let (_, to_confirm) = dialog.split_once("name=\"despite_unready\" value=\"").unwrap();
        let (shown, _) = to_confirm.split_once('"').unwrap();
        let confirmation = [("csrf", csrf.as_str()), ("despite_unready", shown)];
        // As if another one had come to lack it since the page was shown, in place of the one that it named.
        let another = "INSERT INTO verifiers (kind, name, user_agent, kids, revalidates, seen_at)
                       VALUES ('client', '192.0.2.9', 'another', 'none', FALSE, $1)";
        execute!(db.writer(), another, world.now()).unwrap();
        execute!(db.writer(), SET_KIDS, staged.as_str(), frozen.as_str()).unwrap();
        let outdated = browser.submit(&page, &confirmation).await;
        assert_eq!(outdated.reply.status, 409, "{}", outdated.reply);
        assert_eq!(key_in_state(&world, "staged"), staged);
        execute!(db.writer(), "DELETE FROM verifiers WHERE user_agent = 'another'").unwrap();
        execute!(db.writer(), SET_KIDS, "none", frozen.as_str()).unwrap();
        let confirmed = browser.submit(&page, &confirmation).await;
        assert_eq!(confirmed.reply.status, 303, "{}", confirmed.reply);
        assert_eq!(key_in_state(&world, "active"), staged);
        // Those who fetch the keys now are ready for the next rotation.
        world.advance(STAGING_TIME);
    }
}

async fn a_conditional_fetch_is_one_of_the_same_client(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let client = client(&world, "revalidates-1");
    let first = client.get("/.well-known/jwks.json").await.expect(200);
    let again = client.get("/.well-known/jwks.json");
    again
        .header("if-none-match", first.header("etag"))
        .await
        .expect(304);
    eventually("the conditional fetch is not stored", async || {
        let listed = verifiers(&admin).await;
        let mut known = listed["verifiers"].as_array().unwrap().iter();
        known.any(|verifier| verifier["user_agent"] == "revalidates-1" && verifier["revalidates"] == true)
    })
    .await;
}

/// Adds 1,500 clients that fetched the key set at about this time, with `of_address` user agents for each
/// address, and that have the key.
async fn add_clients(db: &Db, of_address: i64, network: Option<&str>, kid: &str, at: Timestamp) {
    let add = "INSERT INTO verifiers (kind, name, user_agent, kids, revalidates, seen_at, network)
               WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1499)
               SELECT 'client', '2001:db8::' || (n / $1), CAST(n AS TEXT), $2, FALSE, $3 + n, $4 FROM numbers";
    execute!(db.writer(), add, of_address, kid, at, network).unwrap();
}

async fn count_clients(db: &Db) -> i64 {
    let count = "SELECT COUNT(*) FROM verifiers WHERE kind = 'client'";
    let (count,) = fetch_one!(db.reader(), (i64,), count).unwrap();
    count
}

/// One that no longer fetches the key set was seen less recently than all others.
async fn no_number_of_clients_hides_one_without_the_next_key(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let admin = world.user_with_role("admin").await;
    let staged = key_in_state(&world, "staged");
    let db = world.db().await;
    let frozen = "INSERT INTO verifiers (kind, name, user_agent, kids, revalidates, seen_at)
                  VALUES ('client', '198.51.100.1', 'billing', 'none', FALSE, $1)";
    let ago = |seconds| world.now().before(Duration::from_secs(seconds));
    let (frozen_at, first, second) = (ago(7_200), ago(3_600), ago(1_800));
    execute!(db.writer(), frozen, frozen_at).unwrap();
    add_clients(&db, 1_500, None, &staged, first).await;
    let page = admin.browser().open(PAGE).await;
    let page = page.visible_text();
    for words in ["billing does not have it", "does not remember all of them"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    world.stop().await;
    world.restart().await;
    eventually("too many clients of the address are kept", async || {
        count_clients(&db).await == 51
    })
    .await;
    let refused = expect_command_error(&world, &["keys", "rotate"]);
    for words in ["198.51.100.1 (billing)", "perhaps others"] {
        assert!(refused.contains(words), "{refused}");
    }
    // Neither do the addresses of one network.
    add_clients(&db, 1, Some("2001:db8::/64"), &staged, second).await;
    let refused = expect_command_error(&world, &["keys", "rotate"]);
    for words in ["198.51.100.1 (billing)", "perhaps others"] {
        assert!(refused.contains(words), "{refused}");
    }
    assert_eq!(key_in_state(&world, "staged"), staged);
}

async fn verifiers_are_forgotten_after_a_day_and_beyond_a_thousand(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let admin = world.user_with_role("admin").await;
    let staged = key_in_state(&world, "staged");
    let db = world.db().await;
    let an_hour_ago = world.now().before(Duration::from_secs(3_600));
    add_clients(&db, 1, None, "none", an_hour_ago).await;
    assert_eq!(
        verifiers(&admin).await["verifiers"].as_array().unwrap().len(),
        1_000
    );
    let silent = "INSERT INTO verifiers (kind, name, user_agent, kids, revalidates, seen_at)
                  VALUES ('api', 'gone:8080', '', 'none', TRUE, $1)";
    execute!(db.writer(), silent, world.now().before(Duration::from_secs(7200))).unwrap();
    let refused = expect_command_error(&world, &["keys", "rotate"]);
    for words in [" more", "gone:8080, which is silent since", "perhaps others"] {
        assert!(refused.contains(words), "{refused}");
    }
    world.advance(Duration::from_secs(24 * 3600));
    let admin = world.user_with_role("admin").await;
    assert!(clients(&admin, &staged).await.is_empty());
    world.stop().await;
    world.restart().await;
    eventually("the verifiers are not deleted", async || {
        count_clients(&db).await == 0
    })
    .await;
}

on_every_shape!(
    replicas_of_the_api_report_their_keys,
    a_verifier_without_the_next_key_is_named_before_a_rotation,
    a_conditional_fetch_is_one_of_the_same_client,
    no_number_of_clients_hides_one_without_the_next_key,
    verifiers_are_forgotten_after_a_day_and_beyond_a_thousand,
);
