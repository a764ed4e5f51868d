//! The steps of a sequence: each changes the product and the model.

use super::model::{Model, RETRY_WINDOW, Verdict};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;
use std::time::Duration;
use tests::{App, Caller, Reply, Tokens, User, World};

const SCOPE: &str = "posts:read profile:read";
/// The apps: of a third party, of the operator, and of a third party with a retry window.
const FIRST_PARTY: usize = 1;
const WITH_RETRY_WINDOW: usize = 2;

/// A step. A number picks one of the families or apps.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// The user signs in and grants access to an app.
    Grant(usize),
    /// The user grants access to an app in the session of a family.
    GrantInSessionOf(usize, usize),
    Refresh(usize),
    RefreshNarrowed(usize),
    /// The refresh token before the current one is used again.
    Retry(usize),
    RevokeRefreshToken(usize),
    RevokeLatestAccessToken,
    Logout(usize),
    Disconnect(usize),
    ChangePassword,
    DisableAndEnableUser,
    DisableAndEnableApp(usize),
    RotateSecret(usize),
    RotateKey,
    Advance(Duration),
}

/// The user and the apps of a sequence.
pub(super) struct Actors {
    user: User,
    apps: Vec<App>,
    /// A client that only introspects.
    server: App,
    /// The sessions, until they end.
    sessions: Vec<Option<User>>,
}

/// The sequence of a seed.
pub(super) fn sequence(seed: u64) -> Vec<Action> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let tree = vec(action(), 24).new_tree(&mut runner).unwrap();
    let begin = [
        Action::Grant(0),
        Action::Grant(FIRST_PARTY),
        Action::Grant(WITH_RETRY_WINDOW),
    ];
    begin.into_iter().chain(tree.current()).collect()
}

fn action() -> impl Strategy<Value = Action> {
    let (pick, app) = (0..100_usize, 0..3_usize);
    let length = prop_oneof![
        6 => Just(Duration::from_secs(130)),
        3 => Just(Duration::from_secs(700)),
        1 => Just(Duration::from_secs(8 * 24 * 3600)),
    ];
    prop_oneof![
        4 => app.clone().prop_map(Action::Grant),
        2 => (app.clone(), pick.clone()).prop_map(|(app, family)| Action::GrantInSessionOf(app, family)),
        6 => pick.clone().prop_map(Action::Refresh),
        2 => pick.clone().prop_map(Action::RefreshNarrowed),
        3 => pick.clone().prop_map(Action::Retry),
        2 => pick.clone().prop_map(Action::RevokeRefreshToken),
        2 => Just(Action::RevokeLatestAccessToken),
        2 => pick.clone().prop_map(Action::Logout),
        1 => app.clone().prop_map(Action::Disconnect),
        1 => Just(Action::ChangePassword),
        1 => Just(Action::DisableAndEnableUser),
        1 => app.clone().prop_map(Action::DisableAndEnableApp),
        1 => app.prop_map(Action::RotateSecret),
        2 => Just(Action::RotateKey),
        5 => length.prop_map(Action::Advance),
    ]
}

impl Actors {
    pub(super) async fn create(world: &World) -> Self {
        let window = format!("{}s", RETRY_WINDOW.as_secs());
        let app = || world.app().kind("web");
        Self {
            user: world.sign_up().await,
            apps: vec![
                app().register(),
                app().first_party().register(),
                app().option(&["--refresh-retry-window", &window]).register(),
            ],
            server: app().register(),
            sessions: Vec::new(),
        }
    }

    /// The answer of introspection. A refresh token is introspected by its own client.
    pub(super) async fn is_active(&self, issuer: &Caller, app: Option<usize>, token: &str) -> bool {
        let client = app.map_or(&self.server, |app| &self.apps[app]);
        let reply = client
            .client_call(issuer, "/introspect", &[("token", token)])
            .await;
        reply.expect(200).json()["active"] == true
    }

    pub(super) async fn act(&mut self, world: &World, model: &mut Model, action: Action) {
        let family = |pick: usize| pick % model.families.len();
        match action {
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
            Action::Retry(pick) => self.retry(world, model, family(pick)).await,
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
            Action::Logout(pick) => self.log_out(model, model.families[family(pick)].session).await,
            Action::Disconnect(app) => self.disconnect(world, model, app).await,
            Action::ChangePassword => self.change_password(world, model).await,
            Action::DisableAndEnableUser => {
                for command in ["disable", "enable"] {
                    world.cli(&["users", command, "--json", "--email", &self.user.email], "");
                }
                self.sessions.iter_mut().for_each(|session| *session = None);
                model.end_families(|_| true);
            }
            Action::DisableAndEnableApp(app) => {
                for command in ["disable", "enable"] {
                    world.cli(&["clients", command, "--json", &self.apps[app].id], "");
                }
                model.end_families(|family| family.app == app);
                // The issuers have heard of the enabling when the client authenticates.
                self.wait_until_authenticated(world, app).await;
            }
            Action::RotateSecret(app) => {
                let id = &self.apps[app].id;
                let rotated = world.cli(&["clients", "rotate-secret", "--json", id, "--overlap", "0s"], "");
                self.apps[app].secret = rotated["client_secret"].as_str().map(str::to_owned);
                self.wait_until_authenticated(world, app).await;
            }
            // Refused while the staged key is too young.
            Action::RotateKey => drop(world.run(&["keys", "rotate"], "")),
            Action::Advance(length) => {
                world.advance(length);
                // Sessions live for an hour without use.
                if length > Duration::from_secs(600) {
                    self.sessions.iter_mut().for_each(|session| *session = None);
                }
            }
        }
    }

    async fn wait_until_authenticated(&self, world: &World, app: usize) {
        let client = &self.apps[app];
        for port in world.issuer_ports() {
            let issuer = world.anyone().at(&format!("http://localhost:{port}"));
            tests::eventually("the client is not authenticated", async || {
                client
                    .client_call(&issuer, "/introspect", &[("token", "x")])
                    .await
                    .status
                    == 200
            })
            .await;
        }
    }

    async fn sign_in(&mut self, world: &World) -> usize {
        let session = world.log_in(&self.user.email, &self.user.password).await;
        self.sessions.push(Some(session));
        self.sessions.len() - 1
    }

    /// Grants access in a session, if it is still there.
    async fn grant(&self, world: &World, model: &mut Model, app: usize, session: usize) {
        let Some(user) = &self.sessions[session] else {
            return;
        };
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
            Verdict::Dead => drop(reply.expect_token_error(400, "invalid_grant")),
            Verdict::Unknown if reply.status == 200 => accept(world, model, number, reply),
            Verdict::Unknown => {}
        }
    }

    async fn retry(&self, world: &World, model: &mut Model, number: usize) {
        let family = &model.families[number];
        let [.., former, current] = family.refresh_tokens.as_slice() else {
            return;
        };
        let Some(is_in_window) = model.may_retry(family, world.now()) else {
            return;
        };
        let is_live = model.verdict_on_refresh(family, world.now()) == Verdict::Live;
        let reply = self.use_refresh_token(world, family.app, former, SCOPE).await;
        if is_live && is_in_window && family.app == WITH_RETRY_WINDOW {
            let tokens = Tokens::parse(reply);
            assert_eq!(tokens.refresh, *current, "another successor");
            model.issue(number, tokens.access, world.now());
        } else {
            drop(reply.expect_token_error(400, "invalid_grant"));
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
        call.await.expect(200);
    }

    async fn log_out(&mut self, model: &mut Model, session: usize) {
        if let Some(user) = self.sessions[session].take() {
            user.post("/logout").await.expect(204);
            model.end_families(|family| family.session == session && family.app == FIRST_PARTY);
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

fn accept(world: &World, model: &mut Model, family: usize, reply: Reply) {
    let tokens = Tokens::parse(reply);
    model.rotate(family, tokens.refresh, world.now());
    model.issue(family, tokens.access, world.now());
}
