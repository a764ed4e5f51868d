//! The module for single-page apps in `deploy/latchkey-auth`.

mod many_tabs;

use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use tests::{
    App, Chromium, ClientLibrary, Shape, SharedWorld, StubServer, User, World, eventually, on_one_shape,
    response, root, type_checker, without_deployment,
};

const ORIGIN: &str = "http://localhost:4000";
const CALLBACK: &str = "http://localhost:4000/cb";

fn directory() -> PathBuf {
    root().join("tests/clients/latchkey-auth")
}

/// These tests also check the size of the module, and that npm accepts the package.
fn the_tests_of_the_module_pass() {
    let files = std::fs::read_dir(directory()).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let tests: Vec<_> = files
        .filter(|path| path.to_str().unwrap().ends_with(".test.mjs"))
        .collect();
    assert!(tests.len() > 6, "only {tests:?} were found");
    expect_success(Command::new("node").arg("--test").args(tests));
}

fn a_program_with_the_types_of_the_module_compiles() {
    expect_success(type_checker().arg(directory().join("types.ts")));
}

fn expect_success(command: &mut Command) {
    let output = command.output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{report}", output.status);
}

async fn the_module_signs_in_refreshes_and_signs_out(shape: Shape) {
    let world = World::builder(shape).flag("--dpop", "nonces").start().await;
    let user = world.user().await;
    for dpop in [false, true] {
        let options: &[&str] = match dpop {
            true => &["--refresh-cookie", "--dpop-bound"],
            false => &["--refresh-cookie"],
        };
        let app = world.app().redirect_uri(CALLBACK).option(options).register();
        world.expect_origin(ORIGIN).await;
        let settings = json!({
            "issuer": world.base(),
            "app": app.id,
            "redirectUri": CALLBACK,
            "dpop": dpop,
            "user": { "id": user.id.to_string(), "email": user.email },
        });
        ClientLibrary::LatchkeyAuth
            .run(&settings, &mut world.browser(), &user)
            .await;
    }
}

/// A single-page app with the module, on a server of its own.
struct Site {
    app: App,
    origin: String,
    _server: StubServer,
}

impl Site {
    /// Starts the server. With `dpop` the tokens are bound to a key.
    async fn start(world: &World, dpop: bool) -> Self {
        let server = StubServer::start().await;
        let origin = server.url.replace("127.0.0.1", "localhost");
        let callback = format!("{origin}/callback");
        let app = world
            .app()
            .redirect_uri(&callback)
            .option(&["--refresh-cookie"])
            .register();
        let page = page(world, &app, dpop);
        server.answer_raw(&response("200 OK", "Content-Type: text/html\r\n", &page));
        world.expect_origin(&origin).await;
        Self {
            app,
            origin,
            _server: server,
        }
    }

    /// Signs the user in with the whole window, which returns to the redirect URI.
    async fn sign_in(&self, browser: &Chromium, user: &User) {
        browser.open(&self.origin).await;
        browser.expect(&state("signed_out")).await;
        browser.press("#sign-in").await;
        browser.sign_in_and_allow(user).await;
        let address = browser.expect(&state("signed in")).await;
        assert_eq!(address, self.app.redirect_uri);
    }
}

/// A page with the module, for this app.
fn page(world: &World, app: &App, dpop: bool) -> String {
    let read = |path| std::fs::read_to_string(directory().join(path)).unwrap();
    let settings = json!({ "issuer": world.base(), "clientId": app.id, "dpop": dpop });
    read("page.html")
        .replace(
            "/* MODULE */",
            &read("../../../deploy/latchkey-auth/latchkey-auth.js"),
        )
        .replace("/* SETTINGS */ null", &settings.to_string())
}

/// The element in which the page shows its state.
fn state(name: &str) -> String {
    format!(r#"<p id="state">{name}</p>"#)
}

/// The real browser has what the tests in Node.js imitate: cookies, CORS, Web Locks, IndexedDB, and the header
/// of the issuer's pages that cuts a popup off from the page that opened it.
async fn a_page_in_chromium_signs_in_reloads_and_signs_in_with_a_popup(world: SharedWorld) {
    let (user, site) = (world.user().await, Site::start(&world, true).await);
    let browser = Chromium::with_scripts().await;
    site.sign_in(&browser, &user).await;
    browser.open(&site.origin).await;
    browser.expect(&state("signed in")).await;
    browser.expect(&format!("{} {}", user.id, user.email)).await;
    browser.press("#sign-out").await;
    browser.expect(&state("signed_out")).await;
    let opener = browser.windows().await.remove(0);
    browser.press("#popup").await;
    eventually("no popup was opened", async || browser.windows().await.len() == 2).await;
    let windows = browser.windows().await;
    let popup = windows.iter().find(|window| **window != opener).unwrap();
    browser.turn_to(popup).await;
    browser.expect(r#"value="allow""#).await;
    // The popup closes itself, which a command that waits for the end of the click would report as an error.
    let click = r#"setTimeout(() => document.querySelector("button[value=allow]").click(), 100)"#;
    browser.run(click, &[]).await;
    eventually("the popup is still open", async || {
        browser.windows().await.len() == 1
    })
    .await;
    browser.turn_to(&opener).await;
    browser.expect(&state("signed in")).await;
}

on_one_shape!(
    the_module_signs_in_refreshes_and_signs_out,
    a_page_in_chromium_signs_in_reloads_and_signs_in_with_a_popup,
);
without_deployment!(
    the_tests_of_the_module_pass,
    a_program_with_the_types_of_the_module_compiles
);
