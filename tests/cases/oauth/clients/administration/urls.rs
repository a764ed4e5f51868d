//! The URLs of a registration, except the redirect URIs.

use super::super::clients;
use super::{LIST, path, registered};
use serde_json::{Value, json};
use tests::{CALLBACK, User, World};

/// The members, the value at a registration and another one.
fn members() -> [(&'static str, Value, Value); 3] {
    [
        (
            "jwks_uri",
            json!("https://shop.test/jwks"),
            json!("https://keys.shop.test/jwks?set=2"),
        ),
        (
            "backchannel_logout_uri",
            json!("https://shop.test/logout"),
            json!("https://shop.test/ended?tenant=1"),
        ),
        (
            "post_logout_redirect_uris",
            json!(["https://shop.test/bye"]),
            json!(["https://shop.test/a", "https://shop.test/b?x=1"]),
        ),
    ]
}

fn with_urls(id: &str) -> Value {
    let mut body = json!({
        "id": id, "name": "The shop", "type": "web", "redirect_uris": [CALLBACK], "scope": "openid posts:read",
    });
    for (member, value, _) in members() {
        body[member] = value;
    }
    body
}

/// Registers a client with URLs and changes each. Expects that the shell shows them.
pub(super) async fn expect_urls_registered(world: &World, admin: &User) {
    let reply = admin.post(LIST).json(&with_urls("with-urls")).await.expect(201);
    let (app, mut expected) = (registered(&reply), reply.json());
    for (member, value, _) in members() {
        assert_eq!(expected[member], value, "{member}");
    }
    assert_eq!(app.secret, None);
    assert_eq!(expected, clients(world, "show", &app, &[]));
    for (member, _, value) in members() {
        let change = json!({ member: value });
        let changed = admin.patch(&path(&app)).json(&change).await.expect(200).json();
        expected[member] = value;
        assert_eq!(changed, expected, "{member}");
        assert_eq!(expected, clients(world, "show", &app, &[]), "{member}");
    }
    // An empty text removes the URL.
    let change = json!({ "backchannel_logout_uri": "" });
    let changed = admin.patch(&path(&app)).json(&change).await.expect(200).json();
    let members = expected.as_object_mut().unwrap();
    members.remove("backchannel_logout_uri").unwrap();
    assert_eq!(changed, expected);
    assert_eq!(expected, clients(world, "show", &app, &[]));
}

/// Expects that URLs to which the issuer must not send requests are refused, and dangerous ones for the
/// browser too.
pub(super) async fn expect_urls_refused(world: &World, admin: &User) {
    let app = registered(&admin.post(LIST).json(&with_urls("with-urls")).await.expect(201));
    let before = clients(world, "show", &app, &[]);
    let mut refused = Vec::new();
    for member in ["jwks_uri", "backchannel_logout_uri"] {
        for url in [
            "http://app.test/x",
            "https://10.0.0.1/x",
            "https://[::ffff:127.0.0.1]/x",
        ] {
            refused.push((member, json!(url), format!("/{member}")));
        }
    }
    for uri in [
        "javascript:alert(1)",
        "http://app.test/bye",
        "https://app.test/bye#x",
    ] {
        refused.push(("post_logout_redirect_uris", json!([uri]), String::new()));
    }
    for (member, value, pointer) in refused {
        let mut body = with_urls("refused");
        body[member] = value.clone();
        let created = admin.post(LIST).json(&body).await;
        created.expect_validation_errors(&[&pointer]);
        let changed = admin.patch(&path(&app)).json(&json!({ member: value })).await;
        changed.expect_validation_errors(&[&pointer]);
    }
    assert_eq!(clients(world, "show", &app, &[]), before);
    let unknown = admin.get(&format!("{LIST}/refused")).await;
    unknown.expect_error(404, "not_found");
}
