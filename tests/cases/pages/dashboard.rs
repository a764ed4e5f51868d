//! The page of the figures, for administrators.

use super::{expect_words, sign_in_at};
use serde_json::json;
use std::time::Duration;
use storage::{execute, fetch_one};
use tests::{PASSWORD, Shape, SharedWorld, World, eventually, items, on_every_shape, on_one_shape};

const PATH: &str = "/admin";
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

async fn every_issuer_shows_what_all_processes_counted(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let db = world.db().await;
    // Those of the issuer that prepared the database.
    execute!(db.writer(), "DELETE FROM figures").unwrap();
    let admin = world.user_with_role("admin").await;
    let mut browser = admin.browser();
    expect_words(
        &browser.open(PATH).await,
        200,
        "Nothing was counted in this time.",
    );
    let user = world.user().await;
    let anyone = user.anonymous();
    anyone.login(&user.email, PASSWORD).await.expect(200);
    anyone.login(&user.email, "not the password").await.expect(401);
    anyone.get("/me").await.expect(401);
    let app = world.app().register();
    let tokens = app.tokens(&user, "posts:read").await;
    app.refresh(&anyone, &tokens.refresh).await.expect(200);
    // The second use revokes the grant and raises an alert.
    app.refresh(&anyone, &tokens.refresh).await.expect(400);
    world.expect_revoked_soon(&tokens.access).await;
    eventually("the alert was not logged", async || {
        let logged = "SELECT COUNT(*) FROM alerts WHERE logged_at IS NOT NULL";
        fetch_one!(db.reader(), (i64,), logged).unwrap().0 == 1
    })
    .await;
    world.advance(MINUTE);
    for issuer in world.at_each_issuer(&admin) {
        eventually(
            "an issuer does not show the figures of all processes",
            async || {
                let total = issuer.get(PATH).await.expect(200).json()["total"].clone();
                let grants = &total["grants"];
                let once = [
                    &total["sign_ins"],
                    &total["failed_sign_ins"],
                    &total["reuse_alerts"],
                    &grants["authorization_code"],
                    &grants["refresh_token"],
                ];
                let at_least = [
                    (&total["requests"], 6),
                    (&total["client_errors"], 3),
                    (&total["hashing_wait"]["count"], 2),
                    (&total["revocation_lag"]["count"], world.api_ports().len()),
                ];
                once.iter().all(|count| **count == 1)
                    && at_least
                        .iter()
                        .all(|(count, least)| count.as_u64().unwrap() >= *least as u64)
            },
        )
        .await;
    }
    for (window, step, periods) in [
        ("hour", 60, 60),
        ("day", 600, 144),
        ("week", 3_600, 168),
        ("year", 60, 60),
    ] {
        let figures = admin.get(&format!("{PATH}?window={window}")).await.expect(200);
        let figures = figures.json();
        assert_eq!(figures["step"], step, "{window}");
        assert_eq!(figures["periods"].as_array().unwrap().len(), periods, "{window}");
        let last = &figures["periods"][periods - 1];
        assert_eq!(last["values"]["sign_ins"], 1, "{window}");
        assert!(last["key_age"].is_u64(), "{window}: {last}");
    }
    let page = browser.open(PATH).await;
    for words in [
        "Successful : 1 most recently, 1 in all",
        "Failed : 1 most recently, 1 in all",
        "Authorization code : 1 most recently, 1 in all",
        "Refresh token : 1 most recently, 1 in all",
        "Alerts : 1 most recently, 1 in all",
        "The key has signed for",
        "1 hour ago now",
        "figures show --window hour",
    ] {
        expect_words(&page, 200, words);
    }
    let text = page.visible_text();
    let (_, scale) = text.split_once("Age of the signing key From 0 to ").unwrap();
    let (age, _) = scale.split_once(" 1 hour ago").unwrap();
    assert!(
        scale.contains(&format!("The key has signed for {age}")),
        "{scale}"
    );
    let call = format!(
        "curl -H \"Authorization: Bearer $TOKEN\" '{}{PATH}?window=hour'",
        world.base()
    );
    expect_words(&page, 200, &call);
    assert_eq!(
        page.reply.text().matches("<section class=\"plot\">").count(),
        8,
        "{}",
        page.reply
    );
    let week = page
        .links()
        .into_iter()
        .find(|link| link.query() == Some("window=week"))
        .unwrap();
    let week = browser.open(week.as_str()).await;
    expect_words(&week, 200, "Each point of a line stands for 1 hour .");
    expect_words(&week, 200, "7 days ago now");
    let printed = world.cli(&["figures", "show", "--window", "day", "--json"], "");
    assert_eq!(printed["total"]["sign_ins"], 1, "{printed}");
}

/// The figures of a day have the age of the key in each period, however often the keys change.
async fn the_ages_of_many_keys_are_plotted(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    world.advance(2 * 60 * MINUTE);
    let admin = world.user_with_role("admin").await;
    // One key more than a page of their list has.
    for _ in 0..=20 {
        let active = admin.get("/admin/keys?state=active").await.expect(200);
        let kid = items(&active)[0]["kid"].as_str().unwrap().to_owned();
        let retire = admin.post(&format!("/admin/keys/{kid}/retirements"));
        retire.json(&json!({ "compromised": true })).await.expect(200);
    }
    let day = admin.get(&format!("{PATH}?window=day")).await.expect(200).json();
    let periods = day["periods"].as_array().unwrap();
    let an_hour_ago = &periods[periods.len() - 7];
    assert!(an_hour_ago["key_age"].is_u64(), "{an_hour_ago}");
}

async fn old_figures_are_deleted(mut world: World) {
    world.stop().await;
    let (db, now) = (world.db().await, world.now());
    for age in [8 * DAY + MINUTE, 7 * DAY + 60 * MINUTE] {
        let insert = "INSERT INTO figures (at, device_grants) VALUES ($1, 1)";
        execute!(db.writer(), insert, now.before(age)).unwrap();
    }
    world.restart().await;
    eventually("an old row remains, or a newer one was deleted", async || {
        let remaining = "SELECT COUNT(*) FROM figures WHERE device_grants = 1";
        fetch_one!(db.reader(), (i64,), remaining).unwrap().0 == 1
    })
    .await;
    let admin = world.user_with_role("admin").await;
    let week = admin.get(&format!("{PATH}?window=week")).await.expect(200).json();
    assert_eq!(week["total"]["grants"]["device_code"], 0, "{week}");
}

async fn only_administrators_see_the_figures(world: SharedWorld) {
    for role in ["user", "editor"] {
        let user = world.user_with_role(role).await;
        let refused = user.browser().open(PATH).await;
        expect_words(&refused, 403, "Only administrators can see this page");
    }
    let admin = world.user_with_role("admin").await;
    sign_in_at(&world, &admin, PATH).await;
}

on_every_shape!(
    every_issuer_shows_what_all_processes_counted,
    the_ages_of_many_keys_are_plotted,
    only_administrators_see_the_figures,
);
on_one_shape!(old_figures_are_deleted);
