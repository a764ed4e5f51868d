//! The times until a page begins to arrive, is painted, and has loaded.

use super::ALONE;
use serde_json::Value;
use std::iter;
use std::time::Duration;
use tests::{
    Authenticator, Chromium, PASSWORD, SUBMIT, Shape, User, World, median, on_shapes, parameter, print_figure,
};
use url::Url;

/// The longest time from the request for a page to its first paint with content.
const MAX: Duration = Duration::from_millis(200);
/// The longest time from the request for a page to its first byte.
const MAX_FIRST_BYTE: Duration = Duration::from_millis(20);
/// The longest time until a page of the reference has loaded.
const MAX_LOAD: Duration = Duration::from_millis(300);
pub(super) const LOADS: usize = 5;
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

/// Waits until the page has loaded, and returns the time in milliseconds.
const LOADED: &str = r#"
    const loaded = () => performance.getEntriesByType("navigation")[0].loadEventEnd;
    while (loaded() === 0) await new Promise(done => setTimeout(done));
    return loaded();
"#;

/// Marks when Swagger UI first shows an operation. No limit is asserted: its script alone has 440 kB.
const MARK_OPERATIONS: &str = r#"
    new MutationObserver((_, watching) => {
        if (!document.querySelector(".opblock")) return;
        performance.mark("operations");
        watching.disconnect();
    }).observe(document, { childList: true, subtree: true });
"#;
/// Waits for the mark, and returns its time in milliseconds.
const OPERATIONS_SHOWN: &str = r#"
    const marks = () => performance.getEntriesByName("operations");
    while (marks().length === 0) await new Promise(done => setTimeout(done));
    return marks()[0].startTime;
"#;

/// Runs a script that returns milliseconds.
pub(super) async fn measure(chromium: &Chromium, script: &str, arguments: &[Value]) -> Duration {
    let millis = chromium.run(script, arguments).await;
    Duration::from_secs_f64(millis.as_f64().unwrap() / 1_000.0)
}

/// The times of a page that was loaded several times.
#[derive(Default)]
struct Loads {
    painted: Vec<Duration>,
    answered: Vec<Duration>,
}

impl Loads {
    /// Measures the page that the browser shows.
    async fn add(&mut self, chromium: &Chromium) {
        self.painted.push(measure(chromium, PAINTED, &[]).await);
        self.answered.push(measure(chromium, ANSWERED, &[]).await);
    }

    /// Prints the medians of the times to the first paint and to the first byte, and returns both.
    fn print(&self, page: &str) -> (Duration, Duration) {
        let (time, first_byte) = (median(&self.painted), median(&self.answered));
        print_figure(&format!(
            "{page} begins to arrive after {first_byte:?} and is painted after {time:?}"
        ));
        (time, first_byte)
    }
}

/// Loads a page several times, and prints and returns its times.
async fn open_repeatedly(chromium: &Chromium, world: &World, path: &str) -> (Duration, Duration) {
    let mut loads = Loads::default();
    for _ in 0..LOADS {
        chromium.open(&format!("{}{path}", world.base())).await;
        loads.add(chromium).await;
    }
    // The name of the first parameter tells pages within a flow from others.
    loads.print(path.split('=').next().unwrap())
}

/// Loads a page several times, and expects that it comes in time.
async fn expect_fast(chromium: &Chromium, world: &World, path: &str) {
    let (time, first_byte) = open_repeatedly(chromium, world, path).await;
    assert!(time < MAX, "{path} is painted after {time:?}");
    assert!(first_byte < MAX_FIRST_BYTE, "{path} begins after {first_byte:?}");
}

/// Submits a form of the page about two-step sign-in several times, and prints the times of the page that
/// follows, which has this text. No limit is asserted, because the form writes.
async fn submit_repeatedly(chromium: &Chromium, world: &World, form: &str, text: &str) {
    let mut loads = Loads::default();
    for _ in 0..LOADS {
        chromium.open(&format!("{}/account/two-step", world.base())).await;
        chromium
            .submit(&[], &format!("form[action='{form}'] button"), text)
            .await;
        loads.add(chromium).await;
    }
    loads.print(form);
}

/// The pages of a sign-in in two steps, and of its codes.
async fn two_steps(world: &World, user: &User, chromium: &Chromium) {
    let enrollment = "/account/two-step/enrollment";
    submit_repeatedly(chromium, world, enrollment, "otpauth://").await;
    let app = Authenticator::enable(world, user).await;
    let chromium = Chromium::with_scripts().await;
    chromium.open(&format!("{}/signin", world.base())).await;
    sign_in(&chromium, user).await;
    expect_fast(&chromium, world, "/signin/second-step").await;
    let code = [("#otp", app.recovery_codes[0].as_str())];
    chromium.submit(&code, SUBMIT, "href=\"/signout\"").await;
    let codes = "/account/two-step/recovery-codes";
    submit_repeatedly(&chromium, world, codes, "class=\"codes\"").await;
}

async fn sign_in(chromium: &Chromium, user: &User) {
    chromium.fill("#email", &user.email).await;
    chromium.fill("#password", PASSWORD).await;
    chromium.press(SUBMIT).await;
    chromium.expect(&user.email).await;
}

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
    for path in [
        "/",
        "/_design",
        "/account/none",
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
        expect_fast(&chromium, &world, path).await;
        if path == "/signin" {
            sign_in(&chromium, &user).await;
        }
    }
    chromium.open(&format!("{}{consent}", world.base())).await;
    let address: Url = chromium.expect("value=\"allow\"").await.parse().unwrap();
    let flow = parameter(&address, "flow").unwrap();
    for page in ["/signin", "/signup", "/account/passkeys"] {
        expect_fast(&chromium, &world, &format!("{page}?flow={flow}")).await;
    }
    two_steps(&world, &user, &chromium).await;
    // These are for few people, and each is measured beside a million events elsewhere.
    let admin = world.user_with_role("admin").await;
    let chromium = Chromium::with_scripts().await;
    chromium.open(&format!("{}/signin", world.base())).await;
    sign_in(&chromium, &admin).await;
    for path in [
        "/admin",
        "/admin/users",
        &format!("/admin/users/{}", user.id),
        "/admin/clients",
        &format!("/admin/clients/{}", app.id),
        "/admin/apps/new",
        "/admin/token-preview",
        "/admin/sessions",
        "/admin/consents",
        "/admin/events",
        "/admin/events?view=refusals",
        "/admin/keys",
    ] {
        open_repeatedly(&chromium, &world, path).await;
    }
}

/// Opens a page at addresses that the browser has not cached, and returns a time of each load.
async fn loads(chromium: &Chromium, page: &str, script: &str) -> Vec<Duration> {
    let mut times = Vec::new();
    for n in 0..LOADS {
        chromium.open(&format!("{page}?client_id=app-{n}")).await;
        times.push(measure(chromium, script, &[]).await);
    }
    times
}

/// The first of all loads comes after a start, so it waits until the program has built its document.
async fn the_reference_loads_within_300_ms(shape: Shape) {
    let _alone = ALONE.lock().await;
    let mut world = World::start(shape).await;
    let document = world.anyone().get("/openapi.json").await.expect(200).json();
    let tags = document["tags"].as_array().unwrap().iter();
    let slug = |tag: &Value| tag["name"].as_str().unwrap().to_lowercase().replace(' ', "-");
    let sections = tags.map(|tag| format!("/docs/{}", slug(tag)));
    world.stop().await;
    world.restart().await;
    let chromium = Chromium::with_scripts().await;
    // The start of the browser is no part of a load.
    chromium.open(&format!("{}/signin", world.base())).await;
    for path in iter::once("/docs".to_owned()).chain(sections) {
        let times = loads(&chromium, &format!("{}{path}", world.base()), LOADED).await;
        let (first, time) = (times[0], median(&times));
        print_figure(&format!("{path} loads in {time:?}, the first time in {first:?}"));
        assert!(first.max(time) < MAX_LOAD, "{path} loads in {times:?}");
    }
    chromium.add_script(MARK_OPERATIONS).await;
    let times = loads(&chromium, &format!("{}/docs/try", world.base()), OPERATIONS_SHOWN).await;
    let (first, time) = (times[0], median(&times));
    print_figure(&format!(
        "/docs/try shows operations after {time:?}, the first time after {first:?}"
    ));
}

on_shapes!(every_page_is_painted_within_200_ms: sqlite Sqlite);
on_shapes!(the_reference_loads_within_300_ms: sqlite Sqlite);
