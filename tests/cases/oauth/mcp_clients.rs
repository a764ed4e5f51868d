//! Unmodified clients of the Model Context Protocol (MCP) sign a user in at the API: they find the issuer by
//! the challenge of a 401 and the metadata of both servers, register themselves, ask for the scopes that the
//! metadata name, refresh, and ask for more when a route needs more. The protocol's own tool checks the
//! issuer.

use serde_json::json;
use tests::{ClientLibrary, Shape, StubServer, World, free_port, on_one_shape};

/// The scopes that the metadata of the API suggests.
const SCOPE: &str = "posts:read profile:read";
const LOOPBACK: &str = "http://localhost/callback";

async fn stock_clients_sign_in(shape: Shape) {
    let world = World::builder(shape)
        .flag("--client-registration", "open")
        .flag("--client-id-metadata-documents", "any")
        .start()
        .await;
    let user = world.user().await;
    let app = |kind| world.app().kind(kind).redirect_uri(LOOPBACK).register();
    let registered = [app("native"), app("web")]
        .map(|app| json!({ "id": app.id, "secret": app.secret, "redirectUri": app.redirect_uri }));
    let unregistered = json!({ "id": null, "secret": null, "redirectUri": "http://localhost:3456/callback" });
    let server = StubServer::start().await;
    let url = format!("{}/agent.json", server.url);
    let document = json!({ "client_id": url, "client_name": "Some agent", "redirect_uris": [LOOPBACK] });
    server.answer(200, &document.to_string());
    let described = json!({ "id": url, "secret": null, "redirectUri": LOOPBACK });
    let mut apps = [&[unregistered, described], registered.as_slice()].concat();
    for app in &mut apps {
        app["callbackPort"] = json!(free_port());
    }
    let settings = json!({
        "server": format!("{}/protected", world.base()),
        "resource": world.base(),
        "scope": SCOPE,
        "user": user.id.to_string(),
        "apps": apps,
    });
    for library in [
        ClientLibrary::McpSdkForTypescript,
        ClientLibrary::McpSdkForPython,
        ClientLibrary::Fastmcp,
    ] {
        library.run(&settings, &mut world.browser(), &user).await;
    }

    let app = world
        .app()
        .kind("native")
        .redirect_uri("http://127.0.0.1/callback")
        .register();
    let settings = json!({
        "issuer": world.base(),
        "resource": world.base(),
        "app": app.id,
        "port": free_port().to_string(),
        "checks": {
            "authorization-server-metadata": "SUCCESS",
            "authorization-server-metadata-cimd": "SUCCESS",
            "authorization-code-grant": "SUCCESS",
        },
    });
    ClientLibrary::McpConformance
        .run(&settings, &mut world.browser(), &user)
        .await;
}

on_one_shape!(stock_clients_sign_in);
