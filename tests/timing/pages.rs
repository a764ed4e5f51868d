//! The time until a page is painted.

use super::ALONE;
use std::time::Duration;
use tests::{Chromium, PASSWORD, Shape, World, median, on_shapes, print_figure};

/// The longest time from the request for a page to its first paint with content.
const MAX: Duration = Duration::from_millis(200);
const LOADS: usize = 5;
/// Waits for the first paint, and returns its time in milliseconds.
const PAINTED: &str = r#"
    const entry = await new Promise(done => new PerformanceObserver(list => {
        const painted = list.getEntriesByName("first-contentful-paint")[0];
        if (painted) done(painted);
    }).observe({ type: "paint", buffered: true }));
    return entry.startTime;
"#;

async fn every_page_is_painted_within_200_ms(shape: Shape) {
    let _alone = ALONE.lock().await;
    let world = World::start(shape).await;
    let user = world.sign_up().await;
    let app = world.app().register();
    app.tokens(&user, "posts:read").await;
    let chromium = Chromium::with_scripts().await;
    let consent = app.authorization().path();
    let mut slowest = (Duration::ZERO, "");
    for path in [
        "/",
        "/signup",
        "/forgot",
        "/signin",
        "/account",
        "/password",
        &consent,
    ] {
        let mut times = Vec::new();
        for _ in 0..LOADS {
            chromium.open(&format!("{}{path}", world.base())).await;
            let millis = chromium.run(PAINTED, &[]).await.as_f64().unwrap();
            times.push(Duration::from_secs_f64(millis / 1_000.0));
        }
        let time = median(&times);
        assert!(time < MAX, "{path} is painted after {times:?}");
        slowest = slowest.max((time, path));
        if path == "/signin" {
            chromium.fill("#email", &user.email).await;
            chromium.fill("#password", PASSWORD).await;
            chromium.press("button").await;
            chromium.expect(&user.email).await;
        }
    }
    let (time, path) = slowest;
    let page = path.split('?').next().unwrap();
    print_figure(&format!("the slowest page, {page}, is painted after {time:?}"));
}

on_shapes!(every_page_is_painted_within_200_ms: sqlite Sqlite);
