//! Hints of a session that the user renewed by another sign-in. The session keeps its `sid` claim and lives
//! as long as a new one. An ID token that was issued before the renewal serves as a hint until `SESSION_MAX`
//! after its key was retired. The app has newer ID tokens by then.

use super::super::super::signing_keys::{RETIREMENT_TIME, STAGING_TIME, key_in_state};
use super::super::{id_token, sign_in, verify};
use super::{app_with_logout, expect_no_hint, retire_first_key, sign_out_path};
use jsonwebtoken::decode_header;
use std::time::Duration;
use tests::{App, Browser, Caller, PASSWORD, Shape, Tokens, User, World, on_every_shape, parameter};

const SESSION_MAX: Duration = Duration::from_secs(3600);
const MINUTE: Duration = Duration::from_secs(60);

/// A session, and the ID tokens of the sign-ins that began and renewed it.
struct Session {
    user: User,
    browser: Browser,
    first: String,
    renewed: String,
}

impl Session {
    async fn begin(world: &World, app: &App) -> Self {
        let user = world.user().await;
        let user = world.log_in(&user.email, PASSWORD).await;
        let mut browser = user.browser();
        let first = id_token(&sign_in(app, &mut browser, &user, "openid").await);
        Self {
            user,
            browser,
            first,
            renewed: String::new(),
        }
    }

    /// Signs in again in the same browser. Expects an ID token of the same session, which the present key
    /// signed.
    async fn renew(&mut self, world: &World, app: &App) {
        let request = app.authorization().set("scope", "openid").set("prompt", "login");
        let grant = request.allow(&mut self.browser, &self.user).await;
        let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
        self.renewed = id_token(&tokens);
        let kid = decode_header(&self.renewed).unwrap().kid;
        assert_eq!(kid, Some(key_in_state(world, "active")));
        let (before, after) = (
            tests::claims(&self.first),
            verify(world, &self.renewed, "JWT", &app.id).await,
        );
        assert_eq!(after["sid"], before["sid"]);
        let time = |claims: &serde_json::Value| claims["auth_time"].as_i64().unwrap();
        assert!(time(&after) > time(&before), "{before} {after}");
    }

    /// A caller with the present cookie of the session.
    fn caller(&self, world: &World) -> Caller {
        let sid = self.browser.cookie("sid").unwrap();
        world.anyone().session(sid, &self.user.csrf)
    }

    /// Expects that the ID token names this session: `/authorize` accepts it, and `/signout` ends the session
    /// at once.
    async fn expect_hint(&mut self, world: &World, app: &App, id_token: &str) {
        let caller = self.caller(world);
        caller.get("/me").await.expect(200);
        let silent = app.authorization().set("scope", "openid").set("prompt", "none");
        let silent = silent.set("id_token_hint", id_token);
        let redirect = self.browser.open(&silent.path()).await.location().unwrap();
        assert!(parameter(&redirect, "code").is_some(), "{redirect}");
        let page = self.browser.open(&sign_out_path(id_token)).await;
        assert_eq!(page.reply.expect(303).header("location"), "https://app.test/bye");
        caller.get("/me").await.expect_error(401, "unauthenticated");
    }
}

async fn the_first_hint_of_a_renewed_session_lives_on_after_its_key(shape: Shape) {
    let setup = World::builder(shape).clock().flag("--session-max", "1h");
    let world = setup.flag("--session-idle", "1h").start().await;
    let app = app_with_logout(&world);
    let mut ann = Session::begin(&world, &app).await;
    let mut ben = Session::begin(&world, &app).await;
    retire_first_key(&world).await;
    world.advance(SESSION_MAX - STAGING_TIME - RETIREMENT_TIME - MINUTE);
    ann.renew(&world, &app).await;
    ben.renew(&world, &app).await;
    // The sessions would have ended if they were not renewed.
    world.advance(2 * MINUTE);
    let first = ann.first.clone();
    ann.expect_hint(&world, &app, &first).await;
    // The key was retired when the time of its staging was over.
    world.advance(STAGING_TIME - MINUTE);
    expect_no_hint(&world, &app, &ben.user, &ben.first).await;
    let renewed = ben.renewed.clone();
    ben.expect_hint(&world, &app, &renewed).await;
}

on_every_shape!(the_first_hint_of_a_renewed_session_lives_on_after_its_key);
