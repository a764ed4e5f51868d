//! The exact time that a page shows on hover, in Chromium: the local time.

use storage::execute;
use tests::{Chromium, PASSWORD, SharedWorld, on_shapes};

/// 31 January 2020, 22:30:05 UTC, in microseconds.
const CREATED_AT: i64 = 1_580_509_805_000_000;
/// Returns the text that the page shows on hover over this time.
const TITLE: &str = "return document.querySelector('time[datetime^=\"2020-01-31T22:30:05\"]').title";

async fn the_exact_time_is_that_of_the_time_zone_of_the_browser(world: SharedWorld) {
    let user = world.user().await;
    let update = "UPDATE users SET created_at = $2 WHERE id = $1";
    execute!(world.db().await.writer(), update, user.id, CREATED_AT).unwrap();
    let chromium = Chromium::in_language("en").await;
    chromium.open(&format!("{}/signin", world.base())).await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    chromium
        .submit(&fields, "button[type=submit]", "href=\"/signout\"")
        .await;
    // Neither zone is a whole number of hours from UTC, and neither had summer time on that day.
    for (zone, day, time) in [
        ("Asia/Kolkata", "Saturday, February 1, 2020", "4:00:05\u{202f}AM"),
        (
            "America/St_Johns",
            "Friday, January 31, 2020",
            "7:00:05\u{202f}PM",
        ),
    ] {
        chromium.be_in_time_zone(zone).await;
        chromium.open(&format!("{}/account", world.base())).await;
        let title = chromium.run(TITLE, &[]).await;
        // Versions of the Unicode data differ in the space and in the word between day and time.
        let title = title.as_str().unwrap().replace(' ', "\u{202f}");
        let day = day.replace(' ', "\u{202f}");
        assert!(
            title.starts_with(&day) && title.ends_with(time),
            "{zone}: {title}"
        );
    }
}

on_shapes!(the_exact_time_is_that_of_the_time_zone_of_the_browser: sqlite Sqlite);
