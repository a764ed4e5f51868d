//! The limits of oxide-auth, whose state machines drive the grants, and the tests which show that the issuer does not
//! have them.
//!
//! - An unknown code is reported as `invalid_request`: [`unknown_codes_are_an_invalid_grant`].
//! - A wrong `code_verifier` is reported as `invalid_request`, and its request uses the code up:
//!   `pkce::a_wrong_verifier_is_rejected_without_using_up_the_code`.
//! - A request with another redirect URI or client uses the code up:
//!   `redirect_uris::the_exchange_requires_the_same_redirect_uri`, `token_endpoint::codes_are_bound_to_their_client`.
//! - Errors have the members `description` and `uri`: [`token_errors_have_the_members_of_the_rfc`].
//! - Token responses may be stored: `token_endpoint::token_responses_follow_the_rfc`, and `Reply::expect_token_error`
//!   for errors.
//! - Authorization responses have no `iss`:
//!   `authorization_endpoint::the_response_returns_the_exact_state_and_the_issuer`, and
//!   `Authorization::expect_error_response` for errors.
//! - Repeated parameters are dropped silently: `malformed_token_requests::repeated_parameters_are_rejected`,
//!   `authorization_endpoint::repeated_parameters_are_rejected`.
//! - HTTP Basic is not form-decoded: [`http_basic_is_form_decoded`].
//! - A refresh ignores `client_secret`: `token_endpoint::confidential_clients_authenticate_with_their_secret`.
//! - A refresh fails without a cause:
//!   `signing_keys::compromised::a_refresh_that_no_key_can_sign_leaves_its_token_unused` for 503,
//!   `refresh_tokens` for `invalid_grant` and `invalid_scope`.
//! - A narrowed scope replaces that of the grant:
//!   `refresh_tokens::a_refresh_may_narrow_the_scope_once_and_never_widen_it`.
//! - The port of 127.0.0.1 and \[::1\] may not vary: `redirect_uris::native_apps_on_a_loopback_host_may_use_any_port`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeSet;
use tests::{SharedWorld, Tokens, on_every_shape};

async fn unknown_codes_are_an_invalid_grant(world: SharedWorld) {
    let app = world.app().register();
    let verifier = "v".repeat(43);
    for code in ["x", "' OR 1=1 --", "é", &"x".repeat(5_000)] {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", app.redirect_uri.as_str()),
            ("code_verifier", &verifier),
        ];
        app.token(&world.anyone(), &fields)
            .await
            .expect_token_error(400, "invalid_grant");
    }
}

async fn token_errors_have_the_members_of_the_rfc(world: SharedWorld) {
    let app = world.app().register();
    let reply = app.refresh(&world.anyone(), "unknown").await;
    let body = reply.expect_token_error(400, "invalid_grant").json();
    let members: BTreeSet<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["correlationId", "error", "error_description"].into());
}

async fn http_basic_is_form_decoded(world: SharedWorld) {
    let user = world.user().await;
    let web = world.app().kind("web").register();
    let tokens = web.tokens(&user, "posts:read").await;
    // The encoding of a character that needs none is valid too.
    let encode = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    let pair = format!("{}:{}", encode(&web.id), encode(web.secret.as_deref().unwrap()));
    let caller = world
        .anyone()
        .with("authorization", &format!("Basic {}", STANDARD.encode(pair)));
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    Tokens::parse(caller.post("/token").form(&fields).await);
}

on_every_shape!(
    unknown_codes_are_an_invalid_grant,
    token_errors_have_the_members_of_the_rfc,
    http_basic_is_form_decoded,
);
