//! `resource` (RFC 8707): this issuer has one resource, the API.

use serde_json::json;
use tests::{
    App, Shape, SharedWorld, Tokens, User, World, claims, eventually, on_every_shape, on_many_processes,
};

/// Gets tokens for an authorization code, and with the refresh token among them further ones. Each request
/// names this resource.
async fn code_and_refresh_tokens(world: &World, user: &User, app: &App, resource: &str) -> [Tokens; 2] {
    let request = app.authorization().set("resource", resource);
    let grant = request.allow(&mut user.browser(), user).await;
    let exchange = [
        ("grant_type", "authorization_code"),
        ("code", &grant.code),
        ("redirect_uri", &app.redirect_uri),
        ("code_verifier", &grant.verifier),
        ("resource", resource),
    ];
    let first = Tokens::parse(app.token(&world.anyone(), &exchange).await);
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &first.refresh),
        ("resource", resource),
    ];
    let second = Tokens::parse(app.token(&world.anyone(), &refresh).await);
    [first, second]
}

async fn the_api_is_the_only_resource(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let resource = world.base().to_owned();
    for resource in [resource.clone(), format!("{resource}/")] {
        for tokens in code_and_refresh_tokens(&world, &user, &app, &resource).await {
            assert_eq!(claims(&tokens.access)["aud"], world.base());
        }
    }
}

async fn an_audience_may_end_with_a_slash(shape: Shape) {
    let world = World::builder(shape).flag("--audience", "https://api.test/");
    let world = world.start().await;
    let service = world.app().kind("service").scope("posts:read").register();
    let request = async |resource: &str| {
        let fields = [("grant_type", "client_credentials"), ("resource", resource)];
        service.token(&world.anyone(), &fields).await
    };
    for resource in ["https://api.test/", "https://api.test"] {
        let reply = request(resource).await.expect(200).json();
        let token = reply["access_token"].as_str().unwrap();
        assert_eq!(claims(token)["aud"], "https://api.test/");
    }
    let other = request("https://other.test/").await;
    other.expect_token_error(400, "invalid_target");
}

/// A client that knows only the URL of the API learns the rest from its metadata (RFC 9728 §5), whatever
/// `aud` the tokens have.
async fn who_follows_the_metadata_of_the_api_gets_tokens_for_it(shape: Shape) {
    for audience in ["https://api.test/", "the-blog"] {
        let world = World::builder(shape).flag("--audience", audience).start().await;
        let (user, app) = world.user_and_app().await;
        let read = async |path: &str| world.anyone().get(path).await.expect(200).json();
        let metadata = read("/.well-known/oauth-protected-resource").await;
        // RFC 9728 §3.3: clients refuse the metadata of another URL than that of the API.
        assert_eq!(metadata["resource"], world.base());
        let issuer = read("/.well-known/oauth-authorization-server").await;
        assert_eq!(issuer["protected_resources"], json!([audience, world.base()]));
        for resource in [world.base(), audience] {
            for tokens in code_and_refresh_tokens(&world, &user, &app, resource).await {
                assert_eq!(claims(&tokens.access)["aud"], audience);
                world.expect_accepted(&tokens.access).await;
            }
        }
    }
}

/// The API has another origin than the issuer. A client that knows only the API finds the issuer and gets
/// tokens for the API.
async fn an_api_with_an_origin_of_its_own_gets_tokens_for_it(shape: Shape) {
    const API: &str = "http://api.localhost";
    let world = World::builder(shape).flag("--audience", API).start().await;
    let (user, app) = world.user_and_app().await;
    let issuer = world.base().to_owned();
    let key_set = format!("{issuer}/.well-known/jwks.json");
    let flags = [
        ("--issuer", issuer.as_str()),
        ("--base-url", API),
        ("--jwks-url", &key_set),
    ];
    let (url, _replica) = world.start_api_replica(&flags).await;
    let api = world.anyone().at(&url);
    let refused = api.get("/protected").await.expect(401);
    let challenge = refused.header("www-authenticate");
    let metadata = format!("resource_metadata=\"{API}/.well-known/oauth-protected-resource\"");
    assert!(challenge.contains(&metadata), "{refused}");
    let path = "/.well-known/oauth-protected-resource";
    let metadata = api.get(path).await.expect(200).json();
    assert_eq!(metadata["resource"], API);
    assert_eq!(metadata["authorization_servers"], json!([issuer]));
    let path = "/.well-known/oauth-authorization-server";
    let of_issuer = world.anyone().get(path).await.expect(200).json();
    assert_eq!(of_issuer["issuer"], issuer);
    assert!(
        of_issuer["protected_resources"]
            .as_array()
            .unwrap()
            .contains(&json!(API))
    );
    for tokens in code_and_refresh_tokens(&world, &user, &app, API).await {
        assert_eq!(claims(&tokens.access)["aud"], API);
        let call = api.clone().bearer(&tokens.access).get("/protected").await;
        call.expect(200);
    }
    assert!(!world.log().contains("Set AUDIENCE") && !world.log().contains("Set ISSUER"));
}

/// The API compares its settings with the metadata of the issuer when it starts.
async fn services_that_disagree_say_so_at_their_start(shape: Shape) {
    let world = World::builder(shape).start().await;
    let base = world.base().to_owned();
    for (flags, report) in [
        (
            [
                ("--issuer", base.as_str()),
                ("--audience", "https://api.test"),
                ("--base-url", &base),
            ],
            format!(
                "it accepts those for the audience https://api.test, and those of the issuer are for {base}. Set AUDIENCE to {base}"
            ),
        ),
        (
            [
                ("--issuer", &base),
                ("--audience", &base),
                ("--base-url", "http://other.localhost"),
            ],
            format!(
                "they ask for the resource http://other.localhost, and the issuer knows {base}. Set AUDIENCE"
            ),
        ),
        (
            [
                ("--issuer", "http://issuer.localhost"),
                ("--audience", &base),
                ("--base-url", &base),
            ],
            format!("the issuer http://issuer.localhost, and the issuer calls itself {base}. Set ISSUER"),
        ),
    ] {
        assert!(!world.log().contains(&report), "{report}");
        let url = format!("{base}/.well-known/jwks.json");
        let flags = [flags.as_slice(), &[("--jwks-url", &url)]].concat();
        let _api = world.start_api_replica(&flags).await;
        eventually("the disagreement is not reported", async || {
            world.log().matches(&report).count() == 1
        })
        .await;
    }
    assert_eq!(world.log().matches("Set AUDIENCE").count(), 2);
    assert_eq!(world.log().matches("Set ISSUER").count(), 1);
}

async fn another_resource_is_an_invalid_target(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let service = world.app().kind("service").scope("posts:read").register();
    let base = world.base();
    for resource in [
        "https://api.example",
        &format!("{base}//"),
        &format!("{base}/posts"),
        "nonsense",
    ] {
        let request = app.authorization().set("resource", resource);
        let page = user.browser().open(&request.path()).await;
        request.expect_error_response(&world, &page.location().unwrap(), "invalid_target");
        let fields = [("grant_type", "client_credentials"), ("resource", resource)];
        service
            .token(&world.anyone(), &fields)
            .await
            .expect_token_error(400, "invalid_target");
    }
    // The refusal does not use up the refresh token.
    let tokens = app.tokens(&user, "posts:read").await;
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &tokens.refresh),
        ("resource", "https://x.test"),
    ];
    app.token(&world.anyone(), &refresh)
        .await
        .expect_token_error(400, "invalid_target");
    Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
}

/// A request may name several resources (RFC 8707 §2). Each must be the API: the tokens are never for another
/// one.
async fn a_repeated_resource_is_checked_each_time(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let service = world.app().kind("service").scope("posts:read").register();
    let (base, other) = (world.base().to_owned(), "https://api.example");
    let twice = |resource: &'static str| [("resource", base.as_str()), ("resource", resource)];

    let request = app.authorization().set("resource", &base);
    let refused = request.clone().append("resource", other);
    let page = user.browser().open(&refused.path()).await;
    refused.expect_error_response(&world, &page.location().unwrap(), "invalid_target");
    let request = request.append("resource", &format!("{base}/"));
    let grant = request.allow(&mut user.browser(), &user).await;

    let exchange = [
        ("grant_type", "authorization_code"),
        ("code", &grant.code),
        ("redirect_uri", &app.redirect_uri),
        ("code_verifier", &grant.verifier),
    ];
    let token = |fields: &[(&str, &str)]| app.token(&world.anyone(), fields);
    // The refusal does not use up the code.
    let refused = token(&[exchange.as_slice(), &twice(other)].concat()).await;
    refused.expect_token_error(400, "invalid_target");
    let same = [("resource", base.as_str()), ("resource", base.as_str())];
    let tokens = Tokens::parse(token(&[exchange.as_slice(), &same].concat()).await);
    assert_eq!(claims(&tokens.access)["aud"], base);

    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    let refused = token(&[refresh.as_slice(), &twice(other)].concat()).await;
    refused.expect_token_error(400, "invalid_target");
    let tokens = Tokens::parse(token(&[refresh.as_slice(), &same].concat()).await);
    assert_eq!(claims(&tokens.access)["aud"], base);

    let own = [("grant_type", "client_credentials")];
    let refused = service.token(&world.anyone(), &[own.as_slice(), &twice(other)].concat());
    refused.await.expect_token_error(400, "invalid_target");
    let issued = service.token(&world.anyone(), &[own.as_slice(), &same].concat());
    issued.await.expect(200);
    // No other parameter may be repeated.
    let refused = service.token(&world.anyone(), &[own, own].concat()).await;
    refused.expect_token_error(400, "invalid_request");
}

async fn a_json_request_names_one_resource_or_a_list(world: SharedWorld) {
    let app = world.app().register();
    let base = world.base();
    for (resource, error) in [
        (json!(base), "invalid_grant"),
        (json!([base, format!("{base}/")]), "invalid_grant"),
        (json!([base, "https://api.example"]), "invalid_target"),
        (json!("https://api.example"), "invalid_target"),
        (json!([base, 1]), "invalid_request"),
        (json!([[base]]), "invalid_request"),
    ] {
        let body = json!({
            "grant_type": "refresh_token", "refresh_token": "unknown", "client_id": app.id, "resource": resource,
        });
        let reply = world.anyone().post("/token").json(&body).await;
        reply.expect_token_error(400, error);
    }
    let body = json!({ "grant_type": ["refresh_token"], "refresh_token": "unknown", "client_id": app.id });
    let reply = world.anyone().post("/token").json(&body).await;
    reply.expect_token_error(400, "invalid_request");
}

on_many_processes!(
    services_that_disagree_say_so_at_their_start,
    an_api_with_an_origin_of_its_own_gets_tokens_for_it,
);

on_every_shape!(
    the_api_is_the_only_resource,
    an_audience_may_end_with_a_slash,
    who_follows_the_metadata_of_the_api_gets_tokens_for_it,
    another_resource_is_an_invalid_target,
    a_repeated_resource_is_checked_each_time,
    a_json_request_names_one_resource_or_a_list,
);
