//! The claims that an app would get for a user, for administrators.

use super::expect_words;
use serde_json::Value;
use tests::{App, Page, SharedWorld, User, claims, on_every_shape};

const PATH: &str = "/admin/token-preview";

fn path_of(app: &App, email: &str, scope: &str) -> String {
    let scope = scope.replace(' ', "+");
    format!("{PATH}?client_id={}&email={email}&scope={scope}", app.id)
}

async fn preview(admin: &User, app: &App, email: &str, scope: &str) -> Page {
    admin.browser().open(&path_of(app, email, scope)).await
}

/// The JSON texts of the page, in their order, without the command and the call that do the same.
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
    for words in [
        &format!("'{}{PATH}?client_id={}", world.base(), app.id),
        &format!(
            "tokens preview --client={} --user='{}' --scope='{scope}'",
            app.id, user.email
        ),
    ] {
        expect_words(&page, 200, words);
    }
    let shown = texts_of(&page);
    // The call and the command preview the same, and sign nothing.
    let path = path_of(&app, &user.email, scope);
    let by_call = admin.get(&path).await.expect(200).json();
    let args = [
        "tokens",
        "preview",
        "--client",
        &app.id,
        "--user",
        &user.email,
        "--scope",
        scope,
        "--json",
    ];
    let mut by_command = world.cli(&args, "");
    // On port 0 a command does not know the URL of the server.
    for (token, name) in [
        ("access_token", "iss"),
        ("access_token", "aud"),
        ("id_token", "iss"),
    ] {
        by_command[token][name] = by_call[token][name].clone();
    }
    for previewed in [by_call, by_command] {
        for (name, shown) in ["access_token", "id_token", "user_info"].iter().zip(&shown) {
            expect_same(&previewed[name], shown);
        }
        assert_eq!(previewed.as_object().unwrap().len(), 3, "{previewed}");
        assert!(!previewed.to_string().contains("eyJ"), "{previewed}");
    }
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
        let answer = admin.get(&path_of(&app, email, scope)).await.expect(200).json();
        let refusal = answer["refusal"].as_str().unwrap();
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
        let (user, scope) = (format!("--user={email}"), format!("--scope={scope}"));
        let args = ["tokens", "preview", "--client", &app.id, &user, &scope];
        let failed = world.run(&args, "");
        assert_eq!(failed.status.code(), Some(1), "{failed:?}");
        let stderr = String::from_utf8_lossy(&failed.stderr);
        assert!(stderr.contains(refusal), "{refusal}: {stderr}");
    }
    let nothing = admin.get(PATH).await.expect(200).json();
    assert_eq!(nothing["refusal"], "no app has this client id");
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
