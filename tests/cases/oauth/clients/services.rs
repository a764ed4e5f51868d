//! Services and the client credentials grant (RFC 6749 §4.4).

use super::{at_each_issuer, clients, expect_token_error_soon};
use serde_json::json;
use std::collections::BTreeSet;
use tests::{App, Call, Caller, Reply, SharedWorld, World, basic, on_every_shape};

fn request(app: &App, caller: &Caller, fields: &[(&str, &str)]) -> Call {
    app.token(
        caller,
        &[&[("grant_type", "client_credentials")], fields].concat(),
    )
}

async fn token(world: &World, service: &App) -> String {
    access_token(&request(service, &world.anyone(), &[]).await.expect(200))
}

fn access_token(reply: &Reply) -> String {
    reply.json()["access_token"].as_str().unwrap().to_owned()
}

async fn a_service_gets_an_access_token_for_itself(world: SharedWorld) {
    let service = world
        .app()
        .kind("service")
        .scope("posts:read payments:read")
        .register();
    let reply = request(&service, &world.anyone(), &[]).await.expect(200);
    assert!(reply.header("cache-control").contains("no-store"), "{reply}");
    let body = reply.json();
    let members: BTreeSet<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        members,
        ["access_token", "expires_in", "scope", "token_type"].into(),
        "no refresh token"
    );
    assert_eq!(body["token_type"], "Bearer");
    // The default scope of the registration.
    assert_eq!(body["scope"], "posts:read");
    let claims = tests::claims(&access_token(&reply));
    assert_eq!(claims["sub"], service.id.as_str());
    assert_eq!(claims["client_id"], service.id.as_str());
    assert_eq!(claims["iss"], world.base());
    assert_eq!(claims["scope"], "posts:read");
    assert_eq!(
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(),
        body["expires_in"].as_i64().unwrap()
    );
    for name in ["aud", "jti"] {
        assert!(claims[name].is_string(), "{claims}");
    }
    assert_eq!(claims["client_epoch"], 0, "{claims}");
    for name in ["roles", "grant_id", "user_epoch"] {
        assert!(claims.get(name).is_none(), "{claims}");
    }
    // The secret may be in the body too.
    let secret = service.secret.as_deref().unwrap();
    let in_body = world.anyone().post("/token").form(&[
        ("grant_type", "client_credentials"),
        ("client_id", &service.id),
        ("client_secret", secret),
    ]);
    in_body.await.expect(200);
}

async fn the_scope_is_a_part_of_the_registered_one(world: SharedWorld) {
    let service = world
        .app()
        .kind("service")
        .scope("posts:read payments:read")
        .register();
    let anyone = world.anyone();
    for (requested, granted) in [
        ("payments:read", "payments:read"),
        ("posts:read payments:read", "payments:read posts:read"),
    ] {
        let reply = request(&service, &anyone, &[("scope", requested)])
            .await
            .expect(200);
        assert_eq!(reply.json()["scope"], granted);
    }
    for refused in ["posts:write", "posts:read posts:write", "admin", "unknown", " "] {
        let reply = request(&service, &anyone, &[("scope", refused)]).await;
        reply.expect_token_error(400, "invalid_scope");
    }
}

async fn services_and_other_clients_have_different_grants(world: SharedWorld) {
    let user = world.user().await;
    let service = world.app().kind("service").scope("posts:read").register();
    let anyone = world.anyone();
    for kind in ["spa", "native", "web"] {
        let app = world.app().kind(kind).register();
        let reply = request(&app, &anyone, &[]).await;
        reply.expect_token_error(400, "unauthorized_client");
    }
    let web = world.app().kind("web").register();
    let grant = web.authorize(&mut user.browser(), &user, "posts:read").await;
    service
        .exchange(&anyone, &grant)
        .await
        .expect_token_error(400, "unauthorized_client");
    service
        .refresh(&anyone, "any")
        .await
        .expect_token_error(400, "unauthorized_client");
    // The attempts left the code to its owner.
    web.exchange(&anyone, &grant).await.expect(200);
    let page = service.authorization().expect_error_page(&world).await;
    assert!(page.visible_text().contains("service"), "{}", page.reply);
}

async fn a_service_authenticates_with_its_secret(world: SharedWorld) {
    let service = world.app().kind("service").scope("posts:read").register();
    let anyone = world.anyone();
    let fields = [("grant_type", "client_credentials")];
    for caller in [
        anyone.with("authorization", &basic(&service.id, "wrong")),
        anyone.with(
            "authorization",
            &basic("unknown", service.secret.as_deref().unwrap()),
        ),
    ] {
        let reply = caller.post("/token").form(&fields).await;
        reply.expect_token_error(401, "invalid_client");
    }
    let without_secret = App {
        secret: None,
        ..service
    };
    request(&without_secret, &anyone, &[])
        .await
        .expect_token_error(401, "invalid_client");
}

async fn a_service_reads_what_is_public_and_nothing_of_users(world: World) {
    let ann = world.user().await;
    let (post, draft) = (ann.publish("A post").await, ann.draft("A draft").await);
    let every = "posts:read posts:write comments:write payments:read payments:write profile:read";
    let service = world.app().kind("service").scope(every).register();
    let reply = request(&service, &world.anyone(), &[("scope", every)]).await;
    let caller = world.anyone().bearer(&access_token(&reply.expect(200)));
    caller.get(&post.path).await.expect(200);
    caller.get(&draft.path).await.expect_error(404, "not_found");
    let posts = caller.get("/posts").await.expect(200).json();
    let ids: Vec<_> = posts["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|post| &post["id"])
        .collect();
    assert_eq!(ids, [&json!(post.id)]);
    caller
        .post("/posts")
        .json(&json!({ "title": "A post" }))
        .await
        .expect_error(403, "forbidden");
    for path in ["/me", "/payments", &format!("/users/{}", ann.id)] {
        caller.get(path).await.expect_error(403, "forbidden");
    }
    let facts = caller.get("/protected").await.expect(200).json();
    assert_eq!(facts["sub"], service.id.as_str());
    // Without the scope, posts cannot be listed.
    let reply = request(&service, &world.anyone(), &[("scope", "profile:read")]).await;
    let caller = world.anyone().bearer(&access_token(&reply.expect(200)));
    caller.get("/posts").await.expect_error(403, "insufficient_scope");
}

async fn introspection_and_revocation_know_the_tokens_of_services(world: SharedWorld) {
    let service = world.app().kind("service").scope("posts:read").register();
    let (first, second) = (token(&world, &service).await, token(&world, &service).await);
    let anyone = world.anyone();
    let introspect = async |token: &str| {
        let call = service.client_call(&anyone, "/introspect", &[("token", token)]);
        call.await.expect(200).json()
    };
    let claims = tests::claims(&first);
    let mut expected = json!({ "active": true, "token_type": "Bearer" });
    for name in ["scope", "client_id", "exp", "iat", "sub", "aud", "iss", "jti"] {
        expected[name] = claims[name].clone();
    }
    assert_eq!(introspect(&first).await, expected);
    let revoke = service.client_call(&anyone, "/revoke", &[("token", &first)]);
    revoke.await.expect(200);
    world.expect_revoked(&first).await;
    world.expect_accepted(&second).await;
    assert_eq!(introspect(&second).await["active"], true);
}

async fn disabling_a_service_ends_its_tokens_for_good(world: SharedWorld) {
    let service = world.app().kind("service").scope("posts:read").register();
    let other = world.app().kind("service").scope("posts:read").register();
    let (former, kept) = (token(&world, &service).await, token(&world, &other).await);
    clients(&world, "disable", &service, &[]);
    world.expect_revoked_soon(&former).await;
    expect_token_error_soon(&world, 401, "invalid_client", |issuer| {
        request(&service, issuer, &[])
    })
    .await;
    world.expect_accepted(&kept).await;
    clients(&world, "enable", &service, &[]);
    expect_token_error_soon(&world, 400, "invalid_scope", |issuer| {
        request(&service, issuer, &[("scope", "unknown")])
    })
    .await;
    world.expect_revoked(&former).await;
    for issuer in at_each_issuer(&world) {
        let fresh = access_token(&request(&service, &issuer, &[]).await.expect(200));
        world.expect_accepted(&fresh).await;
    }
}

async fn a_smaller_scope_ends_the_tokens_of_a_service(world: SharedWorld) {
    let service = world
        .app()
        .kind("service")
        .scope("posts:read payments:read")
        .register();
    let former = token(&world, &service).await;
    clients(&world, "update", &service, &["--scope", "posts:read"]);
    world.expect_revoked_soon(&former).await;
    expect_token_error_soon(&world, 400, "invalid_scope", |issuer| {
        request(&service, issuer, &[("scope", "payments:read")])
    })
    .await;
    world.expect_accepted(&token(&world, &service).await).await;
}

async fn invalid_registrations_of_services_are_refused(world: SharedWorld) {
    for (options, reason) in [
        (
            ["--scope", "posts:read", "--redirect-uri", "https://app.test/cb"].as_slice(),
            "no redirect URI",
        ),
        (&["--scope", "posts:read admin"], "cannot have the scope admin"),
    ] {
        let command = [
            "clients", "create", "--id", "robot", "--name", "Robot", "--type", "service",
        ];
        let refused = world.run(&[&command, options].concat(), "");
        assert_eq!(refused.status.code(), Some(64), "{options:?}: {refused:?}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(reason), "{options:?}: {message}");
    }
    let service = world.app().kind("service").scope("posts:read").register();
    for options in [["--scope", "admin"], ["--redirect-uri", "https://app.test/cb"]] {
        let refused = world.run(
            &[&["clients", "update", &service.id], options.as_slice()].concat(),
            "",
        );
        assert_eq!(refused.status.code(), Some(64), "{options:?}: {refused:?}");
    }
}

async fn the_metadata_lists_the_grant(world: SharedWorld) {
    let metadata = world
        .anyone()
        .get("/.well-known/oauth-authorization-server")
        .await;
    let expected = json!([
        "authorization_code",
        "refresh_token",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:device_code"
    ]);
    assert_eq!(metadata.expect(200).json()["grant_types_supported"], expected);
}

on_every_shape!(
    a_service_gets_an_access_token_for_itself,
    the_scope_is_a_part_of_the_registered_one,
    services_and_other_clients_have_different_grants,
    a_service_authenticates_with_its_secret,
    a_service_reads_what_is_public_and_nothing_of_users,
    introspection_and_revocation_know_the_tokens_of_services,
    disabling_a_service_ends_its_tokens_for_good,
    a_smaller_scope_ends_the_tokens_of_a_service,
    invalid_registrations_of_services_are_refused,
    the_metadata_lists_the_grant,
);
