//! Outages of the server of a document end nothing for seven days.

use super::{DescribedApp, STALE, consent_page, expect_refused, start};
use serde_json::json;
use std::cell::Cell;
use std::time::Duration;
use storage::{execute, fetch_one};
use tests::{Db, Shape, Tokens, World, eventually, on_every_shape, on_one_process, response};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

async fn refreshes_go_on_for_seven_days_of_an_outage(shape: Shape) {
    let world = start(shape).await;
    let (user, anyone) = (world.user().await, world.anyone());
    let described = DescribedApp::start(json!({})).await;
    let (app, issuers) = (&described.app, world.issuer_ports().len());
    let mut tokens = app.tokens(&user, "posts:read").await;
    described.server.answer(500, "");
    world.advance(STALE);
    expect_refused(&user, app, "another status than 200").await;
    let mut age = STALE;
    // While the document cannot be fetched, each issuer tries once a minute.
    let fetches = described.fetches();
    for _ in 0..3 * issuers {
        tokens = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
    }
    assert!(
        described.fetches() <= fetches + issuers,
        "{}",
        described.fetches()
    );
    world.advance(MINUTE);
    age += MINUTE;
    let fetches = described.fetches();
    tokens = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
    assert_eq!(described.fetches(), fetches + 1);
    for (status, day) in [(404, 1), (410, 3), (500, 5)] {
        described.server.answer(status, "");
        world.advance(DAY * day - age);
        age = DAY * day;
        tokens = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
        world.expect_accepted(&tokens.access).await;
    }
    world.advance(DAY * 7 - age - MINUTE);
    tokens = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
    world.advance(2 * MINUTE);
    let refused = app.refresh(&anyone, &tokens.refresh).await;
    refused.expect_token_error(401, "invalid_client");
    // Its tokens can still be revoked, and it is back a second after its document is.
    let kept = tokens;
    let revoked = app.client_call(&anyone, "/revoke", &[("token", &kept.access)]);
    revoked.await.expect(200);
    described.publish(json!({}));
    world.advance(Duration::from_secs(1));
    Tokens::parse(app.refresh(&anyone, &kept.refresh).await);
}

async fn apps_that_nobody_uses_are_deleted(shape: Shape) {
    let mut world = start(shape).await;
    let user = world.user().await;
    let [unused, allowed, left, disabled] = [
        DescribedApp::start(json!({})).await,
        DescribedApp::start(json!({})).await,
        DescribedApp::start(json!({})).await,
        DescribedApp::start(json!({})).await,
    ];
    for described in [&unused, &allowed, &left, &disabled] {
        consent_page(&user, &described.app).await;
    }
    for described in [&allowed, &left] {
        described.app.tokens(&user, "posts:read").await;
    }
    let path = format!("/me/grants/{}", left.encoded_id());
    user.delete(&path).await.expect(204);
    world.cli(&["clients", "disable", &disabled.app.id, "--json"], "");
    let db = world.db().await;
    // An app that nobody has allowed ends after a day, and one that nobody allows any more after 30 days.
    restart_after(&mut world, DAY + MINUTE).await;
    eventually("an unused app remains", async || count(&db).await == 3).await;
    insert_old_app(&db).await;
    restart_after(&mut world, DAY * 28).await;
    eventually("an old app remains", async || count(&db).await == 3).await;
    restart_after(&mut world, DAY).await;
    eventually("an app that the user left remains", async || {
        count(&db).await == 2
    })
    .await;
    for (described, is_known) in [
        (&unused, false),
        (&allowed, true),
        (&left, false),
        (&disabled, true),
    ] {
        let shown = world.run(&["clients", "show", &described.app.id], "");
        assert_eq!(shown.status.success(), is_known, "{shown:?}");
    }
}

/// Expired rows are deleted once after a start.
async fn restart_after(world: &mut World, length: Duration) {
    world.stop().await;
    world.advance(length);
    world.restart().await;
}

/// Inserts an app whose document was fetched long ago.
async fn insert_old_app(db: &Db) {
    const CLIENT: &str = "
        INSERT INTO clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party,
                             refresh_cookie, refresh_retry_window, epoch, created_at, origin)
        VALUES ('https://old.test/', '', 'spa', '[]', '[]', '', '', FALSE, FALSE, 0, 0, 1, 'document')";
    const DOCUMENT: &str = "INSERT INTO client_documents (client_id, fetched_at, fresh_until) VALUES ('https://old.test/', 1, 1)";
    execute!(db.writer(), CLIENT).unwrap();
    execute!(db.writer(), DOCUMENT).unwrap();
}

/// Sign-ins wait for the document of their app, and token requests do not wait for sign-ins.
async fn refreshes_do_not_wait_for_a_server_that_hangs(shape: Shape) {
    let world = start(shape).await;
    let user = world.user().await;
    let described = DescribedApp::start(json!({})).await;
    let app = &described.app;
    let tokens = app.tokens(&user, "posts:read").await;
    let known = described.fetches();
    let endless = response("200 OK", "Content-Type: application/json\r\n", &" ".repeat(5_000));
    described.server.answer_slowly(&endless);
    world.advance(STALE);
    let user = world.log_in(&user.email, &user.password).await;
    let sign_in_ended = Cell::new(false);
    tokio::join!(
        async {
            expect_refused(&user, app, "did not answer within 5 s").await;
            sign_in_ended.set(true);
        },
        async {
            eventually("the document is not fetched", async || {
                described.fetches() > known
            })
            .await;
            Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
            assert!(!sign_in_ended.get(), "the refresh waited for the sign-in");
        }
    );
}

async fn count(db: &Db) -> i64 {
    let (documents,) = fetch_one!(db.reader(), (i64,), "SELECT COUNT(*) FROM client_documents").unwrap();
    documents
}

on_every_shape!(
    refreshes_go_on_for_seven_days_of_an_outage,
    apps_that_nobody_uses_are_deleted,
);
on_one_process!(refreshes_do_not_wait_for_a_server_that_hangs);
