//! The view of the security events that groups refusals, for administrators.

use super::events::{PATH, shown};
use super::expect_words;
use foundation::random;
use serde_json::json;
use std::time::Duration;
use storage::execute;
use tests::{SharedWorld, on_every_shape};

/// Each kind and cause has a row with the newest refusal and the number of all, and the list has the others.
async fn refusals_are_grouped_by_kind_and_cause(world: SharedWorld) {
    let (admin, db) = (world.user_with_role("admin").await, world.db().await);
    let (client, begin) = (random::id(), world.now().before(Duration::from_secs(25 * 3600)));
    let insert = "INSERT INTO security_events (at, name, outcome, client_id, trace_id, detail, count)
                  VALUES ($1, $2, $3, $4, $5, $6, $7)";
    for (hours, name, outcome, trace, detail, count) in [
        (0, "authz_fail", "failure", "t0", "editors only", 9_i64),
        (2, "authz_fail", "failure", "t1", "editors only", 4),
        (3, "authz_fail", "failure", "t2", "users only", 1),
        (4, "malicious_csrf", "failure", "t3", "no token", 3),
        (5, "authz_fail", "failure", "t4", "editors only", 1),
        (6, "authn_login_success", "success", "t5", "passkey", 50),
    ] {
        let at = begin.after(Duration::from_secs(hours * 3600));
        let client = client.as_str();
        execute!(
            db.writer(),
            insert,
            at,
            name,
            outcome,
            client,
            trace,
            detail,
            count
        )
        .unwrap();
    }
    let (mut browser, of_client) = (admin.browser(), format!("client_id={client}"));
    let list = browser.open(&format!("{PATH}?{of_client}")).await;
    let view = format!("{of_client}&view=refusals");
    let mut links = list.links().into_iter();
    let view = links.find(|link| link.query() == Some(&view)).unwrap();
    let page = browser.open(view.as_str()).await;
    assert_eq!(shown(&page), 3, "{}", page.reply);
    for words in [
        "A permission was missing failure 5 times authz_fail · editors only · t4 · All refusals of this kind",
        "failure 3 times malicious_csrf · no token · t3",
        "A permission was missing failure 1 time authz_fail · users only · t2",
        &format!("events refusals --client={client} --since="),
        &format!("/admin/events/refusals?client_id={client}&outcome=failure&since="),
    ] {
        expect_words(&page, 200, words);
    }
    assert_eq!(page.hidden("view").as_deref(), Some("refusals"));
    let links = page.links();
    for (has_cause, count) in [(true, 2), (false, 3)] {
        let link = links.iter().find(|link| {
            link.as_str().contains("name=authz_fail") && link.as_str().contains("detail=") == has_cause
        });
        let list = browser.open(link.unwrap().as_str()).await;
        assert_eq!(shown(&list), count, "{}", list.reply);
    }
    // The call and the command group them too.
    let path = format!("{PATH}/refusals?{of_client}");
    let grouped = admin.get(&path).await.expect(200).json();
    let args = ["events", "refusals", "--client", &client, "--json"];
    for grouped in [grouped, world.cli(&args, "")] {
        let groups = grouped["groups"].as_array().unwrap().iter();
        let groups: Vec<_> = groups.map(|group| (&group["traceId"], &group["count"])).collect();
        assert_eq!(
            json!(groups),
            json!([["t4", 5], ["t3", 3], ["t2", 1]]),
            "{grouped}"
        );
        assert_eq!(grouped["further_groups"], 0);
        assert_eq!(grouped["has_older"], false);
    }
    // A detail selects events of any kind.
    let with_detail = format!("{PATH}?{of_client}&detail=editors%20only");
    let listed = admin.get(&with_detail).await.expect(200).json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 3, "{listed}");
    let args = [
        "events", "list", "--client", &client, "--detail", "passkey", "--json",
    ];
    let listed = world.cli(&args, "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    // The refusal of yesterday belongs to a longer time.
    let longer = browser
        .open(&format!("{PATH}?{of_client}&view=refusals&since={begin}"))
        .await;
    expect_words(&longer, 200, "failure 14 times authz_fail · editors only · t4");
}

/// A page groups the newest 1000 refusals, and shows the 50 largest groups.
async fn many_refusals_are_grouped_in_part(world: SharedWorld) {
    let (admin, db) = (world.user_with_role("admin").await, world.db().await);
    let (client, at) = (random::id(), world.now().before(Duration::from_secs(60)));
    let insert = "
        INSERT INTO security_events (at, name, outcome, client_id, trace_id, detail)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1001)
        SELECT CAST($1 AS BIGINT), 'authz_fail', 'failure', CAST($2 AS TEXT), '', 'cause ' || (n % 60) FROM numbers";
    execute!(db.writer(), insert, at, client.as_str()).unwrap();
    let path = format!("{PATH}?view=refusals&client_id={client}");
    let page = admin.browser().open(&path).await;
    assert_eq!(shown(&page), 50, "{}", page.reply);
    expect_words(&page, 200, "Only the newest 1000 entries are grouped");
    expect_words(&page, 200, "Smaller groups that are not shown: 10 .");
    let grouped = format!("{PATH}/refusals?client_id={client}");
    let grouped = admin.get(&grouped).await.expect(200).json();
    assert_eq!(grouped["groups"].as_array().unwrap().len(), 50, "{grouped}");
    assert_eq!(grouped["further_groups"], 10);
    assert_eq!(grouped["has_older"], true);
}

on_every_shape!(
    many_refusals_are_grouped_in_part,
    refusals_are_grouped_by_kind_and_cause,
);
