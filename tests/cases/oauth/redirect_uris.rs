//! Redirect URIs are compared exactly (RFC 9700 §2.1); only the port of a loopback host may vary
//! (RFC 8252 §7.3).

use serde_json::json;
use tests::{App, CALLBACK, DANGEROUS_REDIRECT_URIS, SharedWorld, World, on_every_shape, parameter};

async fn unregistered_redirect_uris_get_an_error_page(world: SharedWorld) {
    let app = world.app().redirect_uri("https://app.test/cb").register();
    let mutations = [
        "https://app.test/cb/",
        "https://app.test/CB",
        "https://app.test/c",
        "https://app.test/cb2",
        "https://app.test/",
        "https://app.test",
        "https://app.test/cb/..",
        "https://app.test/cb/../cb",
        "https://app.test/./cb",
        "https://app.test//cb",
        "https://app.test/cb/%2e%2e",
        "https://app.test/%63b",
        "https://app.test/%2563b",
        "https://app.test/cb%00",
        "https://app.test/cb?",
        "https://app.test/cb?x=1",
        "https://app.test/cb#",
        "https://app.test/cb#f",
        "https://user@app.test/cb",
        "https://app.test@evil.test/cb",
        "https://app.test.evil.test/cb",
        "https://evil.test/https://app.test/cb",
        "https://evil.test/cb",
        "https://sub.app.test/cb",
        "https://APP.test/cb",
        "https://app.test./cb",
        "https://app.test:443/cb",
        "https://app.test:8443/cb",
        "http://app.test/cb",
        "HTTPS://app.test/cb",
        "//app.test/cb",
        "/cb",
        "https:\\\\app.test\\cb",
        "https://app.test\\@evil.test/cb",
        "https://app.test/cb\t",
        "https://app.test/cb\n",
        "\thttps://app.test/cb",
        " https://app.test/cb",
        "https://app.test/cb https://evil.test/",
        "https://xn--pp-7ka.test/cb",
        "https://\u{430}pp.test/cb",
        "https://app.test/\u{ff43}b",
        "javascript:alert(1)//https://app.test/cb",
        "",
    ];
    for uri in mutations {
        let request = app.authorization().set("redirect_uri", uri);
        let page = request.expect_error_page(&world).await;
        assert!(
            !page.reply.text().contains("href=\"https://app.test"),
            "{}",
            page.reply
        );
    }
}

async fn redirect_uris_are_compared_case_sensitively(world: SharedWorld) {
    let app = world.app().redirect_uri("https://kiosk.test/kiosk").register();
    for uri in [
        "https://\u{212a}iosk.test/kiosk",
        "https://kiosk.test/\u{212a}iosk",
        "https://kiosk.test/kio\u{17f}k",
    ] {
        app.authorization()
            .set("redirect_uri", uri)
            .expect_error_page(&world)
            .await;
    }
}

async fn a_request_without_a_redirect_uri_gets_an_error_page(world: SharedWorld) {
    let one = world.app().register();
    let two = world
        .app()
        .redirect_uri("https://app.test/a")
        .redirect_uri("https://app.test/b")
        .register();
    for app in [one, two] {
        app.authorization()
            .without("redirect_uri")
            .expect_error_page(&world)
            .await;
    }
}

async fn any_registered_redirect_uri_may_be_used(world: SharedWorld) {
    let user = world.user().await;
    let app = world
        .app()
        .redirect_uri("https://app.test/a")
        .redirect_uri("https://app.test/b?x=1")
        .register();
    let request = app.authorization().set("redirect_uri", "https://app.test/b?x=1");
    let redirect = user
        .browser()
        .complete_flow(&request.path(), &user, "allow")
        .await
        .unwrap();
    assert!(
        redirect.as_str().starts_with("https://app.test/b?x=1&"),
        "{redirect}"
    );
    assert!(parameter(&redirect, "code").is_some());
}

async fn opens(world: &World, app: &App, uri: &str) {
    let page = world
        .browser()
        .open(&app.authorization().set("redirect_uri", uri).path())
        .await;
    assert_eq!(page.reply.status, 303, "{uri}: {}", page.reply);
    assert_eq!(page.location().unwrap().origin(), page.url.origin(), "{uri}");
}

async fn native_apps_on_a_loopback_host_may_use_any_port(world: SharedWorld) {
    let app = world
        .app()
        .kind("native")
        .redirect_uri("http://127.0.0.1/cb")
        .redirect_uri("http://[::1]/cb")
        .redirect_uri("http://localhost/cb?x=1")
        .register();
    for uri in [
        "http://127.0.0.1:1024/cb",
        "http://127.0.0.1:65535/cb",
        "http://127.0.0.1/cb",
        "http://[::1]:5000/cb",
        "http://localhost/cb?x=1",
        "http://localhost:1024/cb?x=1",
        "http://localhost:65535/cb?x=1",
    ] {
        opens(&world, &app, uri).await;
    }
    for uri in [
        "http://127.0.0.1:1024/other",
        "http://127.0.0.1:1024/cb/",
        "http://127.0.0.1:1024/cb?x=1",
        "https://127.0.0.1:1024/cb",
        "http://localhost:1024/cb",
        "http://localhost/cb",
        "http://localhost:1024/cb?x=2",
        "http://localhost:1024/other?x=1",
        "http://localhost:1024/cb/?x=1",
        "http://localhost:1024/cb?x=1#f",
        "https://localhost:1024/cb?x=1",
        "http://LOCALHOST:1024/cb?x=1",
        "http://localhost.:1024/cb?x=1",
        "http://localhost.evil.test/cb?x=1",
        "http://localhost:1024.evil.test/cb?x=1",
        "http://localhost:1024@evil.test/cb?x=1",
        "http://evil.localhost:1024/cb?x=1",
        "http://user@localhost:1024/cb?x=1",
        "http://localhost:99999/cb?x=1",
        "http://localhost:-1/cb?x=1",
        "http://localhost:/cb?x=1",
        "http://127.0.0.1:1024/cb?x=1",
        "http://127.0.0.1.evil.test/cb",
        "http://127.0.0.1:1024@evil.test/cb",
        "http://user@127.0.0.1:1024/cb",
        "http://127.1:1024/cb",
        "http://0x7f000001:1024/cb",
        "http://2130706433:1024/cb",
        "http://127.0.0.2:1024/cb",
        "http://0.0.0.0:1024/cb",
        "http://[::ffff:127.0.0.1]:1024/cb",
        "http://[0:0:0:0:0:0:0:1]:5000/cb",
        "http://127.0.0.1:99999/cb",
        "http://127.0.0.1:-1/cb",
        "http://127.0.0.1:1024:80/cb",
    ] {
        app.authorization()
            .set("redirect_uri", uri)
            .expect_error_page(&world)
            .await;
    }
}

/// Many native apps use the name, and register it with the port of their first run (RFC 8252 §8.3 prefers the
/// addresses).
async fn a_registered_port_of_localhost_may_vary(world: SharedWorld) {
    let app = world
        .app()
        .kind("native")
        .redirect_uri("http://localhost:4000/cb")
        .register();
    for uri in [
        "http://localhost:4000/cb",
        "http://localhost:4001/cb",
        "http://localhost/cb",
    ] {
        opens(&world, &app, uri).await;
    }
    for uri in [
        "http://127.0.0.1:4000/cb",
        "http://[::1]:4000/cb",
        "http://localhost:4000/",
    ] {
        app.authorization()
            .set("redirect_uri", uri)
            .expect_error_page(&world)
            .await;
    }
}

async fn the_loopback_flow_works_with_an_ephemeral_port(world: SharedWorld) {
    let user = world.user().await;
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let mut app = world
            .app()
            .kind("native")
            .redirect_uri(&format!("http://{host}/cb"))
            .register();
        app.redirect_uri = format!("http://{host}:49152/cb");
        let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
        assert_eq!(grant.redirect.port(), Some(49152));
        let mut elsewhere = app.clone();
        elsewhere.redirect_uri = format!("http://{host}:49153/cb");
        elsewhere
            .exchange(&world.anyone(), &grant)
            .await
            .expect_token_error(400, "invalid_grant");
        app.exchange(&world.anyone(), &grant).await.expect(200);
    }
}

async fn the_exchange_requires_the_same_redirect_uri(world: SharedWorld) {
    let (user, app) = (
        world.user().await,
        world
            .app()
            .redirect_uri("https://app.test/a")
            .redirect_uri("https://app.test/b")
            .register(),
    );
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let mut elsewhere = app.clone();
    for uri in ["https://app.test/b", "https://app.test/a/", "https://evil.test/a"] {
        elsewhere.redirect_uri = uri.to_owned();
        elsewhere
            .exchange(&world.anyone(), &grant)
            .await
            .expect_token_error(400, "invalid_grant");
    }
    app.exchange(&world.anyone(), &grant).await.expect(200);
}

async fn dangerous_redirect_uris_cannot_be_registered(world: World) {
    const KINDS: [&str; 3] = ["spa", "native", "web"];
    let admin = world.user_with_role("admin").await;
    let apps = KINDS.map(|kind| world.app().kind(kind).register());
    let before = world.cli(&["clients", "list", "--json"], "");
    for (n, uri) in DANGEROUS_REDIRECT_URIS.into_iter().enumerate() {
        for (kind, app) in KINDS.into_iter().zip(&apps) {
            let client = json!({
                "id": "bad", "name": "Bad", "type": kind, "scope": "posts:read", "redirect_uris": [CALLBACK, uri],
            });
            let change = json!({ "redirect_uris": [CALLBACK, uri] });
            let path = format!("/admin/clients/{}", app.id);
            for call in [
                admin.post("/admin/clients").json(&client),
                admin.patch(&path).json(&change),
            ] {
                let refused = call.await.expect_validation_errors(&[""]);
                assert!(
                    refused.text().contains("redirect URI"),
                    "{kind}, {uri}: {refused}"
                );
            }
        }
        // A command takes longer than a request, so that each URI is tried with one type.
        let (kind, app) = (KINDS[n % KINDS.len()], &apps[n % KINDS.len()]);
        let create = [
            "clients", "create", "--id", "bad", "--name", "Bad", "--type", kind,
        ];
        let uris = ["--scope", "posts:read", "--redirect-uri", uri];
        let update = ["clients", "update", &app.id];
        for command in [create.as_slice(), &update] {
            let refused = world.run(&[command, &uris].concat(), "");
            let message = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(64), "{kind}, {uri}: {message}");
            assert!(message.contains("redirect URI"), "{kind}, {uri}: {message}");
        }
    }
    assert_eq!(world.cli(&["clients", "list", "--json"], ""), before);
}

on_every_shape!(
    unregistered_redirect_uris_get_an_error_page,
    redirect_uris_are_compared_case_sensitively,
    a_request_without_a_redirect_uri_gets_an_error_page,
    any_registered_redirect_uri_may_be_used,
    native_apps_on_a_loopback_host_may_use_any_port,
    a_registered_port_of_localhost_may_vary,
    the_loopback_flow_works_with_an_ephemeral_port,
    the_exchange_requires_the_same_redirect_uri,
    dangerous_redirect_uris_cannot_be_registered,
);
