//! Registration of clients.

use super::super::clients;
use super::urls::{expect_urls_refused, expect_urls_registered};
use super::{LIST, expect_authenticated, path, registered};
use serde_json::json;
use tests::{CALLBACK, World, on_every_shape};

async fn a_registration_has_the_fields_of_the_shell(world: World) {
    let admin = world.user_with_role("admin").await;
    let body = json!({
        "id": "shop", "name": "The shop", "type": "web", "redirect_uris": [CALLBACK, "https://shop.test/cb"],
        "scope": "posts:read posts:write", "default_scope": "posts:read", "first_party": true,
    });
    let reply = admin.post(LIST).json(&body).await.expect(201);
    assert_eq!(reply.header("location"), "/admin/clients/shop");
    assert_eq!(reply.header("cache-control"), "no-store");
    let shop = registered(&reply);
    let mut created = reply.json();
    created.as_object_mut().unwrap().remove("client_secret").unwrap();
    for (member, value) in body.as_object().unwrap() {
        assert_eq!(&created[member], value, "{member}");
    }
    assert_eq!(created, clients(&world, "show", &shop, &[]));
    expect_authenticated(&world, &shop).await;
    // Its use was recorded meanwhile.
    let read = admin.get(&path(&shop)).await.expect(200).json();
    assert_eq!(
        read["secrets"][0]["created_at"],
        created["secrets"][0]["created_at"]
    );
    assert!(read.get("client_secret").is_none(), "{read}");
    let again = admin.post(LIST).json(&body).await;
    again.expect_error(409, "client_id_taken");

    let by_keys = json!({
        "id": "job", "name": "A job", "type": "service", "scope": "posts:read",
        "jwks": { "keys": [tests::Signer::unknown("key").jwk()] },
    });
    let reply = admin.post(LIST).json(&by_keys).await.expect(201);
    assert_eq!(
        (registered(&reply).secret, &reply.json()["secrets"]),
        (None, &json!([]))
    );
    assert_eq!(reply.json()["jwks"], by_keys["jwks"]);
    let public = json!({
        "id": "spa", "name": "An app", "type": "spa", "scope": "posts:read", "redirect_uris": [CALLBACK],
    });
    let spa = registered(&admin.post(LIST).json(&public).await.expect(201));
    assert_eq!(spa.secret, None);
    spa.tokens(&world.user().await, "posts:read").await;
    expect_urls_registered(&world, &admin).await;
}

async fn invalid_registrations_are_refused(world: World) {
    let admin = world.user_with_role("admin").await;
    let before = world.cli(&["clients", "list", "--json"], "");
    let good = json!({ "id": "job", "name": "A job", "type": "service", "scope": "posts:read" });
    for (member, value, pointer) in [
        ("id", json!(7), "/id"),
        ("type", json!("server"), "/type"),
        ("scope", json!("everything"), "/scope"),
        ("redirect_uris", json!("https://app.test/cb"), "/redirect_uris"),
        ("redirect_uris", json!([1]), "/redirect_uris"),
        ("first_party", json!("true"), "/first_party"),
        ("first_party", json!(null), "/first_party"),
        ("jwks", json!([]), "/jwks"),
        ("client_secret", json!("of our own choice"), "/client_secret"),
        // These break a rule of the registration as a whole.
        ("id", json!("1234"), ""),
        ("id", json!(""), ""),
        ("name", json!(" "), ""),
        ("scope", json!(""), ""),
        ("scope", json!("posts:read admin"), ""),
        ("redirect_uris", json!([CALLBACK]), ""),
        ("default_scope", json!("posts:write"), ""),
        ("jwks", json!({}), ""),
    ] {
        let mut body = good.clone();
        body[member] = value;
        let reply = admin.post(LIST).json(&body).await;
        assert_eq!(reply.status, 422, "{body}: {reply}");
        reply.expect_validation_errors(&[pointer]);
    }
    let missing = admin.post(LIST).json(&json!({})).await;
    missing.expect_validation_errors(&["/id", "/name", "/type", "/scope"]);
    let repeated = r#"{"id":"job","id":"job","name":"A","type":"service","scope":"posts:read"}"#;
    let repeated = admin.post(LIST).body("application/json", repeated).await;
    repeated.expect_validation_errors(&[""]);
    let no_json = admin.post(LIST).body("application/json", "id=job").await;
    no_json.expect_error(400, "malformed_json");
    let form = admin.post(LIST).form(&[("id", "job")]).await;
    form.expect_error(415, "unsupported_media_type");
    assert_eq!(world.cli(&["clients", "list", "--json"], ""), before);
    expect_urls_refused(&world, &admin).await;
}

on_every_shape!(
    a_registration_has_the_fields_of_the_shell,
    invalid_registrations_are_refused,
);
