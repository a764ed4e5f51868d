//! The list of revocations in Redis: a resource server that knows nothing of Latchkey looks tokens up with a
//! stock client.

use super::revocation::revoke;
use serde_json::json;
use std::time::{Duration, Instant};
use storage::execute;
use tests::{
    App, PASSWORD, SharedWorld, Tokens, User, World, eventually, median, on_many_processes, print_figure,
    rounds,
};

const SECOND: Duration = Duration::from_secs(1);
/// Exists while an issuer keeps the list complete.
const COMPLETE: &str = "latchkey:revocations:complete";

/// The keys of which any revokes this token, as the documentation for resource servers lists them.
fn keys_of(tokens: &Tokens) -> [String; 5] {
    let claims = tokens.claims();
    let text = |name: &str| claims[name].as_str().unwrap().to_owned();
    [
        format!("jti:{}", text("jti")),
        format!("user:{}.{}", text("sub"), claims["user_epoch"]),
        format!("client:{}.{}", text("client_id"), claims["client_epoch"]),
        format!("family:{}", text("grant_id")),
        format!("key:{}", tokens.kid()),
    ]
    .map(|key| format!("latchkey:revoked:{key}"))
}

/// Looks the access token up. Returns the values of the keys that exist.
fn look_up(world: &World, tokens: &Tokens) -> Vec<String> {
    let keys = keys_of(tokens);
    let mut command = vec!["MGET"];
    command.extend(keys.iter().map(String::as_str));
    let values = world.redis().command(&command);
    values
        .lines()
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the remaining time of a key in seconds; -1 if it has no end.
fn time_to_live(world: &World, key: &str) -> i64 {
    world.redis().command(&["TTL", key]).trim().parse().unwrap()
}

/// Waits until the list has the revocation. Returns the time that it took.
async fn expect_listed(world: &World, tokens: &Tokens) -> Duration {
    let began = Instant::now();
    eventually("the list lacks a revocation", async || {
        !look_up(world, tokens).is_empty()
    })
    .await;
    began.elapsed()
}

/// Prints how long the repairs of the list took.
fn report(repairs: &[Duration]) {
    print_figure(&format!(
        "repairs of the list of revocations: p50 {:?}",
        median(repairs)
    ));
}

async fn user_app_and_tokens(world: &World) -> (User, App, Tokens) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    (user, app, tokens)
}

async fn a_stock_client_finds_every_kind_of_revocation(world: World) {
    let anyone = world.anyone();
    let (_, _, bystander) = user_app_and_tokens(&world).await;
    let expect_only = async |revoked: &Tokens| {
        expect_listed(&world, revoked).await;
        let moment: i64 = look_up(&world, revoked)[0].parse().unwrap();
        assert!((world.now().seconds() - moment).abs() < 60, "{moment}");
        assert!(look_up(&world, &bystander).is_empty());
    };
    let (_, app, tokens) = user_app_and_tokens(&world).await;
    let by_jti = app.client_call(&anyone, "/revoke", &[("token", &tokens.access)]);
    by_jti.await.expect(200);
    expect_only(&tokens).await;
    let (_, app, tokens) = user_app_and_tokens(&world).await;
    let by_family = app.client_call(&anyone, "/revoke", &[("token", &tokens.refresh)]);
    by_family.await.expect(200);
    expect_only(&tokens).await;
    let (user, _, tokens) = user_app_and_tokens(&world).await;
    let body = json!({ "current_password": PASSWORD, "new_password": "another horse" });
    user.call("PUT", "/me/password").json(&body).await.expect(204);
    expect_only(&tokens).await;
    let (_, app, tokens) = user_app_and_tokens(&world).await;
    world.cli(&["clients", "disable", &app.id, "--json"], "");
    expect_only(&tokens).await;
    let keys = keys_of(&tokens);
    let of_client = keys.iter().find(|key| key.contains(":client:")).unwrap();
    let lifetime = time_to_live(&world, of_client);
    assert!((600..=660).contains(&lifetime), "{lifetime} s");
    let (_, _, tokens) = user_app_and_tokens(&world).await;
    world.cli(&["keys", "retire", &tokens.kid(), "--compromised", "--json"], "");
    expect_listed(&world, &tokens).await;
    let of_key = format!("latchkey:revoked:key:{}", tokens.kid());
    assert_eq!(time_to_live(&world, &of_key), -1);
}

async fn an_emptied_list_is_filled_again(world: World) {
    let (_, app, tokens) = user_app_and_tokens(&world).await;
    let (_, _, bystander) = user_app_and_tokens(&world).await;
    let server = world.app().kind("web").register();
    let revocation = app.client_call(&world.anyone(), "/revoke", &[("token", &tokens.refresh)]);
    revocation.await.expect(200);
    expect_listed(&world, &tokens).await;
    let mut repairs = Vec::new();
    for _ in 0..5 {
        world.redis().command(&["FLUSHALL"]);
        repairs.push(expect_listed(&world, &tokens).await);
        world
            .expect_introspected_as_revoked(&server, &tokens.access)
            .await;
        world
            .expect_introspected_as_active(&server, &bystander.access)
            .await;
    }
    report(&repairs);
    world.expect_revoked(&tokens.access).await;
}

/// The process that revoked was killed before it wrote to Redis: only the row exists.
async fn a_revocation_that_was_not_announced_is_listed(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let server = world.app().kind("web").register();
    let mut repairs = Vec::new();
    for _ in 0..5 {
        let tokens = app.tokens(&user, "posts:read").await;
        let grant = tokens.claims()["grant_id"].as_str().unwrap().to_owned();
        revoke(&world, "family", &grant).await;
        repairs.push(expect_listed(&world, &tokens).await);
        world.expect_revoked_soon(&tokens.access).await;
        world
            .expect_introspected_as_revoked(&server, &tokens.access)
            .await;
    }
    report(&repairs);
}

/// A Redis that is restored from an older copy has the same data set, but neither the last revocations nor
/// the marks, which expired.
async fn a_restored_list_is_filled_again(world: World) {
    let (_, app, tokens) = user_app_and_tokens(&world).await;
    let anyone = world.anyone();
    let revocation = app.client_call(&anyone, "/revoke", &[("token", &tokens.refresh)]);
    revocation.await.expect(200);
    expect_listed(&world, &tokens).await;
    let mut repairs = Vec::new();
    for _ in 0..20 {
        let mut command = vec!["DEL", COMPLETE, "latchkey:revocations:maintained"];
        let keys = keys_of(&tokens);
        command.extend(keys.iter().map(String::as_str));
        world.redis().command(&command);
        repairs.push(expect_listed(&world, &tokens).await);
    }
    report(&repairs);
}

/// A Redis that crashed and is back at once has the marks of its snapshot, which have not expired, but not
/// the last revocation.
async fn a_list_that_lost_its_last_writes_is_filled_again(world: World) {
    let (user, app) = world.user_and_app().await;
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(app.tokens(&user, "posts:read").await);
    }
    let mut repairs = Vec::new();
    for tokens in &all {
        eventually("the list is not complete", async || {
            world.redis().command(&["EXISTS", COMPLETE]).trim() == "1"
        })
        .await;
        world.redis().save();
        let form = [("token", tokens.refresh.as_str())];
        let revocation = app.client_call(&world.anyone(), "/revoke", &form);
        revocation.await.expect(200);
        expect_listed(&world, tokens).await;
        world.redis().kill();
        world.redis().start_from_snapshot();
        repairs.push(expect_listed(&world, tokens).await);
        world.expect_revoked(&tokens.access).await;
    }
    report(&repairs);
}

/// A virtual machine with Redis that is set back by a moment has the marks and the run, but not the last
/// revocation. All that the processes notice is that their connections break.
async fn a_list_that_was_set_back_is_filled_again(world: World) {
    let (_, app, tokens) = user_app_and_tokens(&world).await;
    let revocation = app.client_call(&world.anyone(), "/revoke", &[("token", &tokens.refresh)]);
    revocation.await.expect(200);
    expect_listed(&world, &tokens).await;
    let mut repairs = Vec::new();
    for _ in 0..5 {
        eventually("the list is not complete", async || {
            world.redis().command(&["EXISTS", COMPLETE]).trim() == "1"
        })
        .await;
        let mut command = vec!["DEL"];
        let keys = keys_of(&tokens);
        command.extend(keys.iter().map(String::as_str));
        world.redis().command(&command);
        world.redis().command(&["CLIENT", "KILL", "TYPE", "normal"]);
        repairs.push(expect_listed(&world, &tokens).await);
    }
    report(&repairs);
}

/// The list has so many revocations that they cannot be added at once. Neither the first fill nor the refill
/// delays introspection.
async fn a_large_list_is_filled_beside_the_reads(world: World) {
    let many = rounds(20_000, 100_000);
    let (user, _, tokens) = user_app_and_tokens(&world).await;
    let web = world.app().kind("web").register();
    let fill = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
                WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)
                SELECT 'jti', 'many-' || n, $2, $2 + 172800000000 FROM numbers";
    let db = world.db().await;
    execute!(db.writer(), fill, i64::try_from(many).unwrap(), world.now()).unwrap();
    for _ in 0..2 {
        let is_listed = || {
            let size = world.redis().command(&["DBSIZE"]);
            size.trim().parse::<usize>().unwrap() > many
        };
        let began = Instant::now();
        while !is_listed() {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "the list is not filled"
            );
            for issuer in world.at_each_issuer(&user.anonymous()) {
                let introspection = web.client_call(&issuer, "/introspect", &[("token", &tokens.access)]);
                assert_eq!(introspection.await.expect(200).json()["active"], true);
            }
        }
        eventually("the list is not complete", async || {
            world.redis().command(&["EXISTS", COMPLETE]).trim() == "1"
        })
        .await;
        world.redis().command(&["FLUSHALL"]);
    }
}

/// Waits until every API follows the list.
async fn wait_for_followers(world: &World) {
    let followers = world.api_ports().len();
    eventually("an API does not follow the list", async || {
        let log = world.log();
        let ended = log
            .matches("the list of revocations in Redis is not complete")
            .count();
        log.matches("following the list of revocations in Redis").count() >= followers + ended
    })
    .await;
}

/// The only issuer was killed between its commit and Redis.
async fn the_list_is_not_trusted_without_an_issuer(mut world: World) {
    let (_, _, tokens) = user_app_and_tokens(&world).await;
    let grant = tokens.claims()["grant_id"].as_str().unwrap().to_owned();
    wait_for_followers(&world).await;
    world.kill_issuers();
    let remaining = world.redis().command(&["PTTL", COMPLETE]);
    let remaining: i64 = remaining.trim().parse().unwrap();
    assert!(
        (0..=700).contains(&remaining) || remaining == -2,
        "{remaining} ms"
    );
    revoke(&world, "family", &grant).await;
    world.expect_revoked_soon(&tokens.access).await;
    eventually("the list stays marked as complete", async || {
        world.redis().command(&["EXISTS", COMPLETE]).trim() == "0"
    })
    .await;
}

/// The stream grows by more entries than one read returns, while an API is suspended.
async fn a_suspended_api_misses_no_revocation(world: World) {
    let anyone = world.anyone();
    let port = world.api_ports()[0];
    for _ in 0..5 {
        let (_, app, first) = user_app_and_tokens(&world).await;
        let (_, _, last) = user_app_and_tokens(&world).await;
        world.expect_accepted(&first.access).await;
        wait_for_followers(&world).await;
        world.suspend(port);
        let revocation = app.client_call(&anyone, "/revoke", &[("token", &first.refresh)]);
        revocation.await.expect(200);
        let fill = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
                    SELECT 'jti', gen_random_uuid(), $1, $1 + 172800000000 FROM generate_series(1, 2500)";
        execute!(world.db().await.writer(), fill, world.now()).unwrap();
        let grant = last.claims()["grant_id"].as_str().unwrap().to_owned();
        revoke(&world, "family", &grant).await;
        expect_listed(&world, &last).await;
        world.resume(port);
        for tokens in [&first, &last] {
            world.expect_revoked(&tokens.access).await;
        }
    }
}

/// Looks for the revocation of a token at every API. Returns `None` if an API has to read the database.
async fn is_revoked_everywhere(world: &World, tokens: &Tokens) -> Option<bool> {
    let began = Instant::now();
    for api in world.at_each_api(&world.anyone().bearer(&tokens.access)) {
        loop {
            match api.get("/protected").may_fail().await.status {
                401 => break,
                503 => return None,
                _ if began.elapsed() > 20 * SECOND => return Some(false),
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
    Some(true)
}

/// Without access to the rows, the APIs can learn of revocations only from the list. On a machine that is
/// busy, they may find the list incomplete, and need the rows.
async fn the_apis_follow_the_list_and_fail_closed_without_it(world: World) {
    let anyone = world.anyone();
    let (_, _, bystander) = user_app_and_tokens(&world).await;
    let server = world.app().kind("web").register();
    let db = world.db().await;
    let (mut revoked, mut pauses) = (Vec::new(), 0);
    while revoked.len() < 5 {
        execute!(db.writer(), "GRANT SELECT ON revocations TO latchkey_api").unwrap();
        wait_for_followers(&world).await;
        execute!(db.writer(), "REVOKE SELECT ON revocations FROM latchkey_api").unwrap();
        let (_, app, tokens) = user_app_and_tokens(&world).await;
        let revocation = app.client_call(&anyone, "/revoke", &[("token", &tokens.refresh)]);
        revocation.await.expect(200);
        let accepted = anyone
            .bearer(&bystander.access)
            .get("/protected")
            .may_fail()
            .await;
        let is_revoked = is_revoked_everywhere(&world, &tokens).await;
        world
            .expect_introspected_as_revoked(&server, &tokens.access)
            .await;
        world
            .expect_introspected_as_active(&server, &bystander.access)
            .await;
        match is_revoked {
            Some(is_revoked) => {
                assert!(is_revoked && accepted.status == 200, "{accepted}");
                revoked.push(tokens);
            }
            None => pauses += 1,
        }
        assert!(pauses < 5, "the list is hardly ever complete");
    }
    world.redis().command(&["FLUSHALL"]);
    for api in world.at_each_api(&anyone.bearer(&bystander.access)) {
        eventually("an API trusts an emptied list", async || {
            api.get("/protected").may_fail().await.status == 503
        })
        .await;
    }
    execute!(db.writer(), "GRANT SELECT ON revocations TO latchkey_api").unwrap();
    for api in world.at_each_api(&anyone.bearer(&bystander.access)) {
        eventually("an API does not recover", async || {
            api.get("/protected").may_fail().await.status == 200
        })
        .await;
    }
    for tokens in &revoked {
        world.expect_revoked(&tokens.access).await;
    }
}

on_many_processes!(
    a_stock_client_finds_every_kind_of_revocation,
    an_emptied_list_is_filled_again,
    a_restored_list_is_filled_again,
    a_list_that_lost_its_last_writes_is_filled_again,
    a_list_that_was_set_back_is_filled_again,
    a_large_list_is_filled_beside_the_reads,
    a_revocation_that_was_not_announced_is_listed,
    the_list_is_not_trusted_without_an_issuer,
    a_suspended_api_misses_no_revocation,
    the_apis_follow_the_list_and_fail_closed_without_it,
);
