//! The page of the security events, for administrators.

pub(super) mod search;
mod touched;

use super::{expect_redirect, expect_words};
use foundation::random;
use serde_json::json;
use std::time::Duration;
use storage::execute;
use tests::{Page, SharedWorld, World, on_every_shape};

pub(super) const PATH: &str = "/admin/events";

/// The number of events on the page.
pub(super) fn shown(page: &Page) -> usize {
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    page.reply.text().matches("<th scope=\"row\"").count()
}

/// A failed sign-in is found by the correlation id of its response, and leads to others of its address and
/// kind.
async fn a_failed_sign_in_is_found_by_its_correlation_id(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let failed = user
        .anonymous()
        .login(&user.email, "not the password")
        .await
        .expect(401);
    let id = failed.correlation_id();
    let mut browser = admin.browser();
    let found = browser.open(&format!("{PATH}?trace_id={id}")).await;
    assert_eq!(shown(&found), 1, "{}", found.reply);
    let item = format!("A sign-in failed failure authn_login_fail · {id}");
    expect_words(&found, 200, &item);
    expect_words(&found, 200, &user.email);
    let german = browser.open(&format!("{PATH}?trace_id={id}&language=de")).await;
    expect_words(&german, 200, "Eine Anmeldung ist gescheitert");
    browser.open(&format!("{PATH}?language=en")).await;
    expect_words(&found, 200, &format!("events list --trace={id}"));
    let call = format!(
        "curl -H \"Authorization: Bearer $TOKEN\" '{}{PATH}?trace_id={id}'",
        world.base()
    );
    expect_words(&found, 200, &call);
    expect_words(&found, 200, &format!("events tail --trace={id}"));
    let call = format!("-N '{}{PATH}/stream?trace_id={id}'", world.base());
    expect_words(&found, 200, &call);
    let of_user = format!("user_id={}", user.id);
    let link = found
        .links()
        .into_iter()
        .find(|link| link.query() == Some(&of_user))
        .unwrap();
    let of_user = browser.open(link.as_str()).await;
    expect_words(&of_user, 200, "authn_login_fail ·");
    let page_of_user = format!("/admin/users/{}", user.id);
    let mut links = found.links().into_iter();
    let touched = links.find(|link| link.path() == page_of_user).unwrap();
    expect_words(&browser.open(touched.as_str()).await, 200, &user.email);
    // The form has the condition, and adds another.
    let failures = browser
        .open(&format!(
            "{PATH}?name=&outcome=failure&user_id={}&client_id=&since=",
            user.id
        ))
        .await;
    assert_eq!(shown(&failures), 1, "{}", failures.reply);
    assert!(
        failures
            .reply
            .text()
            .contains("<option value=\"failure\" selected>failure</option>"),
        "{}",
        failures.reply
    );
    assert!(
        failures.reply.text().contains(&format!("value=\"{}\"", user.id)),
        "{}",
        failures.reply
    );
    // The address of the user selects the same events.
    let by_address = browser
        .open(&format!("{PATH}?user_id=%20{}&trace_id={id}", user.email))
        .await;
    assert_eq!(shown(&by_address), 1, "{}", by_address.reply);
    let value = format!("name=\"user_id\" value=\"{}\"", user.id);
    assert!(by_address.reply.text().contains(&value), "{}", by_address.reply);
    // A value with a control character, which a terminal could obey, is ignored.
    let unusual = browser.open(&format!("{PATH}?trace_id={id}&name=%03")).await;
    assert_eq!(shown(&unusual), 1, "{}", unusual.reply);
    let mistyped = browser
        .open(&format!("{PATH}?trace_id=%20{id}%20&since=yesterday&user_id=x"))
        .await;
    assert_eq!(shown(&mistyped), 1, "{}", mistyped.reply);
    expect_words(&mistyped, 200, "” is not valid, and was ignored.");
    assert_eq!(
        mistyped.wrong_fields(),
        ["user_id", "since"],
        "{}",
        mistyped.reply
    );
    // The message is the description of its field.
    let described = mistyped.reply.text();
    assert!(
        described.contains("aria-describedby=\"since-error\""),
        "{described}"
    );
    assert!(described.contains("id=\"since-error\">"), "{described}");
    assert!(
        mistyped.reply.text().contains("value=\"yesterday\""),
        "{}",
        mistyped.reply
    );
    let none = browser.open(&format!("{PATH}?trace_id=none")).await;
    expect_words(
        &none,
        200,
        "No event has this correlation id. Of refusals that repeat",
    );
    let none = browser.open(&format!("{PATH}?client_id=none")).await;
    expect_words(&none, 200, "No event fits these conditions.");
}

async fn every_condition_selects_events(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let (at, db) = (world.now().before(Duration::from_secs(60)), world.db().await);
    let [address, trace] = [(); 2].map(|()| random::id());
    // An identifier may begin like an option of a command.
    let client = format!("-{}", random::id());
    let insert = "INSERT INTO security_events (at, name, outcome, user_id, client_id, address, trace_id)
                  VALUES ($1, 'authz_consent', $2, $3, $4, $5, $6)";
    let other = random::id();
    for (n, (outcome, client, address, trace)) in [
        ("success", &client, &address, &trace),
        ("failure", &client, &address, &other),
        ("success", &client, &other, &other),
        ("success", &other, &address, &other),
    ]
    .into_iter()
    .enumerate()
    {
        let at = at.after(Duration::from_secs(n as u64));
        let (client, address, trace) = (client.as_str(), address.as_str(), trace.as_str());
        execute!(db.writer(), insert, at, outcome, admin.id, client, address, trace).unwrap();
    }
    let third = at.after(Duration::from_secs(2)).to_string();
    let own = format!("user_id={}&name=authz_consent", admin.id);
    for (query, count) in [
        (format!("client_id={client}"), 3),
        (format!("address={address}"), 3),
        (format!("trace_id={trace}"), 1),
        (format!("client_id={client}&address={address}"), 2),
        (format!("{own}&outcome=failure"), 1),
        (format!("{own}&outcome=success"), 3),
        (format!("{own}&since={third}"), 2),
        (format!("{own}&until={third}"), 2),
        (format!("{own}&since={third}&until={third}"), 0),
        (format!("client_id={client}&since={third}"), 1),
        (format!("{own}&outcome=other&since=x"), 4),
    ] {
        for order in ["asc", "desc"] {
            let listed = admin
                .get(&format!("{PATH}?{query}&order={order}"))
                .await
                .expect(200)
                .json();
            let items = listed["items"].as_array().unwrap();
            assert_eq!(items.len(), count, "{query} {order}: {listed}");
            let times: Vec<&str> = items.iter().map(|event| event["at"].as_str().unwrap()).collect();
            let is_sorted = match order {
                "asc" => times.is_sorted(),
                _ => times.iter().rev().is_sorted(),
            };
            assert!(is_sorted, "{times:?}");
            assert_eq!(listed["links"]["prev"], json!(null), "{listed}");
        }
    }
    // A time may be without a zone, and is in UTC then. It may be without seconds, too.
    let later = at.after(Duration::from_secs(120)).to_string();
    let bounds = [
        ("since", 16, 0),
        ("since", 19, 0),
        ("until", 16, 4),
        ("until", 19, 4),
    ];
    for (bound, length, count) in bounds {
        let query = format!("{own}&{bound}={}", &later[..length]);
        let listed = admin.get(&format!("{PATH}?{query}")).await.expect(200).json();
        assert_eq!(
            listed["items"].as_array().unwrap().len(),
            count,
            "{query}: {listed}"
        );
    }
    let user = admin.id.to_string();
    let args = [
        "events",
        "list",
        "--user",
        &user,
        "--client",
        &client,
        "--outcome",
        "failure",
        "--since",
        "2026-01-01T00:00:00Z",
        "--json",
    ];
    let listed = world.cli(&args, "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["address"], address);
    let listed = format!("events list --name=authz_consent --client={client} --order=asc");
    let path = format!("{PATH}?name=authz_consent&client_id={client}&order=asc");
    expect_words(&admin.browser().open(&path).await, 200, &listed);
    let args = [
        "events",
        "list",
        &format!("--client={client}"),
        "--order=asc",
        "--json",
    ];
    let listed = world.cli(&args, "");
    let outcomes = listed.as_array().unwrap().iter().map(|event| &event["outcome"]);
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        ["success", "failure", "success"],
        "{listed}"
    );
}

async fn only_administrators_see_the_events(world: SharedWorld) {
    let user = world.user().await;
    let page = user.browser().open(PATH).await;
    expect_words(&page, 403, "Only administrators can see this page");
    let admin = world.user_with_role("admin").await;
    // The refusal is an event with the correlation id of the page.
    let id = page.reply.correlation_id();
    let found = admin
        .get(&format!("{PATH}?trace_id={id}"))
        .await
        .expect(200)
        .json();
    assert_eq!(found["items"][0]["name"], "authz_fail", "{found}");
    assert_eq!(found["items"][0]["user_id"], user.id);
    assert_eq!(
        found["items"][0]["detail"],
        "Only administrators may see this page."
    );
    let german = admin
        .browser()
        .in_language("de")
        .open(&format!("{PATH}?trace_id={id}"))
        .await;
    expect_words(&german, 200, "Nur Administratoren dürfen diese Seite sehen.");
    expect_redirect(&world.browser().open(PATH).await, "/signin");
    let account = user.browser().open("/account").await;
    assert!(
        account
            .links()
            .iter()
            .all(|link| !link.path().starts_with("/admin"))
    );
    let account = admin.browser().open("/account").await;
    assert!(account.links().iter().any(|link| link.path() == "/admin"));
    world.age_sign_ins_of(&admin).await;
    assert!(shown(&admin.browser().open(PATH).await) > 0);
}

async fn a_deleted_user_is_named_by_the_pseudonym(world: SharedWorld) {
    let (admin, db, trace) = (
        world.user_with_role("admin").await,
        world.db().await,
        random::id(),
    );
    let insert = "INSERT INTO security_events (at, name, outcome, user_id, administrator_id, trace_id)
                  VALUES ($1, 'user_disabled', 'success', -7, $2, $3)";
    execute!(db.writer(), insert, world.now(), admin.id, trace.as_str()).unwrap();
    let mut browser = admin.browser();
    let page = browser.open(&format!("{PATH}?trace_id={trace}")).await;
    expect_words(&page, 200, &format!("user -7 by {}", admin.email));
    let mut links = page.links().into_iter();
    let of_user = links.find(|link| link.query() == Some("user_id=-7")).unwrap();
    assert_eq!(shown(&browser.open(of_user.as_str()).await), 1);
    let german = browser
        .in_language("de")
        .open(&format!("{PATH}?trace_id={trace}"))
        .await;
    expect_words(&german, 200, &format!("Benutzer -7 durch {}", admin.email));
}

/// The pages of a selected period are linked in both directions.
async fn the_pages_of_a_period_are_linked(world: World) {
    let admin = world.user_with_role("admin").await;
    let db = world.db().await;
    let insert = "INSERT INTO security_events (at, name, outcome, client_id, trace_id) VALUES ($1, 'period', 'success', 'c', '')";
    let begin = world.now().before(Duration::from_secs(3600));
    for n in 0..60 {
        execute!(db.writer(), insert, begin.after(Duration::from_secs(n))).unwrap();
    }
    let (since, until) = (
        begin.after(Duration::from_secs(5)),
        begin.after(Duration::from_secs(50)),
    );
    for order in ["asc", "desc"] {
        for selection in ["name=period", "client_id=c", ""] {
            let mut url = format!("{PATH}?{selection}&order={order}&since={since}&until={until}");
            let mut seen = Vec::new();
            let mut back = None;
            loop {
                let page = admin.get(&url).await.expect(200).json();
                let items = page["items"].as_array().unwrap();
                seen.extend(items.iter().map(|event| event["at"].as_str().unwrap().to_owned()));
                let Some(next) = page["links"]["next"].as_str() else {
                    back = page["links"]["prev"].as_str().map(str::to_owned).or(back);
                    break;
                };
                url = next.to_owned();
            }
            assert_eq!(seen.len(), 45, "{selection} {order}");
            if order == "desc" {
                seen.reverse();
            }
            assert!(seen.is_sorted(), "{selection} {order}: {seen:?}");
            let before = admin.get(&back.unwrap()).await.expect(200).json();
            assert_eq!(before["items"].as_array().unwrap().len(), 20, "{before}");
        }
        // A position outside another period: the list begins with the period.
        let listed = format!("{PATH}?name=period&order={order}");
        let first = admin
            .get(&format!("{listed}&since={since}&until={until}"))
            .await
            .expect(200)
            .json();
        let (since, until, count) = match order {
            "asc" => (begin.after(Duration::from_secs(40)), until, 10),
            _ => (since, begin.after(Duration::from_secs(10)), 5),
        };
        let cursor = first["next"].as_str().unwrap();
        let listed = format!("{listed}&since={since}&until={until}&cursor={cursor}");
        let listed = admin.get(&listed).await.expect(200).json();
        assert_eq!(
            listed["items"].as_array().unwrap().len(),
            count,
            "{order}: {listed}"
        );
    }
}

on_every_shape!(
    a_deleted_user_is_named_by_the_pseudonym,
    a_failed_sign_in_is_found_by_its_correlation_id,
    every_condition_selects_events,
    only_administrators_see_the_events,
    the_pages_of_a_period_are_linked,
);
