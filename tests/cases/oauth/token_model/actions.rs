//! The effects of the steps of a sequence, each on the product and on the model.

use super::model::{Family, Model, RETRY_WINDOW, Verdict};
use super::sequence::{Action, FIRST_PARTY, WITH_RETRY_WINDOW};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tests::{App, Caller, Reply, Tokens, User, World};

const SCOPE: &str = "posts:read profile:read";

/// The steps that must have an effect in some sequence.
pub(super) const RARE_EFFECTS: [&str; 5] = [
    "rotation of the keys",
    "reuse without a window",
    "retry in the window",
    "retry after the window",
    "logout from an app of the operator",
];

/// The user and the apps of a sequence.
pub(super) struct Actors {
    user: User,
    apps: Vec<App>,
    /// A client that only introspects.
    server: App,
    /// The sessions, until they end.
    sessions: Vec<Option<User>>,
    user_is_disabled: bool,
    /// The numbers of the disabled apps.
    disabled_apps: BTreeSet<usize>,
    /// The steps that had an effect, by name.
    pub(super) effects: BTreeSet<&'static str>,
}

impl Actors {
    pub(super) async fn create(world: &World) -> Self {
        let window = format!("{}s", RETRY_WINDOW.as_secs());
        let app = || world.app().kind("web");
        Self {
            user: world.user().await,
            apps: vec![
                app().register(),
                app().first_party().register(),
                app().option(&["--refresh-retry-window", &window]).register(),
            ],
            server: app().register(),
            sessions: Vec::new(),
            user_is_disabled: false,
            disabled_apps: BTreeSet::new(),
            effects: BTreeSet::new(),
        }
    }

    /// The answer of introspection. A refresh token is introspected by its own client, which gets none while
    /// it is disabled.
    pub(super) async fn is_active(&self, issuer: &Caller, app: Option<usize>, token: &str) -> bool {
        let client = app.map_or(&self.server, |app| &self.apps[app]);
        let reply = client
            .client_call(issuer, "/introspect", &[("token", token)])
            .await;
        if let Some(app) = app.filter(|app| self.disabled_apps.contains(app)) {
            self.expect_refused(app, reply);
            return false;
        }
        reply.expect(200).json()["active"] == true
    }

    pub(super) async fn act(&mut self, world: &World, model: &mut Model, action: Action) {
        // The newest family is number 0 of those to pick from.
        let family = |pick: usize| model.families.len() - 1 - pick % model.families.len();
        match action {
            // These begin with a sign-in.
            Action::Grant(_) | Action::Disconnect(_) | Action::ChangePassword if self.user_is_disabled => {}
            Action::Grant(app) => {
                let session = self.sign_in(world).await;
                self.grant(world, model, app, session).await;
            }
            Action::GrantInSessionOf(app, pick) => {
                let session = model.families[family(pick)].session;
                self.grant(world, model, app, session).await;
            }
            Action::Refresh(pick) => self.refresh(world, model, family(pick), SCOPE).await,
            Action::RefreshNarrowed(pick) => self.refresh(world, model, family(pick), "posts:read").await,
            Action::Retry(pick) => {
                let used = model.numbers_of(|family| model.is_retry(family, world.now()));
                if let Some(number) = used.iter().rev().nth(pick % used.len().max(1)) {
                    self.retry(world, model, *number).await;
                }
            }
            Action::RevokeRefreshToken(pick) => {
                let number = family(pick);
                let family = &model.families[number];
                self.revoke(world, family.app, family.refresh_tokens.last().unwrap())
                    .await;
                model.end_families(|family| family.number == number);
            }
            Action::RevokeLatestAccessToken => {
                let app = model.app_of_latest_access_token().unwrap();
                let token = model.end_latest_access_token().unwrap();
                self.revoke(world, app, &token).await;
            }
            Action::Logout(pick) => {
                let live = model.numbers_of(|family| self.sessions[family.session].is_some());
                if let Some(number) = live.iter().rev().nth(pick % live.len().max(1)) {
                    self.log_out(world, model, model.families[*number].session).await;
                }
            }
            Action::Disconnect(app) => self.disconnect(world, model, app).await,
            Action::ChangePassword => self.change_password(world, model).await,
            Action::DisableUser => {
                self.set_user(world, "disable");
                self.sessions.iter_mut().for_each(|session| *session = None);
                model.end_families(|_| true);
            }
            Action::DisableApp(app) => {
                self.set_app(world, app, "disable").await;
                model.end_families(|family| family.app == app);
            }
            Action::Enable => {
                if self.user_is_disabled {
                    self.set_user(world, "enable");
                }
                for app in self.disabled_apps.clone() {
                    self.set_app(world, app, "enable").await;
                }
            }
            Action::RotateSecret(app) => {
                let id = &self.apps[app].id;
                let rotated = world.cli(&["clients", "rotate-secret", "--json", id, "--overlap", "0s"], "");
                self.apps[app].secret = rotated["client_secret"].as_str().map(str::to_owned);
                self.wait_until_known(world, app).await;
            }
            Action::RotateKey => {
                let rotation = world.run(&["keys", "rotate", "--yes", "--json"], "");
                let message = String::from_utf8_lossy(&rotation.stderr);
                // Refused while no key is staged, or the staged key is too young.
                let is_refused = message.contains("staged");
                assert!(rotation.status.success() || is_refused, "{rotation:?}");
                if rotation.status.success() {
                    self.effects.insert("rotation of the keys");
                    let change: Value = serde_json::from_slice(&rotation.stdout).unwrap();
                    wait_until_rotated(world, change["staged"].as_str().unwrap()).await;
                }
            }
            Action::Advance(length) => {
                world.advance(length);
                // Sessions live for an hour without use.
                if length > Duration::from_secs(600) {
                    self.sessions.iter_mut().for_each(|session| *session = None);
                }
            }
        }
    }

    /// Disables or enables the user.
    fn set_user(&mut self, world: &World, command: &str) {
        world.cli(&["users", command, "--json", "--email", &self.user.email], "");
        self.user_is_disabled = command == "disable";
    }

    /// Disables or enables an app.
    async fn set_app(&mut self, world: &World, app: usize, command: &str) {
        world.cli(&["clients", command, "--json", &self.apps[app].id], "");
        match command {
            "disable" => self.disabled_apps.insert(app),
            _ => self.disabled_apps.remove(&app),
        };
        self.wait_until_known(world, app).await;
    }

    /// Waits until each issuer authenticates the app with its current secret, or refuses it if it is
    /// disabled.
    async fn wait_until_known(&self, world: &World, app: usize) {
        let (client, is_disabled) = (&self.apps[app], self.disabled_apps.contains(&app));
        for issuer in world.at_each_issuer(&world.anyone()) {
            tests::eventually("an issuer does not know the client as it is", async || {
                let call = client.client_call(&issuer, "/introspect", &[("token", "x")]);
                call.await.status == if is_disabled { 401 } else { 200 }
            })
            .await;
        }
    }

    /// Expects the refusal of a token by the token endpoint, or of its app if that is disabled.
    #[track_caller]
    fn expect_refused(&self, app: usize, reply: Reply) {
        match self.disabled_apps.contains(&app) {
            true => reply.expect_token_error(401, "invalid_client"),
            false => reply.expect_token_error(400, "invalid_grant"),
        };
    }

    async fn sign_in(&mut self, world: &World) -> usize {
        let session = world.log_in(&self.user.email, &self.user.password).await;
        self.sessions.push(Some(session));
        self.sessions.len() - 1
    }

    /// Grants access in a session, if it is still there. A disabled app gets no code.
    async fn grant(&self, world: &World, model: &mut Model, app: usize, session: usize) {
        let Some(user) = &self.sessions[session] else {
            return;
        };
        if self.disabled_apps.contains(&app) {
            self.apps[app].authorization().expect_error_page(world).await;
            return;
        }
        let tokens = self.apps[app].tokens(user, SCOPE).await;
        let family = model.begin(app, session, tokens.refresh, world.now());
        model.issue(family, tokens.access, world.now());
    }

    async fn refresh(&self, world: &World, model: &mut Model, number: usize, scope: &str) {
        let family = &model.families[number];
        let verdict = model.verdict_on_refresh(family, world.now());
        let reply = self
            .use_refresh_token(world, family.app, family.refresh_tokens.last().unwrap(), scope)
            .await;
        match verdict {
            Verdict::Live => accept(world, model, number, reply),
            Verdict::Dead => self.expect_refused(family.app, reply),
            Verdict::Unknown if reply.status == 200 => accept(world, model, number, reply),
            Verdict::Unknown => {}
        }
    }

    async fn retry(&mut self, world: &World, model: &mut Model, number: usize) {
        let family = &model.families[number];
        let [.., former, current] = family.refresh_tokens.as_slice() else {
            return;
        };
        let Some(is_in_window) = model.may_retry(family, world.now()) else {
            return;
        };
        let (is_live, has_window) = (
            model.verdict_on_refresh(family, world.now()) == Verdict::Live,
            family.app == WITH_RETRY_WINDOW,
        );
        let reply = self.use_refresh_token(world, family.app, former, SCOPE).await;
        if is_live {
            self.effects.insert(match (has_window, is_in_window) {
                (false, _) => "reuse without a window",
                (true, true) => "retry in the window",
                (true, false) => "retry after the window",
            });
        }
        if is_live && is_in_window && has_window {
            let tokens = Tokens::parse(reply);
            assert_eq!(tokens.refresh, *current, "another successor");
            model.issue(number, tokens.access, world.now());
        } else {
            self.expect_refused(family.app, reply);
            model.end_families(|family| family.number == number);
        }
    }

    async fn use_refresh_token(&self, world: &World, app: usize, token: &str, scope: &str) -> Reply {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token),
            ("scope", scope),
        ];
        self.apps[app].token(&world.anyone(), &fields).await
    }

    async fn revoke(&self, world: &World, app: usize, token: &str) {
        let call = self.apps[app].client_call(&world.anyone(), "/revoke", &[("token", token)]);
        let reply = call.await;
        match self.disabled_apps.contains(&app) {
            true => self.expect_refused(app, reply),
            false => drop(reply.expect(200)),
        }
    }

    async fn log_out(&mut self, world: &World, model: &mut Model, session: usize) {
        if let Some(user) = self.sessions[session].take() {
            user.post("/logout").await.expect(204);
            let ends = |family: &Family| family.session == session && family.app == FIRST_PARTY;
            if !model
                .numbers_of(|family| ends(family) && model.is_live(family, world.now()))
                .is_empty()
            {
                self.effects.insert("logout from an app of the operator");
            }
            model.end_families(ends);
        }
    }

    async fn disconnect(&mut self, world: &World, model: &mut Model, app: usize) {
        let session = self.sign_in(world).await;
        let user = self.sessions[session].as_ref().unwrap();
        let reply = user.delete(&format!("/me/grants/{}", self.apps[app].id)).await;
        // 404 if the app is disconnected already.
        assert!([204, 404].contains(&reply.status), "{reply}");
        if reply.status == 204 {
            model.end_families(|family| family.app == app);
        }
    }

    async fn change_password(&mut self, world: &World, model: &mut Model) {
        let session = self.sign_in(world).await;
        let user = self.sessions[session].as_ref().unwrap();
        let new = format!("correct horse {}", foundation::random::id());
        let body = json!({ "current_password": self.user.password, "new_password": new });
        user.call("PUT", "/me/password").json(&body).await.expect(204);
        self.user.password = new;
        self.sessions.iter_mut().for_each(|session| *session = None);
        model.end_families(|_| true);
    }
}

/// Waits until each issuer publishes the key that a rotation staged, and so signs with the one that it made
/// active. Then the clock may advance by more than the time for which the former key is published.
async fn wait_until_rotated(world: &World, staged: &str) {
    for issuer in world.at_each_issuer(&world.anyone()) {
        tests::eventually(
            "an issuer does not know the keys after the rotation",
            async || {
                let jwks = issuer.get("/.well-known/jwks.json").await.json();
                let keys = jwks["keys"].as_array().unwrap();
                keys.iter().any(|key| key["kid"] == staged)
            },
        )
        .await;
    }
}

fn accept(world: &World, model: &mut Model, family: usize, reply: Reply) {
    let tokens = Tokens::parse(reply);
    model.rotate(family, tokens.refresh, world.now());
    model.issue(family, tokens.access, world.now());
}
