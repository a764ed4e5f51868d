//! The times until a page begins to arrive, and until it is painted.

use super::ALONE;
use std::time::Duration;
use tests::{Chromium, PASSWORD, SUBMIT, Shape, World, median, on_shapes, print_figure};

/// The longest time from the request for a page to its first paint with content.
const MAX: Duration = Duration::from_millis(200);
/// The longest time from the request for a page to its first byte.
const MAX_FIRST_BYTE: Duration = Duration::from_millis(20);
const LOADS: usize = 5;
/// Returns the time from the request for the page to its first byte, in milliseconds.
const ANSWERED: &str = r#"
    const [page] = performance.getEntriesByType("navigation");
    return page.responseStart - page.requestStart;
"#;
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
    let mail = world.mail(&user.email, "Confirm your e-mail address", 1).await;
    let verify = format!("/verify?token={}", mail.token());
    let reset = format!("/reset?token={}", world.reset_token(&user.email, 1).await);
    let (mut slowest, mut slowest_to_begin) = ((Duration::ZERO, ""), (Duration::ZERO, ""));
    for path in [
        "/",
        "/signup",
        "/forgot",
        &verify,
        &reset,
        "/signin",
        "/account",
        "/account/email",
        "/account/two-step",
        "/account/passkeys",
        "/account/deletion",
        "/password",
        "/device",
        &consent,
        "/signout",
    ] {
        let (mut painted, mut answered) = (Vec::new(), Vec::new());
        for _ in 0..LOADS {
            chromium.open(&format!("{}{path}", world.base())).await;
            for (script, times) in [(PAINTED, &mut painted), (ANSWERED, &mut answered)] {
                let millis = chromium.run(script, &[]).await.as_f64().unwrap();
                times.push(Duration::from_secs_f64(millis / 1_000.0));
            }
        }
        let (time, first_byte) = (median(&painted), median(&answered));
        assert!(time < MAX, "{path} is painted after {painted:?}");
        assert!(first_byte < MAX_FIRST_BYTE, "{path} begins after {answered:?}");
        slowest = slowest.max((time, path));
        slowest_to_begin = slowest_to_begin.max((first_byte, path));
        if path == "/signin" {
            chromium.fill("#email", &user.email).await;
            chromium.fill("#password", PASSWORD).await;
            chromium.press(SUBMIT).await;
            chromium.expect(&user.email).await;
        }
    }
    for ((time, path), what) in [(slowest, "is painted"), (slowest_to_begin, "begins to arrive")] {
        let page = path.split('?').next().unwrap();
        print_figure(&format!("the slowest page, {page}, {what} after {time:?}"));
    }
}

on_shapes!(every_page_is_painted_within_200_ms: sqlite Sqlite);
