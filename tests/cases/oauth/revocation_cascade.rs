//! Everything that ends tokens, on two replicas of each service: within a second both APIs refuse the access
//! tokens, and both issuers introspect them as inactive. The issuer refuses the refresh tokens and the codes
//! that were not exchanged.

use serde_json::json;
use std::time::{Duration, Instant};
use tests::{
    App, Call, Caller, Grant, PASSWORD, Reply, Tokens, User, World, eventually, median, on_many_processes,
    p99, print_figure, rounds, run_concurrently,
};

/// The number of events for each cause.
fn events() -> usize {
    rounds(2, 10)
}
const TOKENS_PER_EVENT: usize = 10;
/// The time after which no replica accepts a token.
const DEADLINE: Duration = Duration::from_secs(20);

/// A cause of the end of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Session,
    User,
    Client,
    Consent,
    Password,
    Family,
    AccessToken,
    RefreshReuse,
    CodeReuse,
}

/// The tokens of a user and an app.
struct Connection {
    user: User,
    app: App,
    /// The exchanged codes and their tokens.
    grants: Vec<(Grant, Tokens)>,
    /// A code that is not exchanged.
    unused: Grant,
}

impl Cause {
    const ALL: [Self; 9] = [
        Self::Session,
        Self::User,
        Self::Client,
        Self::Consent,
        Self::Password,
        Self::Family,
        Self::AccessToken,
        Self::RefreshReuse,
        Self::CodeReuse,
    ];

    /// Whether it ends the codes that were not exchanged.
    fn ends_codes(self) -> bool {
        matches!(
            self,
            Self::Session | Self::User | Self::Client | Self::Consent | Self::Password
        )
    }

    /// Ends the tokens of the connection. Returns the time of the response that ended each.
    async fn end(self, connection: &Connection, world: &World, admin: &User) -> Vec<Instant> {
        let Connection {
            user, app, grants, ..
        } = connection;
        let anyone = &world.anyone();
        match self {
            Self::Session => {
                user.post("/logout").await.expect(204);
            }
            Self::User => {
                world.cli(&["users", "disable", "--email", &user.email, "--json"], "");
            }
            Self::Client => {
                let path = format!("/admin/clients/{}/disablements", app.id);
                admin.post(&path).await.expect(200);
            }
            Self::Consent => {
                user.delete(&format!("/me/grants/{}", app.id)).await.expect(204);
            }
            Self::Password => {
                let body = json!({ "current_password": PASSWORD, "new_password": "another horse" });
                user.call("PUT", "/me/password").json(&body).await.expect(204);
            }
            Self::Family | Self::AccessToken | Self::RefreshReuse | Self::CodeReuse => {
                let mut ended = Vec::new();
                for (grant, tokens) in grants {
                    self.end_one(app, anyone, grant, tokens).await;
                    ended.push(Instant::now());
                }
                return ended;
            }
        }
        vec![Instant::now(); grants.len()]
    }

    /// Ends the tokens of one grant.
    async fn end_one(self, app: &App, anyone: &Caller, grant: &Grant, tokens: &Tokens) {
        let revoke = async |token: &str| {
            let revocation = app.client_call(anyone, "/revoke", &[("token", token)]);
            revocation.await.expect(200);
        };
        match self {
            Self::Family => revoke(&tokens.refresh).await,
            Self::AccessToken => revoke(&tokens.access).await,
            Self::RefreshReuse => {
                app.refresh(anyone, &tokens.refresh).await.expect(200);
                let reuse = app.refresh(anyone, &tokens.refresh).await;
                reuse.expect_token_error(400, "invalid_grant");
            }
            Self::CodeReuse => {
                let reuse = app.exchange(anyone, grant).await;
                reuse.expect_token_error(400, "invalid_grant");
            }
            other => panic!("{other:?} ends more than one grant"),
        }
    }
}

impl Connection {
    async fn create(world: &World) -> Self {
        let (user, app) = (world.user().await, world.app().first_party().register());
        let mut browser = user.browser();
        let mut grants = Vec::new();
        for _ in 0..TOKENS_PER_EVENT {
            let grant = app.authorize(&mut browser, &user, "posts:read").await;
            let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
            world.expect_accepted(&tokens.access).await;
            grants.push((grant, tokens));
        }
        Self {
            unused: app.authorize(&mut browser, &user, "posts:read").await,
            user,
            app,
            grants,
        }
    }

    /// Waits until both APIs refuse each access token. Takes the time of the end of each. Returns the times
    /// from then on.
    async fn refused(&self, world: &World, ended: &[Instant]) -> Vec<Duration> {
        run_concurrently(self.grants.len(), |n| {
            let (apis, ended) = (
                world.at_each_api(&world.anyone().bearer(&self.grants[n].1.access)),
                ended[n],
            );
            async move {
                for api in apis {
                    let refused = until_refused(ended, || api.get("/protected"), |reply| reply.status == 200);
                    refused.await.expect_error(401, "invalid_token");
                }
                ended.elapsed()
            }
        })
        .await
    }

    /// Waits until both issuers introspect each access token as inactive. Takes the time of the end of each.
    async fn inactive(&self, world: &World, server: &App, ended: &[Instant]) {
        run_concurrently(self.grants.len(), |n| {
            let (issuers, ended) = (world.at_each_issuer(&world.anyone()), ended[n]);
            let (server, token) = (server.clone(), self.grants[n].1.access.clone());
            async move {
                for issuer in issuers {
                    let introspect = || server.client_call(&issuer, "/introspect", &[("token", &token)]);
                    let refused = until_refused(ended, introspect, |reply| reply.json()["active"] == true);
                    assert_eq!(refused.await.expect(200).json(), json!({ "active": false }));
                }
            }
        })
        .await;
    }

    /// Expects that the issuer refuses the refresh tokens and the unused code as far as the cause ends them.
    async fn expect_ended(&self, world: &World, cause: Cause) {
        let anyone = world.anyone();
        let refuse = |reply: Reply| {
            // An issuer that does not know for up to a second that the client is disabled finds its tokens
            // revoked.
            let error = reply.json()["error"].clone();
            let by_client = cause == Cause::Client && reply.status == 401 && error == "invalid_client";
            assert!(
                by_client || reply.status == 400 && error == "invalid_grant",
                "{cause:?}: {reply}"
            );
        };
        if cause != Cause::AccessToken {
            for (_, tokens) in &self.grants {
                refuse(self.app.refresh(&anyone, &tokens.refresh).await);
            }
        }
        let reply = self.app.exchange(&anyone, &self.unused).await;
        match cause.ends_codes() {
            true => refuse(reply),
            false => drop(reply.expect(200)),
        }
    }
}

/// Sends a request until its response does not accept the token, which was ended at a time. Returns that
/// response. Fails the test if a request is accepted that was sent later than the limit.
async fn until_refused(
    ended: Instant,
    request: impl Fn() -> Call,
    is_accepted: impl Fn(&Reply) -> bool,
) -> Reply {
    loop {
        let sent_after = ended.elapsed();
        let reply = request().await;
        if !is_accepted(&reply) {
            return reply;
        }
        assert!(
            sent_after < DEADLINE,
            "accepted {sent_after:?} after the end: {reply}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn every_cause_ends_the_tokens_at_both_apis(world: World) {
    let admin = world.user_with_role("admin").await;
    let server = world.app().kind("web").register();
    let mut all = Vec::new();
    for cause in Cause::ALL {
        let mut times = Vec::new();
        for _ in 0..events() {
            let connection = Connection::create(&world).await;
            let ended = cause.end(&connection, &world, &admin).await;
            times.extend(connection.refused(&world, &ended).await);
            connection.inactive(&world, &server, &ended).await;
            connection.expect_ended(&world, cause).await;
        }
        report(&format!("{cause:?}"), &times);
        all.extend(times);
    }
    // A compromised key ends all its access tokens at once. The grants survive.
    let mut connections = Vec::new();
    for _ in 0..events() {
        connections.push(Connection::create(&world).await);
    }
    let kid = connections[0].grants[0].1.kid();
    world.cli(&["keys", "retire", &kid, "--compromised", "--json"], "");
    let (ended, mut times) = ([Instant::now(); TOKENS_PER_EVENT], Vec::new());
    for connection in &connections {
        times.extend(connection.refused(&world, &ended).await);
    }
    // An issuer signs with its own copy of the keys, which it reads a moment after the revocations.
    for issuer in world.at_each_issuer(&world.anyone()) {
        eventually("an issuer has the retired key", async || {
            let published = issuer.get("/.well-known/jwks.json").await.expect(200);
            !published.text().contains(&kid)
        })
        .await;
    }
    for connection in &connections {
        connection.inactive(&world, &server, &ended).await;
        let (_, tokens) = &connection.grants[0];
        let refresh = connection.app.refresh(&world.anyone(), &tokens.refresh);
        world.expect_accepted(&Tokens::parse(refresh.await).access).await;
    }
    report("Key", &times);
    all.extend(times);
    assert_eq!(all.len(), 100 * events());
    report("every cause", &all);
}

/// Prints the quantiles of the times.
fn report(name: &str, times: &[Duration]) {
    let (p50, p99) = (median(times), p99(times));
    print_figure(&format!(
        "from the end of {} tokens by {name} to their refusal by both APIs: p50 {p50:?}, p99 {p99:?}",
        times.len()
    ));
}

on_many_processes!(every_cause_ends_the_tokens_at_both_apis);
