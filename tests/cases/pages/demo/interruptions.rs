//! Sessions of the demo app that are interrupted: by a rotation of the signing keys, a sleep of the computer, a
//! lost network, and an end elsewhere.

use super::{Demo, MOVE_CLOCK, NO_SESSION};
use crate::oauth::signing_keys::{STAGING_TIME, rotate};
use serde_json::json;
use std::time::Duration;
use tests::{PASSWORD, SUBMIT, Shape, SharedWorld, World, eventually, on_shapes};

/// Longer than an access token lives. Twice this time is shorter than a session lives.
const SLEEP: Duration = Duration::from_secs(20 * 60);
/// Keeps the `kid` of the newest access token.
const KEEP_KID: &str = "
    const send = window.fetch;
    window.fetch = async request => {
        const response = await send(request);
        if (request.url.endsWith('/token')) {
            const { access_token: token } = await response.clone().json();
            const header = token.split('.')[0].replace(/-/g, '+').replace(/_/g, '/');
            window.kid = JSON.parse(atob(header)).kid;
        }
        return response;
    };
";
/// Loses the calls of the token endpoint at this path, as without a network, while `isLost` is set.
const LOSE_TOKENS: &str = "
    {
        const send = window.fetch;
        window.isLost = location.pathname === '/demo/PATH';
        window.fetch = request => {
            const isLost = window.isLost && request.url.endsWith('/token');
            return isLost ? Promise.reject(new TypeError('lost')) : send(request);
        };
    }
";
/// Gives the network back, and tells the page so.
const COME_ONLINE: &str = "window.isLost = false; dispatchEvent(new Event('online'))";

impl Demo<'_> {
    /// Rotates the signing keys. The page gets a token of the new key, which the API accepts.
    async fn rotate_keys(&self, post: i64) {
        self.world.advance(STAGING_TIME);
        let kid = json!(rotate(self.world));
        self.chromium.run(KEEP_KID, &[]).await;
        eventually("another key signs", async || {
            self.renew().await;
            self.chromium.run("return window.kid", &[]).await == kid
        })
        .await;
        self.comment_on(post).await;
    }

    /// The time goes on for the server and the page.
    async fn move_clocks(&self) {
        self.world.advance(SLEEP);
        let length = u32::try_from(SLEEP.as_millis()).unwrap();
        self.chromium.run(MOVE_CLOCK, &[json!(length)]).await;
    }

    /// The computer sleeps. No event tells the page, which renews its expired token within half a minute.
    async fn sleep(&self) {
        let former = self.token().await;
        self.move_clocks().await;
        self.expect_renewed(&former).await;
    }

    /// The network is lost until the token has expired. The page renews it when the network is back.
    async fn lose_network(&self) {
        let former = self.token().await;
        self.chromium.be_offline(true).await;
        self.chromium
            .submit(&[], "#renew", "Try again: the session continues.")
            .await;
        self.move_clocks().await;
        assert_eq!(self.token().await, former);
        self.chromium.be_offline(false).await;
        self.expect_renewed(&former).await;
    }
}

async fn a_session_outlives_a_key_rotation_a_sleep_and_a_lost_network(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let user = world.user().await;
    let demo = Demo::start(&world, &user).await;
    demo.sign_in().await;
    let post = demo.write_post().await;
    demo.rotate_keys(post).await;
    demo.sleep().await;
    demo.pay().await;
    demo.expect_refused(&[("/token", 400)]).await;
    demo.chromium.expect_no_trace(&[], 200).await;
    demo.lose_network().await;
    let console = demo.chromium.console().await;
    let is_lost = |message: &String| message.contains("net::ERR_INTERNET_DISCONNECTED");
    assert!(console.iter().all(is_lost), "{console:?}");
    demo.sign_out().await;
    demo.expect_no_token_in_history().await;
    demo.chromium.expect_no_trace(&[], 200).await;
}

async fn the_page_says_why_its_session_ended_elsewhere(world: SharedWorld) {
    let user = world.user().await;
    let demo = Demo::start(&world, &user).await;
    demo.sign_in().await;
    let elsewhere = world.log_in(&user.email, PASSWORD).await;
    let body = json!({ "current_password": PASSWORD, "new_password": "another good password" });
    let change = elsewhere.call("PUT", "/me/password").json(&body);
    change.await.expect(204);
    demo.open().await;
    let ended = "You are not signed in (invalid_grant): the refresh token was revoked at ";
    demo.chromium.expect(ended).await;
    let source = demo.chromium.source().await;
    assert!(source.contains(": the user changed the password"), "{source}");
}

/// The page starts when the network is back, or when the user asks for it. A code is never sent twice.
async fn a_lost_start_is_repeated_and_a_lost_sign_in_is_not(world: SharedWorld) {
    let user = world.user().await;
    let demo = Demo::start(&world, &user).await;
    let chromium = &demo.chromium;
    let lose_exchange = chromium
        .add_script(&LOSE_TOKENS.replace("PATH", "callback"))
        .await;
    demo.open().await;
    chromium.expect(NO_SESSION).await;
    chromium.submit(&[], "#sign-in", "id=\"password\"").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    let lost = "The answer to the sign-in was lost. It cannot be repeated.";
    chromium.submit(&fields, SUBMIT, lost).await;
    let source = chromium.source().await;
    assert!(
        source.contains("Sign in again.") && !source.contains("start-again"),
        "{source}"
    );
    chromium.remove_script(&lose_exchange).await;
    chromium.submit(&[], "#sign-in", "\"jti\"").await;
    demo.expect_user().await;
    chromium.add_script(&LOSE_TOKENS.replace("/PATH", "")).await;
    for comes_online in [true, false] {
        demo.open().await;
        chromium.expect("Try again: the session continues.").await;
        match comes_online {
            true => drop(chromium.run(COME_ONLINE, &[]).await),
            false => {
                chromium.run("window.isLost = false", &[]).await;
                chromium.press("#start-again").await;
            }
        }
        demo.expect_user().await;
    }
}

on_shapes!(a_lost_start_is_repeated_and_a_lost_sign_in_is_not: sqlite Sqlite);
on_shapes!(a_session_outlives_a_key_rotation_a_sleep_and_a_lost_network: ; long: sqlite Sqlite);
on_shapes!(the_page_says_why_its_session_ended_elsewhere: ; long: sqlite Sqlite);
