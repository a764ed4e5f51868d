//! The demo app on an origin of its own beside the deployment of `deploy/compose.yaml`, with the commands of
//! `docs/apps/demo.md`.

use super::{DOCKER, first_token};
use crate::operations::{read, run};
use tests::{Caller, Chromium, Shape, World, eventually, on_shapes, programs_dir, root, without_deployment};

/// The documented commands: those that copy the files, and those that start the service and register the app.
fn documented() -> [String; 2] {
    let page = read("docs/apps/demo.md");
    let (_, section) = page.split_once("\n### With Compose\n").unwrap();
    let mut blocks = section.split("```console\n").skip(1);
    [(); 2].map(|()| blocks.next().unwrap().split("```").next().unwrap().to_owned())
}

/// The commands in another directory than `deploy`.
fn from_elsewhere(copy: &str) -> String {
    let root = root().display().to_string();
    let copy = copy.replace(" ../", &format!(" {root}/"));
    ["demo/", "latchkey-auth/"]
        .into_iter()
        .fold(copy, |copy, directory| {
            copy.replace(&format!(" {directory}"), &format!(" {root}/deploy/{directory}"))
        })
}

async fn the_demo_app_has_an_origin_beside_the_deployment(shape: Shape) {
    let [copy, register] = documented();
    let secrets = first_token::documented("Compose", "> secrets/master-key");
    let script = format!("{secrets}{}", from_elsewhere(&copy));
    let (world, _nginx, site) = World::start_composed(shape, programs_dir(), &script).await;
    let site = site.unwrap();
    // The first command starts the service.
    let (_, register) = register.split_once('\n').unwrap();
    let register = register.replace("https://localhost:8444", &site.origin);
    run(&mut world.prepare_bash(&format!("{DOCKER}\n{register}")));
    expect_origin(&world.anyone(), &site.origin).await;
    let user = world.sign_up_and_log_in().await;
    let chromium = Chromium::trusting_certificates().await;
    chromium.open(&site.origin).await;
    chromium.expect("id=\"sign-in\"").await;
    chromium.press("#sign-in").await;
    chromium.sign_in_and_allow(&user).await;
    let shown = format!("<bdi id=\"user\">{}</bdi>", user.email);
    let address = chromium.expect(&shown).await;
    assert_eq!(address, format!("{}/", site.origin));
    let fields = [("#new-post-title", "From its own origin")];
    let written = "<strong>From its own origin</strong>";
    chromium.submit(&fields, "#create-post", written).await;
    // The cookie continues the session.
    chromium.open(&site.origin).await;
    chromium.expect(&shown).await;
    let console = chromium.console().await;
    let is_expected = |message: &String| message.contains("/token ") && message.contains("a status of 400 (");
    assert!(console.iter().all(is_expected), "{console:?}");
}

/// Expects that pages of the origin may read responses of every replica, or soon may.
async fn expect_origin(anyone: &Caller, origin: &str) {
    for path in ["/token", "/posts"] {
        eventually("the origin is not allowed", async || {
            let preflight = anyone.call("OPTIONS", path).header("origin", origin);
            let preflight = preflight.header("access-control-request-method", "POST");
            preflight.await.has("access-control-allow-origin")
        })
        .await;
    }
}

/// The headers that a configuration adds by this directive.
fn headers(config: &str, directive: &str) -> Vec<String> {
    let lines = config
        .lines()
        .filter_map(|line| line.trim().strip_prefix(directive));
    lines
        .map(|header| header.trim_end_matches(';').replace('"', ""))
        .collect()
}

/// The headers are those of the page for nginx and for Caddy. None of the servers logs URLs.
fn the_headers_are_the_documented_ones() {
    let page = read("docs/apps/demo.md");
    let page = page.replace(
        "https://login.example.com https://api.example.com",
        "https://$host",
    );
    let config = read("deploy/nginx-demo.conf");
    let added = headers(&config, "add_header ");
    assert_eq!(headers(&page, "add_header "), added);
    assert_eq!(headers(&page, "header "), added);
    for header in ["X-Content-Type-Options nosniff", "Referrer-Policy no-referrer"] {
        assert!(added.iter().any(|added| added == header), "{added:?}");
    }
    for text in [&page, &config] {
        assert!(text.contains("access_log off;"), "{text}");
    }
}

on_shapes!(the_demo_app_has_an_origin_beside_the_deployment: ; long: split Split);

without_deployment!(the_headers_are_the_documented_ones);
