//! `resource` (RFC 8707): this issuer has one resource, the API.

use tests::{Tokens, World, claims, on_every_shape};

async fn the_api_is_the_only_resource(world: World) {
    let (user, app) = world.user_and_app().await;
    let resource = world.base().to_owned();
    for resource in [resource.clone(), format!("{resource}/")] {
        let request = app.authorization().set("resource", &resource);
        let grant = request.allow(&mut user.browser(), &user).await;
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", &grant.code),
            ("redirect_uri", &app.redirect_uri),
            ("code_verifier", &grant.verifier),
            ("resource", &resource),
        ];
        let tokens = Tokens::parse(app.token(&world.anyone(), &fields).await);
        assert_eq!(claims(&tokens.access)["aud"], world.base());
        let refresh = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &tokens.refresh),
            ("resource", &resource),
        ];
        Tokens::parse(app.token(&world.anyone(), &refresh).await);
    }
}

async fn another_resource_is_an_invalid_target(world: World) {
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

on_every_shape!(
    the_api_is_the_only_resource,
    another_resource_is_an_invalid_target
);
