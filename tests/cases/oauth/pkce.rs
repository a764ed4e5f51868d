//! PKCE (RFC 7636): S256 is mandatory, and a wrong verifier is rejected without using up the code.

use tests::{App, Grant, Reply, SharedWorld, User, World, base64url, on_every_shape};

const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

async fn a_grant(world: &World, kind: &str) -> (User, App, Grant) {
    let (user, app) = (world.user().await, world.app().kind(kind).register());
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    (user, app, grant)
}

/// Exchanges a code with this verifier, or with none.
async fn exchange(world: &World, app: &App, grant: &Grant, verifier: Option<&str>) -> Reply {
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", &grant.code),
        ("redirect_uri", &app.redirect_uri),
    ];
    fields.extend(verifier.map(|verifier| ("code_verifier", verifier)));
    app.token(&world.anyone(), &fields).await
}

async fn every_client_must_send_a_challenge(world: SharedWorld) {
    for kind in ["spa", "native", "web"] {
        let app = world
            .app()
            .kind(kind)
            .redirect_uri("http://127.0.0.1/cb")
            .register();
        let request = app.authorization();
        request
            .clone()
            .without("code_challenge")
            .expect_error_redirect(&world, "invalid_request")
            .await;
        let bare = request.without("code_challenge").without("code_challenge_method");
        bare.expect_error_redirect(&world, "invalid_request").await;
    }
}

async fn s256_is_the_only_method(world: SharedWorld) {
    let app = world.app().register();
    for method in ["plain", "s256", "S512", "S256 ", ""] {
        let request = app.authorization().set("code_challenge_method", method);
        request.expect_error_redirect(&world, "invalid_request").await;
    }
    let request = app.authorization().without("code_challenge_method");
    request.expect_error_redirect(&world, "invalid_request").await;
}

async fn a_challenge_is_43_characters_of_base64url(world: SharedWorld) {
    let app = world.app().register();
    let (short, long, longest) = (&CHALLENGE[..42], format!("{CHALLENGE}A"), "A".repeat(128));
    let swapped = |with: &str| format!("{}{with}", &CHALLENGE[..42]);
    for challenge in [
        short,
        &long,
        &longest,
        &swapped("="),
        &swapped("+"),
        &swapped("/"),
        &swapped("é"),
        &swapped(" "),
    ] {
        let request = app.authorization().set("code_challenge", challenge);
        request.expect_error_redirect(&world, "invalid_request").await;
    }
}

async fn a_wrong_verifier_is_rejected_without_using_up_the_code(world: SharedWorld) {
    for kind in ["spa", "web"] {
        let (_, app, grant) = a_grant(&world, kind).await;
        let challenge = base64url(foundation::secret::hash(&grant.verifier));
        let (short, long) = (grant.verifier[..42].to_owned(), "v".repeat(129));
        let flipped = grant.verifier.to_uppercase();
        for verifier in [
            None,
            Some(""),
            Some(&*short),
            Some(&long),
            Some(&challenge),
            Some(&flipped),
            Some(CHALLENGE),
        ] {
            let reply = exchange(&world, &app, &grant, verifier).await;
            reply.expect_token_error(400, "invalid_grant");
        }
        exchange(&world, &app, &grant, Some(&grant.verifier))
            .await
            .expect(200);
        world.unregister_secret(&challenge);
    }
}

async fn a_repeated_verifier_is_rejected(world: SharedWorld) {
    let (_, app, grant) = a_grant(&world, "spa").await;
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", grant.code.as_str()),
        ("redirect_uri", &app.redirect_uri),
        ("code_verifier", &grant.verifier),
        ("code_verifier", &grant.verifier),
    ];
    app.token(&world.anyone(), &fields)
        .await
        .expect_token_error(400, "invalid_request");
    exchange(&world, &app, &grant, Some(&grant.verifier))
        .await
        .expect(200);
}

/// A grant with the challenge of this verifier, valid or not.
async fn grant_for(user: &User, app: &App, verifier: &str) -> Grant {
    let challenge = base64url(foundation::secret::hash(verifier));
    let request = app.authorization().set("code_challenge", &challenge);
    let grant = request.allow(&mut user.browser(), user).await;
    Grant {
        verifier: verifier.to_owned(),
        ..grant
    }
}

async fn a_verifier_has_43_to_128_unreserved_characters(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    for good in ["v".repeat(43), "aZ09-._~".repeat(16)] {
        let grant = grant_for(&user, &app, &good).await;
        app.exchange(&world.anyone(), &grant).await.expect(200);
    }
    let with = |last: &str| format!("{}{last}", "v".repeat(43));
    for bad in [
        "v".repeat(42),
        "v".repeat(129),
        "v".to_owned(),
        with("+"),
        with(" "),
        with("é"),
        with("%41"),
    ] {
        let grant = grant_for(&user, &app, &bad).await;
        let reply = app.exchange(&world.anyone(), &grant).await.expect(400);
        assert!(reply.json()["access_token"].is_null(), "{reply}");
    }
}

on_every_shape!(
    every_client_must_send_a_challenge,
    s256_is_the_only_method,
    a_challenge_is_43_characters_of_base64url,
    a_wrong_verifier_is_rejected_without_using_up_the_code,
    a_repeated_verifier_is_rejected,
    a_verifier_has_43_to_128_unreserved_characters,
);
