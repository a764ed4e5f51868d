//! URLs of keys that would make the issuer call its own network (server-side request forgery).

use super::super::at_each_issuer;
use super::{Key, claims, create, jwks_file, request};
use serde_json::json;
use storage::execute;
use tests::{Sentinel, Shape, SharedWorld, User, World, on_every_shape};

/// A world in production mode, as behind an HTTPS proxy, with further flags.
pub(in crate::oauth::clients) async fn in_production(shape: Shape, flags: &[(&str, &str)]) -> World {
    let world = World::builder(shape).flag("--base-url", "https://id.test");
    let world = flags
        .iter()
        .fold(world, |world, (name, value)| world.flag(name, value));
    world.start().await
}

/// URLs that lead to the port of this machine, with a part of the reason for which they are refused when they
/// are registered, if they are.
pub(in crate::oauth::clients) fn probes(port: u16) -> Vec<(String, Option<&'static str>)> {
    let mut probes = Vec::new();
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.0.1.",
        "127.255.255.254",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "%31%32%37.0.0.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "10.0.0.1",
        "[fd00:ec2::254]",
    ] {
        probes.push((
            format!("https://{host}:{port}/jwks"),
            Some("not a public address"),
        ));
    }
    for host in ["localhost", "127.0.0.1", "[::1]", "app.test"] {
        probes.push((format!("http://{host}:{port}/jwks"), Some("https://")));
    }
    probes.push((format!("https://app.test@127.0.0.1:{port}/jwks"), Some("a user")));
    // Names are resolved when the keys are needed.
    for host in ["localhost", "LocalHost", "localhost.", "nowhere.invalid"] {
        probes.push((format!("https://{host}:{port}/jwks"), None));
    }
    probes
}

async fn expect_refused_by_http(admin: &User, uri: &str, reason: &str) {
    let body = json!({
        "id": "refused", "name": "Refused", "type": "service", "scope": "posts:read", "jwks_uri": uri,
    });
    let refused = admin.post("/admin/clients").json(&body).await;
    let refused = refused.expect_validation_errors(&["/jwks_uri"]);
    assert!(refused.text().contains(reason), "{uri}: {refused}");
}

async fn in_production_no_url_leads_to_the_network_of_the_issuer(shape: Shape) {
    let world = in_production(shape, &[]).await;
    let (key, sentinel, db) = (Key::rsa("rsa"), Sentinel::start(), world.db().await);
    let admin = world.user_with_role("admin").await;
    for (uri, refused) in probes(sentinel.port) {
        let app = world
            .app()
            .kind("service")
            .scope("posts:read")
            .jwks_uri("https://app.test/jwks")
            .register();
        let update = ["clients", "update", &app.id, "--jwks-uri", &uri];
        let updated = world.run(&update, "");
        let message = String::from_utf8_lossy(&updated.stderr);
        match refused {
            Some(reason) => {
                assert_eq!(updated.status.code(), Some(64), "{uri}: {message}");
                assert!(message.contains(reason), "{uri}: {message}");
                expect_refused_by_http(&admin, &uri, reason).await;
            }
            None => assert!(updated.status.success(), "{uri}: {message}"),
        }
        // The use of the keys has a check of its own.
        let set_uri = "UPDATE clients SET jwks_uri = $2 WHERE id = $1";
        execute!(db.writer(), set_uri, app.id.as_str(), uri.as_str()).unwrap();
        let mut claims = claims(&world, &app);
        claims["aud"] = json!("https://id.test");
        for issuer in at_each_issuer(&world) {
            let reply = request(&issuer, &key.assertion(&claims)).await;
            let body = reply.expect_token_error(401, "invalid_client").json();
            let description = body["error_description"].as_str().unwrap();
            let reason = refused.unwrap_or("no address, or one that is not public");
            assert!(description.contains(reason), "{uri}: {description}");
        }
        sentinel.expect_no_connection();
    }
}

async fn invalid_urls_of_keys_are_refused(world: SharedWorld) {
    let file = jwks_file(&world, &json!({ "keys": [Key::rsa("rsa").jwk()] }));
    let long = format!("https://app.test/{}", "a".repeat(2_000));
    let service = |uri| create(&world, &["service", "--jwks-uri", uri]);
    let with_secret = world.app().kind("web").register();
    for (refused, reason) in [
        (service("http://app.test/jwks"), "must begin with https://"),
        (service("ftp://app.test/jwks"), "must begin with https://"),
        (service("/jwks.json"), "write a complete https URL"),
        (service("https://app.test/jwks#keys"), "remove the part from # on"),
        (service("https://user:word@app.test/jwks"), "remove them"),
        (service("http://10.0.0.1/jwks"), "must begin with https://"),
        (
            service("https://10.0.0.1/jwks"),
            "10.0.0.1 is not a public address",
        ),
        (service("https://[::ffff:127.0.0.1]/jwks"), "not a public address"),
        (service(&long), "longer than 2000 characters"),
        (
            create(
                &world,
                &["service", "--jwks", &file, "--jwks-uri", "https://app.test/jwks"],
            ),
            "cannot be used with",
        ),
        (
            create(
                &world,
                &[
                    "spa",
                    "--redirect-uri",
                    "https://app.test/cb",
                    "--jwks-uri",
                    "https://app.test/jwks",
                ],
            ),
            "type web or service",
        ),
        (
            world.run(
                &[
                    "clients",
                    "update",
                    &with_secret.id,
                    "--jwks-uri",
                    "https://app.test/jwks",
                ],
                "",
            ),
            "registered with keys",
        ),
    ] {
        let message = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(64), "{reason}: {message}");
        assert!(message.contains(reason), "{reason}: {message}");
    }
    let created = service("https://app.test/jwks?set=1");
    assert!(created.status.success(), "{created:?}");
}

on_every_shape!(
    in_production_no_url_leads_to_the_network_of_the_issuer,
    invalid_urls_of_keys_are_refused,
);
