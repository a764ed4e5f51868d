//! The clients that can have the cookie, and the origins that may send it.

use super::{CALLBACK, ORIGIN, app_with_cookie};
use serde_json::json;
use tests::{Shape, SharedWorld, World, on_every_shape};

/// Tries to register a client with the cookie from the shell. Returns the exit code and the error message.
fn create(world: &World, kind: &str, uri: &str) -> (Option<i32>, String) {
    let create = [
        "clients",
        "create",
        "--json",
        "--id",
        "app-of-test",
        "--name",
        "App",
        "--scope",
        "posts:read",
    ];
    let options = ["--type", kind, "--redirect-uri", uri, "--refresh-cookie"];
    let output = world.run(&[&create[..], &options].concat(), "");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

async fn only_a_same_site_single_page_app_can_have_the_cookie(world: SharedWorld) {
    for (kind, uri, reason) in [
        ("spa", "https://app.test/cb", "not same-site with the issuer"),
        ("spa", "http://127.0.0.1:4000/cb", "not same-site with the issuer"),
        ("spa", "https://localhost/cb", "not same-site with the issuer"),
        ("native", CALLBACK, "only a client of the type spa"),
        ("web", CALLBACK, "only a client of the type spa"),
    ] {
        let (code, message) = create(&world, kind, uri);
        assert_eq!(code, Some(64), "{kind} {uri}: {message}");
        assert!(message.contains(reason), "{kind} {uri}: {message}");
    }
    let by_http = json!({
        "id": "refused", "name": "Refused", "type": "spa", "scope": "posts:read", "refresh_cookie": true,
        "redirect_uris": ["https://app.test/cb"],
    });
    let admin = world.user_with_role("admin").await;
    let refused = admin.post("/admin/clients").json(&by_http).await;
    let refused = refused.expect_error(422, "validation_failed");
    assert!(
        refused.text().contains("not same-site with the issuer"),
        "{refused}"
    );
    let app = app_with_cookie(&world).await;
    let shown = world.cli(&["clients", "show", &app.id, "--json"], "");
    assert_eq!(shown["refresh_cookie"], true);
    assert_eq!(shown["refresh_retry_window"], 10);
    let moved = [
        "clients",
        "update",
        &app.id,
        "--redirect-uri",
        "https://app.test/cb",
    ];
    assert_eq!(world.run(&moved, "").status.code(), Some(64));
    let path = format!("/admin/clients/{}", app.id);
    let changes = json!({ "refresh_cookie": false, "refresh_retry_window": 0 });
    let changed = admin.patch(&path).json(&changes).await.expect(200).json();
    assert_eq!(changed["refresh_cookie"], false);
    assert_eq!(changed["refresh_retry_window"], 0);
    let too_long = json!({ "refresh_retry_window": 61 });
    let refused = admin.patch(&path).json(&too_long).await;
    refused.expect_validation_errors(&["/refresh_retry_window"]);
}

/// The registrable domain ends below `co.uk`, which the Public Suffix List names.
async fn apps_below_the_registrable_domain_can_have_the_cookie(shape: Shape) {
    let setup = World::builder(shape).flag("--base-url", "https://auth.example.co.uk");
    let world = setup.start().await;
    for (uri, reason) in [
        ("https://other.co.uk/cb", "not same-site with the issuer"),
        ("https://co.uk/cb", "not same-site with the issuer"),
        ("http://app.example.co.uk/cb", "plain http is allowed for"),
    ] {
        let (code, message) = create(&world, "spa", uri);
        assert_eq!(code, Some(64), "{uri}: {message}");
        assert!(message.contains(reason), "{uri}: {message}");
    }
    let (code, message) = create(&world, "spa", "https://app.example.co.uk/cb");
    assert_eq!(code, Some(0), "{message}");
    let shown = world.cli(&["clients", "show", "app-of-test", "--json"], "");
    assert_eq!(shown["refresh_cookie"], true);
}

/// The tabs of a browser share the cookie, so an update that turns it on opens the retry window too, as a
/// registration does.
async fn a_cookie_that_is_turned_on_gets_its_retry_window(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let register = || world.app().redirect_uri(CALLBACK).register();
    let app = register();
    let update =
        |changes: &[&str]| world.cli(&[&["clients", "update", &app.id, "--json"], changes].concat(), "");
    let turned_on = update(&["--refresh-cookie", "true"]);
    assert_eq!(
        (&turned_on["refresh_cookie"], &turned_on["refresh_retry_window"]),
        (&json!(true), &json!(10))
    );
    // A window of zero that is named afterwards stays.
    update(&["--refresh-retry-window", "0s"]);
    let kept = update(&["--refresh-cookie", "true"]);
    assert_eq!(kept["refresh_retry_window"], 0);
    for (changes, expected) in [
        (json!({ "refresh_cookie": true }), 10),
        (json!({ "refresh_cookie": true, "refresh_retry_window": 0 }), 0),
        (json!({ "refresh_cookie": true, "refresh_retry_window": 25 }), 25),
    ] {
        let path = format!("/admin/clients/{}", register().id);
        let changed = admin.patch(&path).json(&changes).await.expect(200).json();
        assert_eq!(changed["refresh_retry_window"], expected, "{changes}");
        assert_eq!(changed["refresh_cookie"], true, "{changes}");
    }
    let elsewhere = world.app().register();
    let by_command = ["clients", "update", &elsewhere.id, "--refresh-cookie", "true"];
    let refused = world.run(&by_command, "");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(64), "{message}");
    assert!(message.contains("not same-site with the issuer"), "{message}");
    let path = format!("/admin/clients/{}", elsewhere.id);
    let by_http = admin.patch(&path).json(&json!({ "refresh_cookie": true })).await;
    by_http.expect_validation_errors(&[""]);
}

async fn the_page_of_the_app_may_send_cookies_to_the_token_endpoint_only(world: SharedWorld) {
    app_with_cookie(&world).await;
    for (path, with_cookies) in [
        ("/token", true),
        ("/token/revoke", true),
        ("/csrf", true),
        ("/revoke", false),
        ("/posts", false),
        ("/me", false),
    ] {
        let preflight = world.anyone().call("OPTIONS", path).header("origin", ORIGIN);
        let reply = preflight.header("access-control-request-method", "POST").await;
        assert_eq!(reply.header("access-control-allow-origin"), ORIGIN, "{path}");
        assert_eq!(
            reply.has("access-control-allow-credentials"),
            with_cookies,
            "{path}"
        );
    }
}

on_every_shape!(
    apps_below_the_registrable_domain_can_have_the_cookie,
    a_cookie_that_is_turned_on_gets_its_retry_window,
    only_a_same_site_single_page_app_can_have_the_cookie,
    the_page_of_the_app_may_send_cookies_to_the_token_endpoint_only,
);
