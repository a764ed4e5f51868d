//! The URLs at which clients are told.

use super::queue;
use serde_json::json;
use std::process::Output;
use storage::{execute, fetch_one};
use tests::{Sentinel, Shape, SharedWorld, User, World, eventually, on_every_shape};

/// Runs `clients create` with this URL.
fn create(world: &World, url: &str) -> Output {
    world.run(
        &[
            "clients",
            "create",
            "--id",
            "logged-out",
            "--name",
            "Logged out",
            "--type",
            "web",
            "--scope",
            "openid",
            "--redirect-uri",
            "https://app.test/cb",
            "--backchannel-logout-uri",
            url,
        ],
        "",
    )
}

#[track_caller]
fn expect_refused(created: &Output, url: &str) {
    assert!(!created.status.success(), "{url}");
    let message = String::from_utf8_lossy(&created.stderr);
    assert!(message.contains("backchannel_logout_uri"), "{message}");
}

async fn expect_refused_by_http(admin: &User, url: &str) {
    let body = json!({
        "id": "logged-out", "name": "Logged out", "type": "web", "scope": "openid",
        "redirect_uris": ["https://app.test/cb"], "backchannel_logout_uri": url,
    });
    let refused = admin.post("/admin/clients").json(&body).await;
    refused.expect_validation_errors(&["/backchannel_logout_uri"]);
}

async fn the_url_is_checked_like_every_url_of_third_parties(world: SharedWorld) {
    for url in [
        "http://app.test/logout",
        "https://10.0.0.1/logout",
        "https://app.test/logout#x",
        "/logout",
    ] {
        expect_refused(&create(&world, url), url);
    }
    assert!(create(&world, "https://app.test/logout").status.success());
    let updated = world.cli(
        &[
            "clients",
            "update",
            "--json",
            "logged-out",
            "--backchannel-logout-uri",
            "",
        ],
        "",
    );
    assert_eq!(updated.get("backchannel_logout_uri"), None);
}

/// As the registration, the delivery refuses URLs of the network of the issuer.
async fn in_production_no_token_is_sent_to_the_network_of_the_issuer(shape: Shape) {
    let world = World::builder(shape)
        .flag("--base-url", "https://id.test")
        .start()
        .await;
    let (sentinel, db) = (Sentinel::start(), world.db().await);
    let (admin, port) = (world.user_with_role("admin").await, sentinel.port);
    for scheme in ["http", "https"] {
        let url = format!("{scheme}://127.0.0.1:{port}/logout");
        expect_refused(&create(&world, &url), &url);
        expect_refused_by_http(&admin, &url).await;
    }
    for (url, reason) in [
        (
            format!("https://localhost:{port}/logout"),
            "no address, or one that is not public",
        ),
        (
            format!("http://127.0.0.1:{port}/logout"),
            "it must begin with https://",
        ),
    ] {
        let registered = ["--backchannel-logout-uri", "https://app.test/logout"];
        let app = world.app().option(&registered).register();
        let set_url = "UPDATE clients SET backchannel_logout_uri = $2 WHERE id = $1";
        execute!(db.writer(), set_url, app.id.as_str(), url.as_str()).unwrap();
        queue(&world, &app, 1).await;
        eventually("delivery was not attempted", async || {
            let attempts = "SELECT COALESCE(MAX(attempts), 0) FROM logout_notices WHERE client_id = $1";
            fetch_one!(db.reader(), (i64,), attempts, app.id.as_str()).unwrap() > (0,)
        })
        .await;
        // The attempt is over.
        eventually("the reason was not logged", async || {
            world
                .log()
                .lines()
                .any(|line| line.contains(&app.id) && line.contains(reason))
        })
        .await;
    }
    sentinel.expect_no_connection();
}

on_every_shape!(
    the_url_is_checked_like_every_url_of_third_parties,
    in_production_no_token_is_sent_to_the_network_of_the_issuer,
);
