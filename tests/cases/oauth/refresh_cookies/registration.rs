//! The clients that can have the cookie, and the origins that may send it.

use super::{CALLBACK, ORIGIN, app_with_cookie};
use serde_json::json;
use tests::{World, on_every_shape};

async fn only_a_same_site_single_page_app_can_have_the_cookie(world: World) {
    for (kind, uri, reason) in [
        ("spa", "https://app.test/cb", "not same-site with the issuer"),
        ("spa", "http://127.0.0.1:4000/cb", "not same-site with the issuer"),
        ("spa", "https://localhost/cb", "not same-site with the issuer"),
        ("native", CALLBACK, "only a client of the type spa"),
        ("web", CALLBACK, "only a client of the type spa"),
    ] {
        let create = [
            "clients",
            "create",
            "--id",
            "refused",
            "--name",
            "Refused",
            "--scope",
            "posts:read",
        ];
        let options = ["--type", kind, "--redirect-uri", uri, "--refresh-cookie"];
        let refused = world.run(&[&create[..], &options].concat(), "");
        assert_eq!(refused.status.code(), Some(64), "{kind} {uri}: {refused:?}");
        let message = String::from_utf8(refused.stderr).unwrap();
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
    let app = app_with_cookie(&world);
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

async fn the_page_of_the_app_may_send_cookies_to_the_token_endpoint_only(world: World) {
    app_with_cookie(&world);
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
    only_a_same_site_single_page_app_can_have_the_cookie,
    the_page_of_the_app_may_send_cookies_to_the_token_endpoint_only,
);
