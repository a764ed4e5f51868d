//! The events that end the request of a device, and its tokens.

use super::{SCOPE, decided, native, tokens, user_and_app};
use serde_json::json;
use tests::{App, Device, PASSWORD, Shape, SharedWorld, Tokens, User, World, eventually, on_every_shape};

/// A user of an app, with a device that waits, one that was allowed, and one that has tokens.
struct Fixture {
    user: User,
    app: App,
    waiting: Device,
    allowed: Device,
    tokens: Tokens,
}

impl Fixture {
    async fn create(world: &World) -> Self {
        let (user, app) = user_and_app(world).await;
        Self {
            waiting: app.device(&world.anyone(), SCOPE).await,
            allowed: decided(world, &app, &user, "allow").await,
            tokens: tokens(world, &app, &user).await,
            user,
            app,
        }
    }

    /// Expects that neither the tokens nor the allowed request are good for anything.
    async fn expect_ended(&self, world: &World, status: u16, error: &str) {
        world.expect_revoked_soon(&self.tokens.access).await;
        for issuer in world.at_each_issuer(&world.anyone()) {
            // Each issuer keeps a client in memory for a second.
            eventually("the allowed request has not ended", async || {
                self.allowed.poll(&issuer).await.status == status
            })
            .await;
            self.allowed.poll(&issuer).await.expect_token_error(status, error);
        }
        let refresh = self.app.refresh(&world.anyone(), &self.tokens.refresh).await;
        refresh.expect_token_error(status, error);
    }
}

async fn a_change_of_the_password_ends_everything(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    let mut browser = fixture.user.browser();
    let page = browser.enter_user_code(&fixture.waiting.user_code).await;
    let change = json!({ "current_password": PASSWORD, "new_password": "another good password" });
    fixture
        .user
        .call("PUT", "/me/password")
        .json(&change)
        .await
        .expect(204);
    fixture.expect_ended(&world, 400, "invalid_grant").await;
    let decided = browser.submit(&page, &[("decision", "allow")]).await;
    assert_eq!(decided.location().unwrap().path(), "/signin", "{}", decided.reply);
    // Another session of the user, or another user, may still allow the device that waits.
    fixture
        .waiting
        .decide(
            &world.log_in(&fixture.user.email, "another good password").await,
            "allow",
        )
        .await;
    Tokens::parse(fixture.waiting.poll(&world.anyone()).await);
}

async fn a_disabled_user_has_no_device(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    let email = &fixture.user.email;
    world.cli(&["users", "disable", "--email", email, "--json"], "");
    fixture.expect_ended(&world, 400, "invalid_grant").await;
    world.cli(&["users", "enable", "--email", email, "--json"], "");
    fixture.expect_ended(&world, 400, "invalid_grant").await;
}

async fn a_revoked_consent_ends_the_devices_of_the_app(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    let path = format!("/me/grants/{}", fixture.app.id);
    fixture.user.delete(&path).await.expect(204);
    fixture.expect_ended(&world, 400, "invalid_grant").await;
    fixture.waiting.decide(&fixture.user, "allow").await;
    Tokens::parse(fixture.waiting.poll(&world.anyone()).await);
    // The consent is another one now.
    fixture
        .allowed
        .poll(&world.anyone())
        .await
        .expect_token_error(400, "invalid_grant");
}

async fn a_disabled_client_has_no_device(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    let mut browser = fixture.user.browser();
    let page = browser.enter_user_code(&fixture.waiting.user_code).await;
    world.cli(&["clients", "disable", &fixture.app.id, "--json"], "");
    fixture.expect_ended(&world, 401, "invalid_client").await;
    let decided = browser.submit(&page, &[("decision", "allow")]).await;
    assert_eq!(decided.reply.status, 400, "{}", decided.reply);
    world.cli(&["clients", "enable", &fixture.app.id, "--json"], "");
    fixture.expect_ended(&world, 400, "invalid_grant").await;
    let again = browser.enter_user_code(&fixture.waiting.user_code).await;
    assert_eq!(again.reply.status, 422, "{}", again.reply);
    fixture
        .waiting
        .poll(&world.anyone())
        .await
        .expect_token_error(400, "invalid_grant");
}

async fn a_smaller_scope_ends_the_devices_of_the_app(world: SharedWorld) {
    let fixture = Fixture::create(&world).await;
    world.cli(
        &[
            "clients",
            "update",
            &fixture.app.id,
            "--scope",
            "posts:read",
            "--json",
        ],
        "",
    );
    fixture.expect_ended(&world, 400, "invalid_grant").await;
    let page = fixture
        .user
        .browser()
        .enter_user_code(&fixture.waiting.user_code)
        .await;
    assert_eq!(page.reply.status, 422, "{}", page.reply);
}

/// The session of the browser is not the device's, also if the app belongs to the operator.
async fn a_device_keeps_its_tokens_when_the_browser_signs_out(world: SharedWorld) {
    let app = world
        .app()
        .kind("native")
        .option(&["--device"])
        .first_party()
        .register();
    let user = world.user().await;
    let (allowed, had) = (
        decided(&world, &app, &user, "allow").await,
        tokens(&world, &app, &user).await,
    );
    user.post("/logout").await.expect(204);
    let after = Tokens::parse(allowed.poll(&world.anyone()).await);
    for tokens in [had, after] {
        world.expect_accepted(&tokens.access).await;
        Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
    }
    let again = world.log_in(&user.email, PASSWORD).await;
    again.delete(&format!("/me/grants/{}", app.id)).await.expect(204);
}

async fn a_user_has_a_bounded_number_of_devices(shape: Shape) {
    let world = World::builder(shape)
        .flag("--max-refresh-families", "3")
        .start()
        .await;
    let (user, app) = user_and_app(&world).await;
    let other = tokens(&world, &native(&world), &user).await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(tokens(&world, &app, &user).await);
    }
    all[0].expect_revoked(&world, &app).await;
    for live in all[1..].iter().chain([&other]) {
        world.expect_accepted(&live.access).await;
    }
}

on_every_shape!(
    a_change_of_the_password_ends_everything,
    a_disabled_user_has_no_device,
    a_revoked_consent_ends_the_devices_of_the_app,
    a_disabled_client_has_no_device,
    a_smaller_scope_ends_the_devices_of_the_app,
    a_device_keeps_its_tokens_when_the_browser_signs_out,
    a_user_has_a_bounded_number_of_devices,
);
