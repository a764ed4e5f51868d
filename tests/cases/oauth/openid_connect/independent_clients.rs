//! Unmodified client libraries sign a user in, refresh, introspect, revoke, read claims and sign the user
//! out, configured by discovery alone. Those that can be services get tokens for themselves.

use serde_json::json;
use tests::{Chromium, ClientLibrary, SharedWorld, Signer, StubServer, World, on_one_shape, single_page_app};

const POST_LOGOUT: &str = "https://app.test/bye";

async fn run(world: &World, library: ClientLibrary) {
    let user = world.user().await;
    let web = world
        .app()
        .kind("web")
        .option(&["--post-logout-redirect-uri", POST_LOGOUT])
        .register();
    let service = world.app().kind("service").scope("posts:read").register();
    let (key, file) = (
        Signer::unknown("key-1"),
        world.data_dir().join("keys-of-client.json"),
    );
    std::fs::write(&file, json!({ "keys": [key.jwk()] }).to_string()).unwrap();
    let keyed = world
        .app()
        .kind("service")
        .scope("posts:read")
        .jwks(file.to_str().unwrap())
        .register();
    let settings = json!({
        "issuer": world.base(),
        "redirectUri": web.redirect_uri,
        "postLogoutUri": POST_LOGOUT,
        "user": { "id": user.id.to_string(), "email": user.email },
        "web": { "id": web.id, "secret": web.secret },
        "service": { "id": service.id, "secret": service.secret },
        "keyed": { "id": keyed.id, "kid": key.kid, "key": key.private_pem() },
    });
    let mut browser = world.browser();
    library.run(&settings, &mut browser, &user).await;
    assert_eq!(browser.cookie("sid"), None, "the user is still signed in");
}

async fn openid_client(world: SharedWorld) {
    run(&world, ClientLibrary::OpenidClient).await;
}

async fn oauth4webapi(world: SharedWorld) {
    run(&world, ClientLibrary::Oauth4webapi).await;
}

async fn authlib(world: SharedWorld) {
    run(&world, ClientLibrary::Authlib).await;
}

async fn openidconnect(world: SharedWorld) {
    run(&world, ClientLibrary::Openidconnect).await;
}

async fn oidc_client_ts_in_chromium(world: SharedWorld) {
    let (user, server) = (world.user().await, StubServer::start().await);
    let origin = server.url.replace("127.0.0.1", "localhost");
    let (callback, bye) = (format!("{origin}/callback"), format!("{origin}/bye"));
    let app = world
        .app()
        .redirect_uri(&callback)
        .option(&["--post-logout-redirect-uri", &bye])
        .register();
    let page = single_page_app(&json!({ "issuer": world.base(), "clientId": app.id }));
    server.answer_raw(&format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    ));
    let browser = Chromium::with_scripts().await;
    browser.open(&origin).await;
    browser.expect(&state("ready")).await;
    browser.press("#sign-in").await;
    browser.sign_in_and_allow(&user).await;
    browser.expect(&state("signed in")).await;
    browser.expect(&format!("{} {} valid", user.id, user.email)).await;
    let press = async |button: &str, name: &str| {
        browser.press(button).await;
        let url = browser.expect(&state(name)).await;
        assert!(url.starts_with(&origin), "{url}");
    };
    press("#refresh", "refreshed").await;
    let stored = browser.run("return await manager.getUser()", &[]).await;
    let tokens = ["access_token", "refresh_token"].map(|name| stored[name].as_str().unwrap().to_owned());
    let [access_token, refresh_token] = &tokens;
    world.expect_accepted(access_token).await;
    press("#revoke", "revoked").await;
    world.expect_revoked(access_token).await;
    let refused = app.refresh(&world.anyone(), refresh_token).await;
    refused.expect_token_error(400, "invalid_grant");
    press("#sign-out", "signed out").await;
}

/// The element in which the page shows its state.
fn state(name: &str) -> String {
    format!(r#"<p id="state">{name}</p>"#)
}

on_one_shape!(
    openid_client,
    oauth4webapi,
    authlib,
    openidconnect,
    oidc_client_ts_in_chromium
);
