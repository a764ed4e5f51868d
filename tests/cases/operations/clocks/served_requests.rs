//! A process whose clock differs still ends sessions, tokens, accounts, clients and keys: whoever lost one
//! cannot wait for the repair of the clock.

use super::{MINUTE, expect_noticed, is_ready};
use serde_json::json;
use std::time::Duration;
use storage::fetch_all;
use tests::{App, PASSWORD, Reply, Shape, Tokens, User, World, eventually, on_postgresql};

const DIFFERENCE: Duration = Duration::from_secs(61 * 60);

/// A deployment, and what is lost or kept in it.
struct Case {
    world: World,
    admin: User,
    app: App,
    server: App,
    kept: (User, Tokens),
    lost: Tokens,
    stolen: Tokens,
}

impl Case {
    async fn begin(shape: Shape) -> Self {
        let world = World::builder(shape).clock().start().await;
        let kept = world.user().await;
        let app = world.app().register();
        let mut tokens = Vec::new();
        for _ in 0..3 {
            tokens.push(app.tokens(&kept, "posts:read").await);
        }
        let [tokens, lost, stolen] = tokens.try_into().unwrap();
        Self {
            admin: world.user_with_role("admin").await,
            server: world.app().kind("web").register(),
            kept: (kept, tokens),
            world,
            app,
            lost,
            stolen,
        }
    }

    fn set_clock_wrong(&self, is_ahead: bool) {
        match is_ahead {
            true => self.world.advance_programs(DIFFERENCE),
            false => self.world.set_programs_back(DIFFERENCE),
        }
    }

    /// The key in this state.
    fn kid(&self, state: &str) -> String {
        let keys = self.world.cli(&["keys", "list", "--json"], "");
        let mut keys = keys.as_array().unwrap().iter();
        let key = keys.find(|key| key["state"] == state).unwrap();
        key["kid"].as_str().unwrap().to_owned()
    }

    async fn introspect(&self, token: &str) -> Reply {
        let call = self
            .server
            .client_call(&self.world.anyone(), "/introspect", &[("token", token)]);
        call.may_fail().await
    }

    async fn revoke(&self, token: &str) {
        let call = self
            .app
            .client_call(&self.world.anyone(), "/revoke", &[("token", token)]);
        call.await.expect(200);
    }

    async fn expect_grants_refused(&self) {
        let anyone = self.world.anyone();
        let (user, tokens) = &self.kept;
        let credentials = json!({ "email": user.email, "password": PASSWORD });
        let active = format!("/admin/keys/{}/retirements", self.kid("active"));
        for call in [
            self.app.refresh(&anyone, &tokens.refresh),
            anyone.post("/login").json(&credentials),
            anyone.get(&self.app.authorization().path()),
            self.admin.post("/admin/keys/rotations"),
            self.admin.post(&active),
            anyone.bearer(&tokens.access).get("/protected"),
            user.get("/me"),
        ] {
            let refused = call.may_fail().await;
            refused.expect_error(503, "dependency_unavailable");
        }
        let refused = self.introspect(&tokens.access).await;
        refused.expect_error(503, "dependency_unavailable");
        for args in [
            vec!["keys", "rotate", "--yes"],
            vec!["users", "enable", "--email", &user.email],
        ] {
            let refused = self.world.run(&args, "");
            assert!(!refused.status.success(), "{args:?}");
        }
    }

    /// Expects that the page of the keys offers no rotation, and retires the staged key.
    async fn expect_retired_by_form(&self) {
        let staged = self.kid("staged");
        let mut browser = self.admin.browser();
        let page = browser.open("/admin/keys").await;
        let text = page.visible_text();
        assert!(
            text.contains("keys can only be retired as compromised"),
            "{}",
            page.reply
        );
        let form = [("kid", staged.as_str()), ("state", "staged")];
        let retired = browser.submit(&page, &form).await;
        assert_eq!(retired.reply.status, 303, "{}", retired.reply);
        assert_ne!(self.kid("staged"), staged);
    }

    /// Expects that the page of a user or an app offers only what ends access, and disables it.
    async fn expect_disabled_by_form(&self, path: &str) {
        let mut browser = self.admin.browser();
        let page = browser.open(path).await;
        let text = page.visible_text();
        assert!(text.contains("you can only end access here"), "{}", page.reply);
        for other in [
            "value=\"set-password\"",
            "value=\"rotate-secret\"",
            "value=\"unlock\"",
        ] {
            assert!(!page.reply.text().contains(other), "{}", page.reply);
        }
        let action = page.url.join(&format!("{path}/changes")).unwrap();
        for (change, status) in [("enable", 503), ("disable", 303)] {
            let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
            let change = ("change".to_owned(), change.to_owned());
            let fields: Vec<_> = fields.into_iter().chain([change]).collect();
            browser
                .post_call(&action, &fields)
                .may_fail()
                .await
                .expect(status);
        }
    }

    async fn expect_inactive(&self, token: &str) {
        eventually("a token may be active", async || {
            let reply = self.introspect(token).await;
            reply.status == 200 && reply.json()["active"] == false
        })
        .await;
    }

    async fn expect_ended(&self, user: &User) {
        user.get("/me").await.expect_error(401, "unauthenticated");
    }
}

async fn lost_and_stolen_credentials_can_be_ended_while_the_clock_differs(shape: Shape) {
    for is_ahead in [true, false] {
        let case = Case::begin(shape).await;
        let world = &case.world;
        let (leaving, disabled, removed) = (world.user().await, world.user().await, world.user().await);
        let (disabled_by_form, ended_app) = (world.user().await, world.app().kind("web").register());
        let staged = case.kid("staged");
        case.set_clock_wrong(is_ahead);
        expect_noticed(world).await;
        case.expect_grants_refused().await;

        for path in [
            "/.well-known/jwks.json",
            "/.well-known/oauth-authorization-server",
            "/.well-known/openid-configuration",
            "/.well-known/oauth-protected-resource",
            "/csrf",
        ] {
            world.anyone().get(path).await.expect(200);
        }
        case.revoke(&case.lost.access).await;
        case.revoke(&case.stolen.refresh).await;
        for token in [&case.lost.access, &case.stolen.access, "garbage"] {
            case.expect_inactive(token).await;
        }
        leaving.post("/logout").await.expect(204);
        let disablement = format!("/admin/users/{}/disablements", disabled.id);
        case.admin.post(&disablement).await.expect(200);
        world.cli(&["users", "disable", "--email", &removed.email, "--json"], "");
        let change = world.cli(&["keys", "retire", &staged, "--compromised", "--json"], "");
        assert_eq!(change["done"], "discarded");
        case.expect_retired_by_form().await;
        case.expect_disabled_by_form(&format!("/admin/users/{}", disabled_by_form.id))
            .await;
        case.expect_disabled_by_form(&format!("/admin/clients/{}", ended_app.id))
            .await;

        case.set_clock_wrong(!is_ahead);
        eventually("a process does not notice that its clock is right", async || {
            is_ready(world).await
        })
        .await;
        let app = world.cli(&["clients", "show", &ended_app.id, "--json"], "");
        assert!(app["disabled_at"].is_string(), "{app}");
        for user in [&leaving, &disabled, &removed, &disabled_by_form] {
            case.expect_ended(user).await;
        }
        for token in [&case.lost.access, &case.stolen.access] {
            world.expect_revoked(token).await;
        }
        let (user, tokens) = &case.kept;
        user.get("/me").await.expect(200);
        world.expect_accepted(&tokens.access).await;
        case.app
            .refresh(&world.anyone(), &tokens.refresh)
            .await
            .expect(200);
        expect_times_of_database(world).await;
    }
}

/// Expects that no row has a time that the database has not reached, and that revocations are kept for as
/// long as usual.
async fn expect_times_of_database(world: &World) {
    let db = world.db().await;
    let rows = "SELECT revoked_at, expires_at FROM revocations WHERE expires_at IS NOT NULL";
    let rows = fetch_all!(db.reader(), (i64, i64), rows).unwrap();
    assert!(!rows.is_empty());
    let now = world.now().micros();
    // The clock of the test stands still, so that a process takes the time since its last measurement for one
    // by which the clock was set.
    let latest = world.now().after(MINUTE).micros();
    for (revoked_at, expires_at) in rows {
        assert!(
            revoked_at <= latest && expires_at > now,
            "{revoked_at} {expires_at} {now}"
        );
    }
}

/// Each process measures its clock every ten seconds. A clock that is set in between is noticed before the
/// next grant.
async fn a_clock_that_is_set_is_noticed_before_the_next_grant(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    world.advance_programs(MINUTE);
    for issuer in world.at_each_issuer(&world.anyone()) {
        let refused = app.refresh(&issuer, &tokens.refresh).may_fail().await;
        refused.expect_error(503, "dependency_unavailable");
    }
    for api in world.at_each_api(&world.anyone()) {
        let refused = api.bearer(&tokens.access).get("/protected").may_fail().await;
        refused.expect_error(503, "dependency_unavailable");
    }
    assert!(world.log().contains("the clock of this machine differs"));
}

on_postgresql!(
    lost_and_stolen_credentials_can_be_ended_while_the_clock_differs,
    a_clock_that_is_set_is_noticed_before_the_next_grant,
);
