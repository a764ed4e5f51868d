//! The device authorization grant (RFC 8628): `POST /device_authorization`, the pages at `/device`, and
//! `/token` with the device code.

mod decisions;
mod ends;
mod independent_clients;
mod polling;
mod registration;

use super::consent::follow;
use serde_json::{Value, json};
use std::time::Duration;
use tests::{
    App, Device, ProofKey, Proven, Shape, SharedWorld, Tokens, User, World, claims, on_every_shape, parameter,
};

/// The scope of the requests.
const SCOPE: &str = "posts:read profile:read";
const MINUTE: Duration = Duration::from_secs(60);

/// A user, and a third-party app on a device that needs no redirect URI.
async fn user_and_app(world: &World) -> (User, App) {
    (world.user().await, native(world))
}

fn native(world: &World) -> App {
    world.app().kind("native").option(&["--device"]).register()
}

/// Begins the authorization of a device, and decides as the user.
async fn decided(world: &World, app: &App, user: &User, decision: &str) -> Device {
    let device = app.device(&world.anyone(), SCOPE).await;
    device.decide(user, decision).await;
    device
}

/// The tokens of a device that the user allowed.
async fn tokens(world: &World, app: &App, user: &User) -> Tokens {
    let device = decided(world, app, user, "allow").await;
    Tokens::parse(device.poll(&world.anyone()).await)
}

async fn a_device_gets_tokens_once_its_user_allows_it(world: World) {
    let (anyone, admin) = (world.anyone(), world.user_with_role("admin").await);
    for kind in ["native", "web"] {
        let user = world.user().await;
        let app = world.app().kind(kind).option(&["--device"]).register();
        let device = app.device(&anyone, "openid posts:read").await;
        assert_eq!(device.reply.header("cache-control"), "no-store");
        let body = device.reply.json();
        assert_eq!((&body["expires_in"], &body["interval"]), (&json!(600), &json!(5)));
        assert_eq!(
            body["verification_uri"],
            json!(format!("{}/device", world.base()))
        );
        assert_eq!(
            device.complete_uri,
            format!("{}/device?user_code={}", world.base(), device.user_code)
        );
        assert_eq!((device.device_code.len(), device.user_code.len()), (43, 9));
        let pending = device.poll(&anyone).await;
        pending.expect_token_error(400, "authorization_pending");

        // A signed-out browser comes back to the page after the sign-in, with the code.
        let mut browser = world.browser();
        let sign_in = browser.open(&device.complete_uri).await.location().unwrap();
        assert_eq!(sign_in.path(), "/signin");
        let Err(page) = browser.complete_flow(&device.complete_uri, &user, "allow").await else {
            panic!("the browser left the issuer");
        };
        assert!(
            page.visible_text().contains("Your device is connected"),
            "{}",
            page.reply
        );

        let tokens = Tokens::parse(device.poll(&anyone).await);
        let access = tokens.claims();
        assert_eq!(
            (&access["scope"], &access["sub"]),
            (&json!("openid posts:read"), &json!(user.id.to_string()))
        );
        let id_token = claims(tokens.reply.json()["id_token"].as_str().unwrap());
        assert_eq!(
            (&id_token["aud"], &id_token["amr"]),
            (&json!(app.id), &json!(["pwd"]))
        );
        assert_eq!(
            (&id_token["sid"], &id_token["nonce"]),
            (&Value::Null, &Value::Null)
        );
        assert!(id_token["auth_time"].is_i64(), "{id_token}");
        world.expect_accepted(&tokens.access).await;
        let refreshed = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);

        // The consent is one of the user's connected apps, and an event.
        let grants = user.get("/me/grants").await.expect(200).json();
        assert_eq!(grants["items"][0]["id"], json!(app.id), "{grants}");
        let events = format!("/admin/events?user_id={}&name=authz_consent", user.id);
        let events = admin.get(&events).await.expect(200).json();
        assert_eq!(events["items"][0]["outcome"], "success", "{events}");

        // A device code works once. A copy ends what the first use began.
        let replay = device.poll(&anyone).await;
        replay.expect_token_error(400, "invalid_grant");
        refreshed.expect_revoked(&world, &app).await;
        let reuse = format!("/admin/events?user_id={}&name=authn_code_reuse", user.id);
        let reuse = admin.get(&reuse).await.expect(200).json();
        assert_eq!(reuse["items"][0]["detail"], "device code", "{reuse}");
    }
}

async fn a_denied_device_gets_nothing(world: World) {
    let (user, app) = user_and_app(&world).await;
    let device = decided(&world, &app, &user, "deny").await;
    for _ in 0..2 {
        let reply = device.poll(&world.anyone()).await;
        reply.expect_token_error(400, "access_denied");
    }
    let page = user.browser().enter_user_code(&device.user_code).await;
    assert_eq!(page.reply.status, 422, "{}", page.reply);
    assert_eq!(
        user.get("/me/grants").await.expect(200).json()["items"],
        json!([])
    );
    let admin = world.user_with_role("admin").await;
    let events = admin.get("/admin/events?name=authz_consent");
    assert_eq!(events.await.expect(200).json()["items"][0]["outcome"], "failure");
}

/// A copy of the database reveals no code, also not to somebody who tries all user codes.
async fn codes_are_neither_stored_nor_logged(world: World) {
    let (user, app) = user_and_app(&world).await;
    let device = app.device(&world.anyone(), SCOPE).await;
    device.poll(&world.anyone()).await.expect(400);
    let mut browser = user.browser();
    browser.open(&device.complete_uri).await;
    browser.enter_user_code(&device.user_code).await;
    let letters = device.user_code.replace('-', "");
    let hash = |text: &str| -> String {
        let hash = foundation::secret::hash(text);
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let (hashes, dump, log) = (
        [hash(&letters), hash(&device.user_code)],
        world.dump(),
        world.log(),
    );
    for text in [&dump, &log] {
        for code in [&device.device_code, &device.user_code, &letters] {
            assert!(!text.contains(code), "a code is stored or logged");
        }
    }
    assert!(hashes.iter().all(|hash| !dump.contains(hash)));
}

async fn tokens_of_a_device_are_bound_to_its_key(world: SharedWorld) {
    let (user, key, anyone) = (world.user().await, ProofKey::default(), world.anyone());
    let app = world
        .app()
        .kind("native")
        .option(&["--device", "--dpop-bound"])
        .register();
    let device = decided(&world, &app, &user, "allow").await;
    device
        .poll(&anyone)
        .await
        .expect_token_error(400, "invalid_dpop_proof");
    let request = Proven::new("POST", &format!("{}/token", world.base()));
    let tokens = key.tokens(&request, || device.poll(&anyone)).await;
    let other = ProofKey::default();
    let stolen = other
        .send(&request, || app.refresh(&anyone, &tokens.refresh))
        .await;
    stolen.expect_token_error(400, "invalid_grant");
    key.tokens(&request, || app.refresh(&anyone, &tokens.refresh))
        .await;
}

/// A page of the issuer that the browser must show first keeps the code.
async fn an_initial_password_is_changed_before_a_decision(world: SharedWorld) {
    let app = native(&world);
    let device = app.device(&world.anyone(), SCOPE).await;
    let email = world.fresh_email();
    let made = world.cli(&["users", "create", "--email", &email, "--json"], "");
    let initial = made["initial_password"].as_str().unwrap();
    let mut browser = world.browser();
    let sign_in = browser.open(&device.complete_uri).await.location().unwrap();
    let page = browser.open(sign_in.as_str()).await;
    let page = browser
        .submit(&page, &[("email", &email), ("password", initial)])
        .await;
    let back = page.location().unwrap();
    assert_eq!(
        (back.path(), parameter(&back, "user_code").as_deref()),
        ("/device", Some(&*device.user_code))
    );
    let change = browser.open(back.as_str()).await.location().unwrap();
    assert_eq!(change.path(), "/password");
    let page = browser.open(change.as_str()).await;
    let page = browser.submit(&page, &[("new_password", tests::PASSWORD)]).await;
    let page = browser.open(page.location().unwrap().as_str()).await;
    let page = browser
        .submit(&page, &[("email", &email), ("password", tests::PASSWORD)])
        .await;
    let page = browser.open(page.location().unwrap().as_str()).await;
    assert!(
        page.asks_for("user_code") && page.reply.text().contains(&device.user_code),
        "{}",
        page.reply
    );
}

async fn an_installation_without_devices_says_so(shape: Shape) {
    let world = World::builder(shape)
        .flag("--device-authorization", "off")
        .start()
        .await;
    let (anyone, app) = (world.anyone(), native(&world));
    app.poll(&anyone, "x")
        .await
        .expect_token_error(400, "unsupported_grant_type");
    for path in ["/device", "/device_authorization", "/device/confirmation"] {
        anyone.get(path).await.expect_error(404, "not_found");
        anyone
            .post(path)
            .form(&[("client_id", &app.id)])
            .await
            .expect_error(404, "not_found");
    }
    let metadata = anyone.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(metadata["device_authorization_endpoint"], Value::Null);
    assert_eq!(metadata["grant_types_supported"].as_array().unwrap().len(), 3);
}

/// A user who finds somebody else signed in can use another account, and goes on with the code.
async fn another_account_can_be_used_for_a_device(world: SharedWorld) {
    let (alice, app) = user_and_app(&world).await;
    let (bob, device) = (world.user().await, app.device(&world.anyone(), SCOPE).await);
    let mut browser = alice.browser();
    let page = browser.enter_user_code(&device.user_code).await;
    assert!(page.visible_text().contains(&alice.email), "{}", page.reply);
    let not_you = page.links().into_iter().find(|link| link.path() == "/signin");
    let form = browser.open(not_you.unwrap().as_str()).await;
    let fields = [("email", bob.email.as_str()), ("password", &bob.password)];
    let signed_in = browser.submit(&form, &fields).await;
    let page = follow(&mut browser, signed_in.location().unwrap().as_str()).await;
    let csrf = page.hidden("csrf").unwrap();
    let page = browser.submit(&page, &[("csrf", &csrf)]).await;
    let words = page.visible_text();
    for expected in [&bob.email, &device.user_code] {
        assert!(words.contains(expected), "{expected} is not on the page: {words}");
    }
    browser.submit(&page, &[("decision", "allow")]).await;
    let tokens = Tokens::parse(device.poll(&world.anyone()).await);
    assert_eq!(tokens.claims()["sub"], bob.id.to_string());
}

on_every_shape!(
    another_account_can_be_used_for_a_device,
    a_device_gets_tokens_once_its_user_allows_it,
    a_denied_device_gets_nothing,
    codes_are_neither_stored_nor_logged,
    tokens_of_a_device_are_bound_to_its_key,
    an_initial_password_is_changed_before_a_decision,
    an_installation_without_devices_says_so,
);
