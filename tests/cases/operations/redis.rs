//! Redis killed, emptied, paused: revocations hold, features that need Redis fail with an error, and service
//! recovers within seconds.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use storage::fetch_one;
use tests::{
    App, Call, Caller, PASSWORD, RedisServer, Reply, Shape, Tokens, User, World, eventually,
    on_many_processes, on_one_process, parameter, print_figure, run_concurrently,
};
use tokio::task::JoinHandle;

/// The time until every API replica obeys a revocation on a machine that is not busy, whatever happens to
/// Redis.
const REVOCATION_TIME: Duration = Duration::from_secs(1);

/// Creates `n` token families of one user with one app.
async fn token_families(app: &App, user: &User, n: usize) -> Vec<Tokens> {
    let mut tasks = Vec::new();
    for share in 0..4 {
        let (app, user) = (app.clone(), user.clone());
        tasks.push(tokio::spawn(async move {
            let mut all = Vec::new();
            for _ in (share..n).step_by(4) {
                all.push(app.tokens(&user, "posts:read").await);
            }
            all
        }));
    }
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    all
}

/// Revokes a family by replaying its refresh token.
async fn revoke_family(app: &App, anyone: &Caller, tokens: &Tokens) {
    app.refresh(anyone, &tokens.refresh).await.expect(200);
    let replayed = app.refresh(anyone, &tokens.refresh).await;
    replayed.expect_token_error(400, "invalid_grant");
}

/// Uses a token at each API continuously, and introspects it at each issuer once it was revoked.
struct ContinuousCalls {
    tasks: Vec<JoinHandle<()>>,
    stopped: Arc<AtomicBool>,
    counts: Arc<Counts>,
}

/// The answers about a token after its revocation.
#[derive(Default)]
struct Counts {
    rejected: AtomicUsize,
    /// Those that accepted it although the same process had rejected it.
    accepted_again: AtomicUsize,
    /// Those that accepted it later than [`REVOCATION_TIME`].
    accepted_late: AtomicUsize,
}

impl ContinuousCalls {
    /// Starts the calls. `server` is a confidential client.
    fn start(world: &World, tokens: &Tokens, server: &App, revoked_at: &Arc<OnceLock<Instant>>) -> Self {
        let mut calls = Self {
            tasks: Vec::new(),
            stopped: Arc::default(),
            counts: Arc::default(),
        };
        for api in world.at_each_api(&world.anyone().bearer(&tokens.access)) {
            calls.repeat(Duration::from_millis(20), revoked_at, move |_| {
                Some(api.get("/protected"))
            });
        }
        for issuer in world.at_each_issuer(&world.anyone()) {
            let (server, token) = (server.clone(), tokens.access.clone());
            calls.repeat(Duration::from_millis(100), revoked_at, move |is_revoked| {
                is_revoked.then(|| server.client_call(&issuer, "/introspect", &[("token", &token)]))
            });
        }
        calls
    }

    /// Sends calls to one process with this pause between them. `call` gets whether the token was revoked.
    fn repeat(
        &mut self,
        pause: Duration,
        revoked_at: &Arc<OnceLock<Instant>>,
        call: impl Fn(bool) -> Option<Call> + Send + 'static,
    ) {
        let (revoked_at, stopped) = (Arc::clone(revoked_at), Arc::clone(&self.stopped));
        let counts = Arc::clone(&self.counts);
        self.tasks.push(tokio::spawn(async move {
            let mut was_rejected = false;
            while !stopped.load(Ordering::Relaxed) {
                let since = revoked_at.get().map(Instant::elapsed);
                if let Some(call) = call(since.is_some()) {
                    let verdict = verdict(&call.may_fail().await);
                    let is_late = since.is_some_and(|since| since > REVOCATION_TIME);
                    let is_accepted = verdict == Some(true);
                    was_rejected |= verdict == Some(false);
                    for (count, condition) in [
                        (&counts.rejected, verdict == Some(false)),
                        (&counts.accepted_again, is_accepted && was_rejected),
                        (&counts.accepted_late, is_accepted && is_late),
                    ] {
                        count.fetch_add(usize::from(condition), Ordering::Relaxed);
                    }
                }
                tokio::time::sleep(pause).await;
            }
        }));
    }

    /// Expects that the token was rejected, and never accepted again. Returns the number of late acceptances.
    async fn expect_none_accepted(self) -> usize {
        self.stopped.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        let again = count(&self.counts.accepted_again);
        assert_eq!(again, 0, "the token was accepted after it had been rejected");
        assert!(count(&self.counts.rejected) > 0, "no request was rejected");
        count(&self.counts.accepted_late)
    }
}

/// Returns whether a response of an API or an introspection accepts the token. `None` if the program could
/// not tell.
fn verdict(reply: &Reply) -> Option<bool> {
    match reply.status {
        200 => Some(reply.json()["active"] != false),
        401 => Some(false),
        _ => None,
    }
}

/// Revokes tokens in use before, during and after a Redis failure. Expects that every API obeys each
/// revocation, and that the introspection of every issuer agrees.
async fn expect_revocations_hold(world: World, break_redis: impl Fn(&World), repair_redis: impl Fn(&World)) {
    let (ann, app) = (world.user().await, world.app().first_party().register());
    let (anyone, server) = (world.anyone(), world.app().kind("web").register());
    let mut calls = Vec::new();
    let all = token_families(&app, &ann, 30).await;
    let bystander = app.tokens(&ann, "posts:read").await;
    for (n, tokens) in all.iter().enumerate() {
        match n {
            10 => break_redis(&world),
            20 => repair_redis(&world),
            _ => {}
        }
        let revoked_at = Arc::default();
        calls.push(ContinuousCalls::start(&world, tokens, &server, &revoked_at));
        revoke_family(&app, &anyone, tokens).await;
        revoked_at.set(Instant::now()).unwrap();
        world.expect_accepted(&bystander.access).await;
        world
            .expect_introspected_as_active(&server, &bystander.access)
            .await;
    }
    expect_recovered(&world, &ann).await;
    for tokens in &all {
        world.expect_revoked(&tokens.access).await;
        world
            .expect_introspected_as_revoked(&server, &tokens.access)
            .await;
    }
    let mut late = 0;
    for calls in calls {
        late += calls.expect_none_accepted().await;
    }
    print_figure(&format!(
        "{late} requests were accepted more than {REVOCATION_TIME:?} after the revocation"
    ));
}

/// Expects that sign-in, which needs Redis, works again at every API.
async fn expect_recovered(world: &World, user: &User) {
    let body = json!({ "email": user.email, "password": PASSWORD });
    for api in world.at_each_api(&world.anyone()) {
        eventually("sign-in fails although Redis is back", async || {
            api.post("/login").json(&body).may_fail().await.status == 200
        })
        .await;
        api.readiness("ready").await.expect(200);
    }
}

async fn revocations_hold_while_redis_is_killed(world: World) {
    expect_revocations_hold(world, |world| world.redis().kill(), |world| world.redis().start()).await;
}

async fn revocations_hold_while_redis_is_emptied(world: World) {
    let empty = |world: &World| {
        world.redis().command(&["FLUSHALL"]);
    };
    expect_revocations_hold(world, empty, empty).await;
}

async fn revocations_hold_while_redis_is_paused(shape: Shape) {
    let world = World::builder(shape).default_time_limits().start().await;
    expect_revocations_hold(
        world,
        |world| world.redis().pause(),
        |world| world.redis().resume(),
    )
    .await;
}

async fn an_emptied_redis_is_detected_and_state_is_reloaded(world: World) {
    // A process that has not read the id of the data set yet notices nothing, so Redis is emptied again and
    // again.
    eventually("no process noticed the emptied Redis", async || {
        eventually("no process wrote latchkey:data_set to Redis", async || {
            world.redis().command(&["EXISTS", "latchkey:data_set"]).trim() == "1"
        })
        .await;
        world.redis().command(&["FLUSHALL"]);
        world
            .log()
            .contains("Redis was emptied, replaced or started again")
    })
    .await;
}

async fn a_redis_that_evicts_keys_is_reported_whenever_it_comes(mut world: World) {
    let evicting = ["--maxmemory-policy", "allkeys-lru"];
    let expect_reported = async |world: &World, times: usize| {
        let message = "Redis may drop lockouts";
        let reported = || async { world.log().matches(message).count() >= times * world.pids().len() };
        eventually("a process did not report the policy of Redis", reported).await;
    };
    world.kill();
    world.redis().kill();
    world.restart().await;
    world.redis().start_with(&evicting);
    expect_reported(&world, 1).await;
    world.redis().kill();
    world.redis().start_with(&evicting);
    expect_reported(&world, 2).await;
}

async fn routes_degrade_individually_without_redis(world: World) {
    let (ann, app) = (world.user().await, world.app().register());
    let tokens = app.tokens(&ann, "posts:read posts:write").await;
    let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    let anyone = world.anyone();
    let on_device = world.app().kind("native").option(&["--device"]).register();
    let allowed = on_device.device(&anyone, "posts:read").await;
    allowed.decide(&ann, "allow").await;
    let waiting = on_device.device(&anyone, "posts:read").await;
    let mut browser = ann.browser();
    let code_page = browser.open("/device").await;
    world.redis().kill();

    // Sign-in needs the failure counter and fails without it.
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let refused = anyone.post("/login").json(&body).may_fail().await;
    let refused = refused.expect_error(503, "dependency_unavailable");
    assert!(refused.has("retry-after"), "{refused}");
    let change = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
    let refused = ann.call("PUT", "/me/password").json(&change).may_fail().await;
    refused.expect_error(503, "dependency_unavailable");
    // Devices and codes could not be counted.
    let refused = on_device.device_request(&anyone, &[]).may_fail().await;
    refused.expect_token_error(503, "temporarily_unavailable");
    let code = [("user_code", waiting.user_code.as_str())];
    let refused = browser.submit_call(&code_page, &code).may_fail().await;
    assert_eq!(refused.status, 503, "{refused}");
    Tokens::parse(allowed.poll(&anyone).await);

    // Everything else needs only the database.
    let redirect = browser
        .complete_flow(&app.authorization().path(), &ann, "allow")
        .await;
    assert!(parameter(&redirect.unwrap(), "code").is_some());
    let given = Tokens::parse(app.exchange(&anyone, &grant).await);
    app.refresh(&anyone, &tokens.refresh).await.expect(200);
    let bearer = anyone.bearer(&tokens.access);
    bearer.get("/protected").await.expect(200);
    ann.get("/me").await.expect(200);
    bearer
        .post("/posts")
        .json(&json!({ "title": "x" }))
        .await
        .expect(201);
    anyone
        .post("/users")
        .json(&json!({ "email": world.fresh_email(), "password": PASSWORD }))
        .await
        .expect(201);
    revoke_family(&app, &anyone, &given).await;
    world.expect_revoked(&given.access).await;
    ann.post("/logout").await.expect(204);
    ann.get("/me").await.expect_error(401, "unauthenticated");

    for caller in world.at_each_api(&world.anyone()) {
        caller.get("/livez").await.expect(200);
        let ready = caller.readiness("degraded").await.expect(200).json();
        assert_eq!(ready["checks"]["redis"], "unavailable", "{ready}");
        assert_eq!(ready["checks"]["database"], "ok", "{ready}");
    }
    world.redis().start();
    expect_recovered(&world, &ann).await;
}

async fn readiness_is_measured_once_a_second_and_its_changes_are_logged(world: World) {
    const CALLS: usize = 100;
    const OUTAGES: usize = 2;
    let (anyone, apis) = (world.anyone(), world.at_each_api(&world.anyone()));
    let (monitor, began) = (world.redis().monitor(), Instant::now());
    let replies = run_concurrently(CALLS, |n| apis[n % apis.len()].get("/readyz").into_future()).await;
    assert!(replies.iter().all(|reply| reply.status == 200));
    let seconds = usize::try_from(began.elapsed().as_secs()).unwrap();
    let pings = monitor.stop().to_uppercase().matches("\"PING\"").count();
    assert!(
        pings <= apis.len() * (seconds + 2),
        "{pings} measurements in {seconds} s"
    );
    for _ in 0..OUTAGES {
        world.redis().kill();
        for _ in 0..3 {
            for api in &apis {
                api.readiness("degraded").await.expect(200);
            }
        }
        world.redis().start();
        for api in &apis {
            api.readiness("ready").await.expect(200);
        }
    }
    anyone.get("/livez").await.expect(200);
    let lines = world.log_lines().into_iter();
    let of_redis: Vec<Value> = lines.filter(|line| line["dependency"] == "redis").collect();
    for message in ["not ready", "ready again"] {
        let logged = of_redis.iter().filter(|line| line["message"] == message).count();
        assert_eq!(logged, OUTAGES * apis.len(), "{message}: {of_redis:?}");
    }
}

async fn a_hung_redis_delays_requests_only_briefly(shape: Shape) {
    let world = World::builder(shape).default_time_limits().start().await;
    let ann = world.user().await;
    let tokens = world.app().register().tokens(&ann, "posts:read").await;
    let bearer = world.anyone().bearer(&tokens.access);
    world.redis().pause();
    let body = json!({ "email": ann.email, "password": PASSWORD });
    // After a timeout of 250 ms, calls of half a second fail without one.
    let mut immediate = 0;
    for _ in 0..20 {
        let began = Instant::now();
        let refused = world.anyone().post("/login").json(&body).may_fail().await;
        refused.expect_error(503, "dependency_unavailable");
        immediate += usize::from(began.elapsed() < Duration::from_millis(250));
        bearer.get("/protected").await.expect(200);
    }
    assert!(immediate > 0, "every call waited for Redis");
    world.redis().resume();
    expect_recovered(&world, &ann).await;
}

async fn the_time_limit_of_redis_is_multiplied_by_the_setting(shape: Shape) {
    let setup = World::builder(shape).flag("--time-limit-factor", "8");
    let world = setup.start().await;
    let ann = world.user().await;
    world.redis().pause();
    let began = Instant::now();
    let login = world.anyone().login(&ann.email, PASSWORD);
    login.may_fail().await.expect_error(503, "dependency_unavailable");
    assert!(began.elapsed() >= Duration::from_secs(2), "{:?}", began.elapsed());
    world.redis().resume();
    expect_recovered(&world, &ann).await;
}

async fn lockouts_survive_a_restart(mut world: World) {
    let ann = world.user().await;
    let wrong = json!({ "email": ann.email, "password": "not the password" });
    for _ in 0..5 {
        world.anyone().post("/login").json(&wrong).await.expect(401);
    }
    world.kill();
    world.restart().await;
    let right = json!({ "email": ann.email, "password": PASSWORD });
    let locked = world.anyone().post("/login").json(&right).await;
    locked.expect_error(429, "login_locked");
}

async fn the_api_role_cannot_read_key_material(world: World) {
    let api = world.api_db().await;
    for table in ["signing_keys", "authorization_codes"] {
        let count = format!("SELECT COUNT(*) FROM {table}");
        let count: &'static str = count.leak();
        assert!(
            fetch_one!(world.db().await.reader(), (i64,), count).is_ok(),
            "{table}"
        );
        let refused = fetch_one!(api.reader(), (i64,), count).unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{table}: {refused}");
    }
    for write in [
        "UPDATE clients SET first_party = TRUE",
        "UPDATE users SET role = 'admin'",
        "UPDATE refresh_families SET user_id = 1",
        "SELECT sealed FROM mails",
        "DELETE FROM revocations",
        "DELETE FROM security_events",
        "INSERT INTO refresh_families SELECT * FROM refresh_families",
        "CREATE TABLE x (y INTEGER)",
    ] {
        let refused = storage::execute!(api.writer(), write).unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{write}: {refused}");
    }
    let help = String::from_utf8(world.run_api_without_settings(&["--help"]).stdout).unwrap();
    assert!(
        help.contains("REDIS_URL") && !help.contains("MASTER_KEY"),
        "{help}"
    );
}

/// Expects a failed start with this text in its one-line error.
fn expect_refused(output: &std::process::Output, expected: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = stderr
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(output.status.code(), Some(64), "{stderr}");
    assert!(
        errors.len() == 1 && errors[0].contains(expected),
        "{expected}: {stderr}"
    );
}

async fn production_replicas_require_a_reliable_redis(world: World) {
    let (database, redis, key) = (world.database_url(), world.redis().url(), "A".repeat(43));
    let settings = ["--listen", "127.0.0.1:0", "--base-url", "https://id.example.org"];
    let stores = ["--database-url", &database, "--account-key", &key];
    let settings = [&settings[..], &stores].concat();
    let with_key = [&settings[..], &["--master-key", &key]].concat();
    expect_refused(&world.run_without_settings(&with_key), "REDIS_URL is not set");
    expect_refused(&world.run_api_without_settings(&settings), "REDIS_URL is not set");
    world
        .redis()
        .command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    for output in [
        world.run_without_settings(&[&with_key[..], &["--redis-url", &redis]].concat()),
        world.run_api_without_settings(&[&settings[..], &["--redis-url", &redis]].concat()),
    ] {
        expect_refused(&output, "maxmemory-policy");
    }
    for nonsense in ["http://localhost", "redis://", "redis://:a secret/one@host/x"] {
        let output = world.run_api_without_settings(&[&settings[..], &["--redis-url", nonsense]].concat());
        expect_refused(&output, "--redis-url");
        assert!(
            !String::from_utf8_lossy(&output.stderr).contains("secret"),
            "{output:?}"
        );
    }
    // A malformed database URL does not reveal its password either.
    let mistyped = ["--database-url", "postgres://api:hunter2/x@db.internal/latchkey"];
    let output = world.run_api_without_settings(&mistyped);
    expect_refused(&output, "--database-url");
    assert!(
        !String::from_utf8_lossy(&output.stderr).contains("hunter2"),
        "{output:?}"
    );
}

async fn processes_start_and_commands_run_without_redis(mut world: World) {
    let (ann, bystander) = (world.user().await, world.user().await);
    let app = world.app().register();
    let (tokens, others) = (
        app.tokens(&ann, "posts:read").await,
        app.tokens(&ann, "posts:read").await,
    );
    world.kill();
    world.redis().kill();
    world.restart().await;
    world.expect_accepted(&tokens.access).await;
    world.cli(&["users", "disable", "--email", &ann.email, "--json"], "");
    for tokens in [tokens, others] {
        world.expect_revoked(&tokens.access).await;
    }
    world.redis().start();
    expect_recovered(&world, &bystander).await;
}

async fn one_process_can_use_redis(shape: Shape) {
    // Over TCP, as in most installations.
    let dir = tempfile::tempdir().unwrap();
    let redis = RedisServer::launch(dir.path());
    let url = redis.listen();
    let world = World::builder(shape).flag("--redis-url", &url).start().await;
    let ann = world.user().await;
    assert!(redis.dump().contains("latchkey:data_set"));
    redis.kill();
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let refused = world.anyone().post("/login").json(&body).may_fail().await;
    refused.expect_error(503, "dependency_unavailable");
}

/// The times are printed at the end of all tests; `tests/timing` compares them with a second.
async fn revocations_reach_every_api(world: World) {
    let (ann, app) = (world.user().await, world.app().first_party().register());
    for tokens in token_families(&app, &ann, 40).await {
        for api in world.at_each_api(&world.anyone().bearer(&tokens.access)) {
            api.get("/protected").await.expect(200);
        }
        revoke_family(&app, &world.anyone(), &tokens).await;
        world.expect_revoked(&tokens.access).await;
    }
}

on_many_processes!(
    revocations_hold_while_redis_is_killed,
    revocations_hold_while_redis_is_emptied,
    revocations_hold_while_redis_is_paused,
    an_emptied_redis_is_detected_and_state_is_reloaded,
    a_redis_that_evicts_keys_is_reported_whenever_it_comes,
    routes_degrade_individually_without_redis,
    readiness_is_measured_once_a_second_and_its_changes_are_logged,
    a_hung_redis_delays_requests_only_briefly,
    the_time_limit_of_redis_is_multiplied_by_the_setting,
    lockouts_survive_a_restart,
    the_api_role_cannot_read_key_material,
    production_replicas_require_a_reliable_redis,
    processes_start_and_commands_run_without_redis,
    revocations_reach_every_api,
);

on_one_process!(one_process_can_use_redis);
