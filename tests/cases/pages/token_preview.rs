//! The claims that an app would get for a user, for administrators.

use super::expect_words;
use serde_json::Value;
use tests::{App, Page, SharedWorld, User, claims, on_every_shape};

const PATH: &str = "/admin/token-preview";

async fn preview(admin: &User, app: &App, email: &str, scope: &str) -> Page {
    let query = format!(
        "client_id={}&email={email}&scope={}",
        app.id,
        scope.replace(' ', "+")
    );
    admin.browser().open(&format!("{PATH}?{query}")).await
}

/// The JSON texts of the page, in their order, without the call that reads the page.
fn texts_of(page: &Page) -> Vec<Value> {
    let texts = page.copied();
    texts
        .iter()
        .filter(|text| text.starts_with('{'))
        .map(|text| serde_json::from_str(text).unwrap())
        .collect()
}

/// Expects the same members with the same values, except those that differ from token to token.
fn expect_same(previewed: &Value, issued: &Value) {
    let members = |claims: &Value| {
        let mut members = claims.as_object().unwrap().clone();
        for name in [
            "iat",
            "exp",
            "auth_time",
            "jti",
            "grant_id",
            "sid",
            "user_epoch",
            "at_hash",
        ] {
            if let Some(value) = members.get_mut(name) {
                *value = Value::Null;
            }
        }
        members
    };
    assert_eq!(members(previewed), members(issued));
}

async fn the_preview_has_the_claims_of_the_tokens(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let scope = "openid email posts:read posts:write";
    let app = world.app().kind("web").scope(scope).register();
    let page = preview(&admin, &app, &user.email, scope).await;
    expect_words(&page, 200, "are examples");
    let call = format!("curl -b \"$jar\" '{}{PATH}?client_id={}", world.base(), app.id);
    expect_words(&page, 200, &call);
    let shown = texts_of(&page);
    let tokens = app.tokens(&user, scope).await;
    expect_same(&shown[0], &claims(&tokens.access));
    expect_same(
        &shown[1],
        &claims(tokens.reply.json()["id_token"].as_str().unwrap()),
    );
    let user_info = world.anyone().bearer(&tokens.access).get("/userinfo").await;
    assert_eq!(shown[2], user_info.expect(200).json());
    // A user may not administer, whatever the app asks for.
    let other = world.app().scope("posts:read admin").register();
    let page = preview(&admin, &other, &user.email, "posts:read admin").await;
    assert_eq!(texts_of(&page)[0]["scope"], "posts:read");
    expect_words(&page, 200, "Without the scope openid there is no ID token");
    let service = world.app().kind("service").scope("posts:read").register();
    let page = preview(&admin, &service, "", "").await;
    let reply = service
        .token(&world.anyone(), &[("grant_type", "client_credentials")])
        .await;
    let reply = reply.expect(200).json();
    expect_same(
        &texts_of(&page)[0],
        &claims(reply["access_token"].as_str().unwrap()),
    );
}

async fn the_preview_says_why_no_tokens_come_out(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().scope("posts:read").register();
    for (email, scope, words) in [
        (
            user.email.as_str(),
            "posts:read posts:write",
            "only for these scopes",
        ),
        (&user.email, "posts:fly", "only for these scopes"),
        ("nobody@example.org", "", "No user has this address."),
        ("", "", "No user has this address."),
    ] {
        let page = preview(&admin, &app, email, scope).await;
        expect_words(&page, 200, words);
        assert!(page.copied().is_empty(), "{}", page.reply);
    }
    let page = admin.browser().open(&format!("{PATH}?client_id=none")).await;
    expect_words(&page, 200, "No app has this client id.");
    world.cli(&["clients", "disable", &app.id, "--json"], "");
    let page = preview(&admin, &app, &user.email, "").await;
    expect_words(&page, 200, "The app or the account is disabled");
}

on_every_shape!(
    the_preview_has_the_claims_of_the_tokens,
    the_preview_says_why_no_tokens_come_out,
);
