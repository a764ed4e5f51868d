//! Lists of events with several conditions, each of which selects many.

use super::PATH;
use crate::pages::expect_words;
use serde_json::json;
use std::time::Duration;
use storage::execute;
use tests::{User, World, on_every_shape};

/// Returns the number of items on each page of a list.
pub(in crate::pages) async fn counts(admin: &User, list: &str) -> Vec<usize> {
    let (mut url, mut counts) = (list.to_owned(), Vec::new());
    loop {
        let page = admin.get(&url).await.expect(200).json();
        counts.push(page["items"].as_array().unwrap().len());
        match page["links"]["next"].as_str() {
            Some(next) => next.clone_into(&mut url),
            None => return counts,
        }
    }
}

/// No index has the events that fit two conditions. A page searches 10,000 of those that fit one.
async fn a_page_searches_a_bounded_number_of_events(world: World) {
    let (admin, db) = (world.user_with_role("admin").await, world.db().await);
    let begin = world.now().before(Duration::from_hours(10));
    let insert = "INSERT INTO security_events (at, name, outcome, trace_id)
                  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 24000)
                  SELECT $1 + CAST(n AS BIGINT) * 1000000, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END,
                         CASE WHEN n % 2 = 0 OR n = 11 THEN 'success' ELSE 'failure' END, 'trace ' || n
                  FROM numbers";
    execute!(db.writer(), insert, begin).unwrap();
    let counts = async |query: &str| counts(&admin, &format!("{PATH}?{query}")).await;
    let both = "name=odd&outcome=success";
    assert_eq!(counts(both).await, [0, 1]);
    assert_eq!(counts(&format!("{both}&order=asc")).await, [1, 0]);
    let late = begin.after(Duration::from_secs(20_000));
    assert_eq!(counts(&format!("{both}&since={late}")).await, [0]);
    assert_eq!(counts(&format!("{both}&until={late}")).await, [1]);
    // A condition that selects few events leads, whichever it is.
    assert_eq!(counts("name=odd&trace_id=trace+11").await, [1]);
    let page = admin.browser().open(&format!("{PATH}?{both}")).await;
    expect_words(&page, 200, "No match has been found so far.");
    let next = page.links().into_iter();
    let mut next = next.filter(|link| link.query().is_some_and(|query| query.contains("cursor=")));
    let next = admin.browser().open(next.next().unwrap().as_str()).await;
    expect_words(&next, 200, "trace 11");
    // The view that groups refusals searches as many, and tells where it ended.
    let refusals = format!("{PATH}?view=refusals&name=even");
    let page = admin.browser().open(&refusals).await;
    expect_words(&page, 200, "ago were not searched. To see refusals among them");
    for (query, has_older) in [
        ("name=even".to_owned(), true),
        (format!("name=even&since={late}"), false),
    ] {
        let grouped = admin.get(&format!("{PATH}/refusals?{query}")).await;
        let grouped = grouped.expect(200).json();
        assert_eq!(grouped["groups"], json!([]), "{grouped}");
        assert_eq!(grouped["has_older"], has_older, "{grouped}");
    }
}

on_every_shape!(a_page_searches_a_bounded_number_of_events);
