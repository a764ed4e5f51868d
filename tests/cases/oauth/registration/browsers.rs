//! Apps in browsers register themselves, and call the issuer and the API from their own origin.

use super::{REGISTER, open, register, spa};
use serde_json::json;
use tests::{Reply, Shape, eventually, on_every_shape};

fn allowed_origin(reply: &Reply) -> Option<&str> {
    let value = reply.headers.get("access-control-allow-origin");
    assert!(!reply.has("access-control-allow-credentials"), "{reply}");
    value.map(|value| value.to_str().unwrap())
}

async fn pages_of_any_origin_register_without_cookies(shape: Shape) {
    let world = open(shape).await;
    let page = world.anyone().with("origin", "https://page.test");
    let preflight = |path: &str, method: &str| {
        let call = page.call("OPTIONS", path);
        call.header("access-control-request-method", method)
            .header("access-control-request-headers", "authorization,content-type")
    };
    let client = register(&page, &spa()).await;
    assert_eq!(allowed_origin(&client.reply), Some("*"));
    for (path, method) in [
        (REGISTER, "POST"),
        (&client.path(), "PUT"),
        (&client.path(), "DELETE"),
    ] {
        let reply = preflight(path, method).await.expect(204);
        assert_eq!(allowed_origin(&reply), Some("*"));
        assert!(
            reply.header("access-control-allow-methods").contains(method),
            "{reply}"
        );
        assert!(
            reply
                .header("access-control-allow-headers")
                .contains("authorization"),
            "{reply}"
        );
    }
    let refused = page.post(REGISTER).json(&json!({})).await.expect(400);
    assert_eq!(allowed_origin(&refused), Some("*"));
    // A session changes nothing.
    let user = world.user().await;
    let with_session = world.anyone().cookies(&format!("sid={}", user.sid));
    let with_session = with_session
        .with("origin", "https://evil.test")
        .post(REGISTER)
        .json(&spa())
        .await;
    assert_eq!(allowed_origin(&with_session.expect(201)), Some("*"));
}

/// Some apps on a loopback address run in a browser, and their metadata do not tell.
async fn a_registered_page_exchanges_its_first_code(shape: Shape) {
    let world = open(shape).await;
    let user = world.user().await;
    for (uri, origin) in [
        ("https://page.test/cb", "https://page.test"),
        ("http://localhost:6274/oauth/callback", "http://localhost:6274"),
    ] {
        let metadata = json!({ "redirect_uris": [uri], "token_endpoint_auth_method": "none" });
        let client = register(&world.anyone().with("origin", origin), &metadata).await;
        let issuers = world.at_each_issuer(&world.anyone().with("origin", origin));
        let apis = world.at_each_api(&world.anyone().with("origin", origin));
        // While the user reads the consent page, the processes learn of the origin.
        for program in issuers.iter().chain(&apis) {
            eventually("the origin is unknown", async || {
                allowed_origin(&program.get("/csrf").await) == Some(origin)
            })
            .await;
        }
        let grant = client
            .app
            .authorize(&mut user.browser(), &user, "posts:read")
            .await;
        for issuer in issuers {
            // The first request takes the code.
            let reply = client.app.exchange(&issuer, &grant).await;
            assert_eq!(allowed_origin(&reply), Some(origin), "{reply}");
        }
        for api in apis {
            assert_eq!(allowed_origin(&api.get("/posts").await), Some(origin));
        }
    }
    let stranger = world.anyone().with("origin", "http://localhost:6275");
    assert_eq!(allowed_origin(&stranger.get("/posts").await), None);
}

on_every_shape!(
    pages_of_any_origin_register_without_cookies,
    a_registered_page_exchanges_its_first_code,
);
