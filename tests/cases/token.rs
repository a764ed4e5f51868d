//! `POST /token`: codes and refresh tokens, used once, by the client they were made for, in time.

use serde_json::json;
use std::time::Duration;
use tests::{App, Person, Shape, Tokens, World, basic, on_every_shape};

async fn an_app(world: &World) -> (Person, App) {
    (world.sign_up().await, world.app().register())
}

async fn is_dead(world: &World, tokens: &Tokens) {
    world
        .anyone()
        .bearer(&tokens.access)
        .get("/protected")
        .await
        .expect_error(401, "invalid_token");
}

async fn tokens_come_as_the_rfc_writes_them(world: World) {
    let (person, app) = an_app(&world).await;
    let tokens = app.tokens(&person, "posts:read profile:read").await;
    let body = tokens.reply.json();
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["expires_in"], 600);
    assert_eq!(body["scope"], "posts:read profile:read");
    assert_eq!(body.as_object().unwrap().len(), 5, "{body}");
    assert_eq!(tokens.reply.header("cache-control"), "no-store");
    assert_eq!(tokens.reply.header("content-type"), "application/json");
    let claims = tokens.claims();
    assert_eq!(claims["sub"], json!(person.id.to_string()));
    assert_eq!(
        (&claims["iss"], &claims["aud"]),
        (&json!(world.base()), &json!(world.base()))
    );
    assert_eq!(claims["client_id"], json!(app.id));
    assert_eq!(
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(),
        600
    );
}

async fn a_token_request_may_be_json(world: World) {
    let (person, app) = an_app(&world).await;
    let grant = app.authorize(&mut person.browser(), &person, "posts:read").await;
    let body = json!({
        "grant_type": "authorization_code", "client_id": app.id, "code": grant.code,
        "redirect_uri": app.redirect_uri, "code_verifier": grant.verifier,
    });
    Tokens::of(world.anyone().post("/token").json(&body).await);
}

async fn a_code_used_twice_revokes_what_it_gave(world: World) {
    let (person, app) = an_app(&world).await;
    let grant = app.authorize(&mut person.browser(), &person, "posts:read").await;
    let tokens = Tokens::of(app.exchange(&world.anyone(), &grant).await);
    let rotated = Tokens::of(app.refresh(&world.anyone(), &tokens.refresh).await);
    app.exchange(&world.anyone(), &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    is_dead(&world, &tokens).await;
    is_dead(&world, &rotated).await;
    app.refresh(&world.anyone(), &rotated.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
}

async fn a_used_code_with_a_wrong_verifier_or_client_revokes_nothing(world: World) {
    let (person, app) = an_app(&world).await;
    let stranger = App {
        redirect_uri: app.redirect_uri.clone(),
        ..world.app().kind("native").register()
    };
    let grant = app.authorize(&mut person.browser(), &person, "posts:read").await;
    let tokens = Tokens::of(app.exchange(&world.anyone(), &grant).await);
    stranger
        .exchange(&world.anyone(), &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    let mut guessed = grant.clone();
    guessed.verifier = "v".repeat(43);
    app.exchange(&world.anyone(), &guessed)
        .await
        .expect_token_error(400, "invalid_grant");
    world
        .anyone()
        .bearer(&tokens.access)
        .get("/protected")
        .await
        .expect(200);
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
}

async fn a_code_is_good_for_its_own_client_alone(world: World) {
    let (person, app) = an_app(&world).await;
    let other = world.app().register();
    let grant = app.authorize(&mut person.browser(), &person, "posts:read").await;
    other
        .exchange(&world.anyone(), &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    app.exchange(&world.anyone(), &grant).await.expect(200);
}

async fn a_code_lives_for_a_minute(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (person, app) = an_app(&world).await;
    for (seconds, status) in [(59, 200), (61, 400)] {
        let grant = app.authorize(&mut person.browser(), &person, "posts:read").await;
        world.advance(Duration::from_secs(seconds));
        app.exchange(&world.anyone(), &grant).await.expect(status);
    }
}

async fn a_refresh_token_rotates_and_a_replay_kills_its_family(world: World) {
    let (person, app) = an_app(&world).await;
    let anyone = world.anyone();
    let first = app.tokens(&person, "posts:read").await;
    let second = Tokens::of(app.refresh(&anyone, &first.refresh).await);
    let third = Tokens::of(app.refresh(&anyone, &second.refresh).await);
    assert_ne!(first.refresh, second.refresh);
    assert_ne!(first.claims()["jti"], second.claims()["jti"]);
    for tokens in [&first, &second, &third] {
        anyone.bearer(&tokens.access).get("/protected").await.expect(200);
    }
    let bystander = app.tokens(&person, "posts:read").await;
    app.refresh(&anyone, &first.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
    for tokens in [&first, &second, &third] {
        is_dead(&world, tokens).await;
    }
    app.refresh(&anyone, &third.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
    anyone
        .bearer(&bystander.access)
        .get("/protected")
        .await
        .expect(200);
    app.refresh(&anyone, &bystander.refresh).await.expect(200);
}

async fn a_refresh_token_is_good_for_its_own_client_alone(world: World) {
    let (person, app) = an_app(&world).await;
    let others = [world.app().register(), world.app().kind("web").register()];
    let tokens = app.tokens(&person, "posts:read").await;
    for other in others {
        other
            .refresh(&world.anyone(), &tokens.refresh)
            .await
            .expect_token_error(400, "invalid_grant");
    }
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
}

async fn a_forged_refresh_token_does_nothing(world: World) {
    let (person, app) = an_app(&world).await;
    let tokens = app.tokens(&person, "posts:read").await;
    let good = &tokens.refresh;
    let last = if good.ends_with('A') { "B" } else { "A" };
    let flipped = format!("{}{last}", &good[..good.len() - 1]);
    let mut parts: Vec<&str> = good.split('.').collect();
    let next_generation = parts
        .get(1)
        .and_then(|text| text.parse::<i64>().ok())
        .map(|n| (n + 1).to_string());
    if let Some(next) = &next_generation {
        parts[1] = next;
    }
    let ahead = parts.join(".");
    for forged in [
        &flipped,
        &ahead,
        "",
        ".",
        "..",
        "a.b.c",
        "a.1.",
        "é",
        &"x".repeat(10_000),
        &good[1..],
        &tokens.access,
    ] {
        let reply = app.refresh(&world.anyone(), forged).await.expect(400);
        assert!(
            ["invalid_grant", "invalid_request"].contains(&reply.json()["error"].as_str().unwrap()),
            "{reply}"
        );
    }
    app.refresh(&world.anyone(), good).await.expect(200);
}

async fn a_refresh_may_narrow_the_scope_for_once_and_never_widen_it(world: World) {
    let (person, app) = an_app(&world).await;
    let tokens = app.tokens(&person, "posts:read profile:read").await;
    let refresh = |token: String, scope: &'static str| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &token),
            ("scope", scope),
        ];
        app.token(&world.anyone(), &fields)
    };
    refresh(tokens.refresh.clone(), "posts:read posts:write")
        .await
        .expect_token_error(400, "invalid_scope");
    let narrowed = Tokens::of(refresh(tokens.refresh, "posts:read").await);
    assert_eq!(narrowed.claims()["scope"], "posts:read");
    let whole = Tokens::of(app.refresh(&world.anyone(), &narrowed.refresh).await);
    assert_eq!(whole.claims()["scope"], "posts:read profile:read");
}

async fn a_refresh_token_lives_14_days_unused_and_30_in_all(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (person, app) = an_app(&world).await;
    const DAY: Duration = Duration::from_secs(86_400);
    const SECOND: Duration = Duration::from_secs(1);
    let unused = app.tokens(&person, "posts:read").await;
    let mut used = app.tokens(&person, "posts:read").await;
    world.advance(14 * DAY - SECOND);
    used = Tokens::of(app.refresh(&world.anyone(), &used.refresh).await);
    world.advance(2 * SECOND);
    app.refresh(&world.anyone(), &unused.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
    world.advance(13 * DAY);
    used = Tokens::of(app.refresh(&world.anyone(), &used.refresh).await);
    world.advance(3 * DAY - 3 * SECOND);
    used = Tokens::of(app.refresh(&world.anyone(), &used.refresh).await);
    world.advance(3 * SECOND);
    app.refresh(&world.anyone(), &used.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
}

async fn logout_ends_what_first_party_apps_began_in_the_session(world: World) {
    let person = world.sign_up().await;
    let (ours, theirs) = (world.app().first_party().register(), world.app().register());
    let (own, third) = (
        ours.tokens(&person, "posts:read").await,
        theirs.tokens(&person, "posts:read").await,
    );
    person.post("/logout").await.expect(204);
    is_dead(&world, &own).await;
    ours.refresh(&world.anyone(), &own.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
    world
        .anyone()
        .bearer(&third.access)
        .get("/protected")
        .await
        .expect(200);
    theirs.refresh(&world.anyone(), &third.refresh).await.expect(200);
}

async fn a_confidential_client_authenticates_with_its_secret(world: World) {
    let person = world.sign_up().await;
    let web = world.app().kind("web").register();
    let (anyone, secret) = (world.anyone(), web.secret.clone().unwrap());
    let tokens = web.tokens(&person, "posts:read").await;
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    let wrong = [
        basic(&web.id, "wrong"),
        basic(&web.id, ""),
        basic("nobody", &secret),
        "Basic !!!".to_owned(),
    ];
    for authorization in wrong {
        let call = anyone
            .post("/token")
            .form(&fields)
            .header("authorization", &authorization);
        let reply = call.await.expect_token_error(401, "invalid_client");
        assert!(reply.header("www-authenticate").starts_with("Basic"), "{reply}");
    }
    let named = [fields[0], fields[1], ("client_id", web.id.as_str())];
    anyone
        .post("/token")
        .form(&named)
        .await
        .expect_token_error(401, "invalid_client");
    web.refresh(&anyone, &tokens.refresh).await.expect(200);
}

async fn a_public_client_with_a_secret_is_refused(world: World) {
    let (person, app) = an_app(&world).await;
    let tokens = app.tokens(&person, "posts:read").await;
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    let call = world
        .anyone()
        .post("/token")
        .form(&fields)
        .header("authorization", &basic(&app.id, "bogus"));
    call.await.expect_token_error(401, "invalid_client");
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
}

on_every_shape!(
    tokens_come_as_the_rfc_writes_them,
    a_token_request_may_be_json,
    a_code_used_twice_revokes_what_it_gave,
    a_used_code_with_a_wrong_verifier_or_client_revokes_nothing,
    a_code_is_good_for_its_own_client_alone,
    a_code_lives_for_a_minute,
    a_refresh_token_rotates_and_a_replay_kills_its_family,
    a_refresh_token_is_good_for_its_own_client_alone,
    a_forged_refresh_token_does_nothing,
    a_refresh_may_narrow_the_scope_for_once_and_never_widen_it,
    a_refresh_token_lives_14_days_unused_and_30_in_all,
    logout_ends_what_first_party_apps_began_in_the_session,
    a_confidential_client_authenticates_with_its_secret,
    a_public_client_with_a_secret_is_refused,
);
