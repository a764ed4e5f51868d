//! Security events and alerts of a deleted account have a pseudonym, and no address.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use storage::{execute, fetch_all, fetch_one};
use tests::{
    Caller, PASSWORD, Reply, Shape, User, World, eventually, items, on_every_shape, print_figure, rounds,
    run_concurrently,
};

/// The addresses of the user whose account is deleted.
const ADDRESSES: [&str; 2] = ["203.0.113.77", "2001:db8:77:1::5"];

async fn start(shape: Shape) -> World {
    let setup = World::builder(shape).flag("--trusted-proxies", "127.0.0.1");
    setup.clock().start().await
}

fn from(world: &World, address: &str) -> Caller {
    world.anyone().with("x-forwarded-for", address)
}

fn fail_to_sign_in(world: &World, address: &str, user: &User) -> tests::Call {
    from(world, address).login(&user.email, "not the password")
}

async fn delete(user: &User) -> Reply {
    let call = user.delete("/me").header("x-forwarded-for", ADDRESSES[0]);
    call.json(&json!({ "password": user.password })).await.expect(204)
}

/// The identifying columns of all events and alerts, a text for each row.
async fn rows(world: &World) -> Vec<String> {
    let query = "
        SELECT 'user_id=' || COALESCE(CAST(user_id AS TEXT), '') || ';administrator_id='
               || COALESCE(CAST(administrator_id AS TEXT), '') || ';' || COALESCE(address, '') || ';'
               || COALESCE(network, '') || ';' || COALESCE(detail, '') || ';' || name FROM security_events
        UNION ALL
        SELECT 'user_id=' || COALESCE(CAST(user_id AS TEXT), '') || ';subject=' || subject || ';'
               || COALESCE(detail, '') || ';' || kind FROM alerts";
    let rows = fetch_all!(world.db().await.reader(), (String,), query).unwrap();
    rows.into_iter().map(|(row,)| row).collect()
}

/// Expects that no event and no alert has the id or an address of the user.
async fn expect_unnamed(world: &World, user: &User) {
    for row in rows(world).await {
        for named in [
            format!("user_id={};", user.id),
            format!("administrator_id={};", user.id),
            format!(";subject={};", user.id),
            format!(";subject={}/", user.id),
            "203.0.113.77".to_owned(),
            "2001:db8:77:1:".to_owned(),
        ] {
            assert!(!row.contains(&named), "{row}");
        }
    }
}

/// The events of `GET /admin/events` with this query, on all pages.
async fn listed(admin: &User, query: &str) -> Vec<Value> {
    let mut next = format!("/admin/events?{query}");
    let mut all = Vec::new();
    loop {
        let page = admin.get(&next).await.expect(200);
        all.extend(items(&page));
        match page.json()["links"]["next"].as_str() {
            Some(url) => url.clone_into(&mut next),
            None => return all,
        }
    }
}

/// The `user_id` of the event `user_deleted` of a deletion.
fn pseudonym(events: &[Value], deletion: &Reply) -> i64 {
    let mut of_deletion = events
        .iter()
        .filter(|event| event["traceId"] == deletion.correlation_id());
    let deleted = of_deletion.find(|event| event["name"] == "user_deleted");
    deleted.unwrap()["user_id"].as_i64().unwrap()
}

async fn the_events_of_a_deleted_account_have_a_pseudonym(shape: Shape) {
    let world = start(shape).await;
    let (admin, bob) = (
        world.user_with_role("admin").await,
        world.sign_up_and_log_in().await,
    );
    let (ann, app) = (world.sign_up_and_log_in().await, world.app().register());
    for address in [ADDRESSES[0], ADDRESSES[0], ADDRESSES[1]] {
        from(&world, address)
            .login(&ann.email, PASSWORD)
            .await
            .expect(200);
        fail_to_sign_in(&world, address, &ann).await.expect(401);
    }
    app.tokens(&ann, "posts:read").await;
    let lockouts = format!("/admin/users/{}/lockouts", ann.id);
    admin.delete(&lockouts).await.expect(204);
    let before = listed(&admin, &format!("user_id={}", ann.id)).await;
    let (of_ann, of_bob) = (delete(&ann).await, delete(&bob).await);
    expect_unnamed(&world, &ann).await;
    let after = listed(&admin, "").await;
    let (ann_is, bob_is) = (pseudonym(&after, &of_ann), pseudonym(&after, &of_bob));
    assert!(ann_is < 0 && bob_is < 0 && ann_is != bob_is, "{ann_is} {bob_is}");
    assert!(
        after
            .iter()
            .all(|event| event["user_id"] != ann.id && event["user_id"] != bob.id)
    );
    // The pseudonym finds all events of the account, and the labels distinguish its networks.
    let grouped = listed(&admin, &format!("user_id={ann_is}")).await;
    let same = |event: &Value| (event["id"].clone(), event["name"].clone(), event["at"].clone());
    let former: Vec<_> = before.iter().map(same).collect();
    assert!(
        grouped.iter().map(same).collect::<Vec<_>>().ends_with(&former),
        "{grouped:?}"
    );
    let of_sign_ins = grouped
        .iter()
        .filter(|event| event["name"] == "authn_login_success");
    let mut networks: Vec<&str> = of_sign_ins
        .map(|event| event["address"].as_str().unwrap())
        .collect();
    networks.sort_unstable();
    networks.dedup();
    assert!(
        networks.len() == 3 && networks.iter().all(|label| label.starts_with("network ")),
        "{networks:?}"
    );
    // The address of an event that an administrator caused is the administrator's.
    let unlocked = grouped
        .iter()
        .find(|event| event["administrator_id"] == admin.id)
        .unwrap();
    assert_eq!(unlocked["address"], "127.0.0.1");
    let (user, limit) = (ann_is.to_string(), "1000");
    let printed = world.cli(
        &["events", "list", "--user", &user, "--limit", limit, "--json"],
        "",
    );
    assert_eq!(printed.as_array().unwrap().len(), grouped.len());
}

/// An administrator in the network of the user keeps the own address in the events.
async fn no_label_leads_to_an_event_with_an_address(shape: Shape) {
    let world = start(shape).await;
    let (admin, ann) = (world.user_with_role("admin").await, world.user().await);
    let lockouts = format!("/admin/users/{}/lockouts", ann.id);
    let call = admin.delete(&lockouts).header("x-forwarded-for", ADDRESSES[0]);
    call.await.expect(204);
    let call = from(&world, ADDRESSES[0]).login(&ann.email, PASSWORD);
    call.await.expect(200);
    let deletion = delete(&ann).await;
    let all = listed(&admin, "").await;
    let of_ann = listed(&admin, &format!("user_id={}", pseudonym(&all, &deletion))).await;
    let labels = of_ann.iter().filter_map(|event| {
        let label = event["address"].as_str()?.strip_prefix("network ")?;
        Some(label.parse::<i64>().unwrap())
    });
    let labels: Vec<i64> = labels.collect();
    assert!(!labels.is_empty(), "{of_ann:?}");
    for label in labels {
        let labeled = of_ann.iter().find(|event| event["id"] == label).unwrap();
        assert_eq!(labeled["address"], format!("network {label}"), "{labeled}");
    }
}

/// The events of the account are more than its deletion changes itself, and in the long tier more than one
/// statement can change within its time limit.
async fn an_account_with_very_many_events_can_be_deleted(shape: Shape) {
    let mut world = start(shape).await;
    let half = rounds(5_000_i64, 75_000);
    let (ann, bob) = (world.user().await, world.user().await);
    let db = world.db().await;
    let insert = "
        INSERT INTO security_events (at, name, outcome, user_id, address, network, trace_id)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $4)
        SELECT $1, 'authn_login_fail', 'failure', $2, $3, $3, 'x' FROM numbers";
    for address in ADDRESSES {
        execute!(db.writer(), insert, world.now(), ann.id, address, half).unwrap();
    }
    execute!(db.writer(), insert, world.now(), bob.id, "198.51.100.1", half).unwrap();
    let began = Instant::now();
    delete(&ann).await;
    print_figure(&format!(
        "deletion of an account with {} events: {:?}",
        2 * half,
        began.elapsed()
    ));
    // An issuer changes the other events at its start and every minute.
    world.stop().await;
    world.restart().await;
    // Each half has a time limit of its own.
    eventually("most events still name the deleted user", async || {
        let query = "SELECT COUNT(*) FROM security_events WHERE user_id = $1";
        let (named,): (i64,) = fetch_one!(db.reader(), (i64,), query, ann.id).unwrap();
        named <= half
    })
    .await;
    eventually("events still name the deleted user", async || {
        let query = "SELECT COUNT(*) FROM unfinished_pseudonyms";
        fetch_one!(db.reader(), (i64,), query).unwrap() == (0,)
    })
    .await;
    expect_unnamed(&world, &ann).await;
    let query = "SELECT COUNT(*) FROM security_events WHERE user_id = $1 AND address = '198.51.100.1'";
    assert_eq!(fetch_one!(db.reader(), (i64,), query, bob.id).unwrap(), (half,));
}

async fn an_administrator_who_deletes_the_own_account_has_a_pseudonym(shape: Shape) {
    let world = start(shape).await;
    let (other, admin) = (
        world.user_with_role("admin").await,
        world.user_with_role("admin").await,
    );
    let bob = world.user().await;
    let call = admin.delete(&format!("/admin/users/{}/lockouts", bob.id));
    call.header("x-forwarded-for", ADDRESSES[1]).await.expect(204);
    let deletion = delete(&admin).await;
    expect_unnamed(&world, &admin).await;
    let administrator = pseudonym(&listed(&other, "").await, &deletion);
    let caused = listed(&other, &format!("administrator_id={administrator}")).await;
    assert_eq!(
        (caused.len(), &caused[0]["user_id"]),
        (1, &json!(bob.id)),
        "{caused:?}"
    );
}

async fn events_after_the_deletion_do_not_name_the_account(shape: Shape) {
    let mut world = start(shape).await;
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    let anyone = from(&world, ADDRESSES[1]);
    let fresh = app.refresh(&anyone, &tokens.refresh).await.expect(200).json();
    // The failures of a minute after the first one are counted in one event, which is written when the minute
    // has ended.
    for _ in 0..4 {
        fail_to_sign_in(&world, ADDRESSES[0], &ann).await.expect(401);
    }
    delete(&ann).await;
    for token in [&tokens.refresh, fresh["refresh_token"].as_str().unwrap()] {
        app.refresh(&anyone, token).await.expect(400);
    }
    ann.get("/me")
        .header("x-forwarded-for", ADDRESSES[0])
        .await
        .expect(401);
    world.stop().await;
    expect_unnamed(&world, &ann).await;
    let query = "SELECT CAST(SUM(count) AS BIGINT) FROM security_events WHERE name = 'authn_login_fail'";
    let db = world.db().await;
    assert_eq!(fetch_all!(db.reader(), (i64,), query).unwrap(), [(4,)]);
}

async fn events_during_the_deletion_do_not_name_the_account(shape: Shape) {
    let mut world = start(shape).await;
    for _ in 0..3 {
        let ann = world.user().await;
        let calls =
            run_concurrently(8, |n| {
                let call = match n {
                4 => ann.delete("/me").json(&json!({ "password": PASSWORD })),
                _ => world.anyone().with("x-forwarded-for", ADDRESSES[0]).post("/login").json(&json!({
                    "email": ann.email, "password": if n % 2 == 0 { PASSWORD } else { "not the password" }
                })),
            };
                async move { call.await.status }
            });
        assert_eq!(calls.await[4], 204);
        let of_ann = format!("user_id={};", ann.id);
        assert!(rows(&world).await.iter().all(|row| !row.contains(&of_ann)));
    }
    world.stop().await;
}

async fn alerts_count_the_events_of_deleted_accounts(shape: Shape) {
    let mut world = start(shape).await;
    let ann = world.sign_up_and_log_in().await;
    for n in 1..=4 {
        let address = format!("2001:db8:77:1{n}::1");
        from(&world, &address)
            .login(&ann.email, PASSWORD)
            .await
            .expect(200);
    }
    delete(&ann).await;
    world.stop().await;
    // The detection must raise the alert after the deletion too, so an alert that was raised before is
    // removed.
    let db = world.db().await;
    execute!(db.writer(), "DELETE FROM alerts").unwrap();
    world.advance(Duration::from_secs(60));
    world.restart().await;
    let query = "SELECT user_id, subject FROM alerts WHERE kind = 'account_from_many_addresses'";
    let raised = async || fetch_all!(db.reader(), (i64, String), query).unwrap();
    eventually("no alert after the deletion", || async {
        !raised().await.is_empty()
    })
    .await;
    let alerts = raised().await;
    assert!(
        alerts.len() == 1 && alerts[0].0 < 0 && alerts[0].1 == alerts[0].0.to_string(),
        "{alerts:?}"
    );
}

async fn the_alerts_of_a_deleted_account_have_its_pseudonym(shape: Shape) {
    let world = start(shape).await;
    let admin = world.user_with_role("admin").await;
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(400);
    let deletion = delete(&ann).await;
    expect_unnamed(&world, &ann).await;
    let ann_is = pseudonym(&listed(&admin, "").await, &deletion);
    let query = "SELECT user_id, subject FROM alerts WHERE kind = 'refresh_token_reuse'";
    let alerts = fetch_all!(world.db().await.reader(), (i64, String), query).unwrap();
    assert_eq!(alerts, [(ann_is, format!("{ann_is}/{}/", app.id))]);
}

on_every_shape!(
    the_events_of_a_deleted_account_have_a_pseudonym,
    no_label_leads_to_an_event_with_an_address,
    an_account_with_very_many_events_can_be_deleted,
    an_administrator_who_deletes_the_own_account_has_a_pseudonym,
    events_after_the_deletion_do_not_name_the_account,
    events_during_the_deletion_do_not_name_the_account,
    alerts_count_the_events_of_deleted_accounts,
    the_alerts_of_a_deleted_account_have_its_pseudonym,
);
