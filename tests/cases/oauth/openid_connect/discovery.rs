//! `/.well-known/openid-configuration` (OpenID Connect Discovery 1.0).

use super::id_token;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{SharedWorld, Tokens, claims, on_every_shape};

/// The methods of client authentication. A public client has none.
const METHODS: [&str; 4] = [
    "none",
    "client_secret_basic",
    "client_secret_post",
    "private_key_jwt",
];

async fn both_documents_are_the_same(world: SharedWorld) {
    let caller = world.anyone().with("origin", "https://app.test");
    let openid = caller.get("/.well-known/openid-configuration").await.expect(200);
    let oauth = caller
        .get("/.well-known/oauth-authorization-server")
        .await
        .expect(200);
    assert_eq!(openid.json(), oauth.json());
    assert_eq!(openid.header("access-control-allow-origin"), "*");
}

async fn the_metadata_names_the_endpoints_and_denies_the_defaults(world: SharedWorld) {
    let metadata = world
        .anyone()
        .get("/.well-known/openid-configuration")
        .await
        .expect(200)
        .json();
    let base = world.base();
    let scopes = metadata["scopes_supported"].as_array().unwrap();
    assert!(
        ["openid", "profile", "email", "offline_access"]
            .iter()
            .all(|scope| scopes.contains(&json!(scope))),
        "{metadata}"
    );
    for (name, expected) in [
        ("issuer", json!(base)),
        ("userinfo_endpoint", json!(format!("{base}/userinfo"))),
        ("end_session_endpoint", json!(format!("{base}/signout"))),
        ("subject_types_supported", json!(["public"])),
        ("response_types_supported", json!(["code"])),
        ("response_modes_supported", json!(["query"])),
        ("id_token_signing_alg_values_supported", json!(["RS256"])),
        ("userinfo_signing_alg_values_supported", json!(["RS256"])),
        ("acr_values_supported", json!(["1", "2"])),
        ("token_endpoint_auth_methods_supported", json!(METHODS)),
        ("revocation_endpoint_auth_methods_supported", json!(METHODS)),
        // Public clients cannot introspect.
        (
            "introspection_endpoint_auth_methods_supported",
            json!(METHODS[1..]),
        ),
        ("claims_parameter_supported", json!(false)),
        ("request_parameter_supported", json!(false)),
        ("request_uri_parameter_supported", json!(false)),
        ("backchannel_logout_supported", json!(true)),
        ("backchannel_logout_session_supported", json!(true)),
    ] {
        assert_eq!(metadata[name], expected, "{name}");
    }
}

/// The claims of ID tokens and of the UserInfo endpoint together.
async fn clients_get_the_claims_of_the_metadata(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let request = app.authorization().set("scope", "openid profile email");
    let grant = request.set("nonce", "n").allow(&mut user.browser(), &user).await;
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    let caller = world.anyone().bearer(&tokens.access);
    let user_info = caller.get("/userinfo").await.expect(200).json();
    let metadata = caller.get("/.well-known/openid-configuration").await.json();
    let described = [claims(&id_token(&tokens)), user_info];
    let described = described
        .iter()
        .flat_map(|claims| claims.as_object().unwrap().keys());
    let supported = metadata["claims_supported"].as_array().unwrap();
    assert_eq!(
        described.map(String::as_str).collect::<BTreeSet<_>>(),
        supported.iter().filter_map(Value::as_str).collect()
    );
}

async fn unsupported_parameters_are_refused_by_name(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    for (name, error) in [
        ("request", "request_not_supported"),
        ("request_uri", "request_uri_not_supported"),
        ("registration", "registration_not_supported"),
    ] {
        // A request object may hold the other parameters.
        let request = app
            .authorization()
            .without("code_challenge")
            .set(name, "eyJhbGciOiJub25lIn0.e30.");
        let page = user.browser().open(&request.path()).await;
        request.expect_error_response(&world, &page.location().unwrap(), error);
    }
    for display in ["page", "popup"] {
        let request = app.authorization().set("claims", "{}").set("display", display);
        let grant = request.allow(&mut user.browser(), &user).await;
        app.exchange(&world.anyone(), &grant).await.expect(200);
    }
}

/// `acr_values` is a wish (OpenID Connect Core §3.1.2.1): the ID token says how the user signed in.
async fn a_request_may_name_the_advertised_acr_values(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let metadata = world.anyone().get("/.well-known/openid-configuration").await;
    let metadata = metadata.expect(200).json();
    let advertised = metadata["acr_values_supported"].as_array().unwrap();
    let advertised: Vec<&str> = advertised.iter().filter_map(Value::as_str).collect();
    for acr_values in [advertised.join(" "), "2".to_owned()] {
        let request = app.authorization().set("scope", "openid");
        let request = request.set("acr_values", &acr_values);
        let grant = request.allow(&mut user.browser(), &user).await;
        let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
        assert_eq!(claims(&id_token(&tokens))["acr"], "1", "{acr_values}");
    }
}

/// Many libraries ask for it, whatever the app is registered for. The app gets its refresh tokens in any
/// case.
async fn offline_access_is_accepted_without_effect(world: SharedWorld) {
    let (user, anyone) = (world.user().await, world.anyone());
    let app = world.app().kind("web").scope("openid posts:read").register();
    let authorization = app
        .authorization()
        .set("scope", "openid offline_access posts:read");
    let mut browser = user.browser();
    let consent = browser.open(&authorization.path()).await.location().unwrap();
    let page = browser.open(consent.as_str()).await;
    let text = page.visible_text().to_lowercase();
    assert!(page.reply.status == 200 && !text.contains("offline"), "{text}");
    let grant = authorization.allow(&mut browser, &user).await;
    let tokens = Tokens::parse(app.exchange(&anyone, &grant).await);
    assert_eq!(tokens.claims()["scope"], "openid posts:read");
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
        ("scope", "offline_access posts:read"),
    ];
    let refreshed = Tokens::parse(app.token(&anyone, &fields).await);
    assert_eq!(refreshed.claims()["scope"], "posts:read");
    // The registration of an app may name it too.
    world.app().scope("posts:read offline_access").register();
}

on_every_shape!(
    offline_access_is_accepted_without_effect,
    both_documents_are_the_same,
    the_metadata_names_the_endpoints_and_denies_the_defaults,
    clients_get_the_claims_of_the_metadata,
    unsupported_parameters_are_refused_by_name,
    a_request_may_name_the_advertised_acr_values,
);
