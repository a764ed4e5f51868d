//! The pages of the apps, for administrators.

mod creation;

use super::{expect_redirect, expect_words, post};
use crate::oauth::clients::expect_token_error_soon;
use serde_json::json;
use tests::{App, Browser, Caller, Page, SharedWorld, User, eventually, on_every_shape};
use url::Url;

const PATH: &str = "/admin/clients";
const NEW: &str = "/admin/apps/new";

fn path_of(app: &App) -> String {
    format!("{PATH}/{}", app.id)
}

async fn change(browser: &mut Browser, app: &App, name: &str) -> Page {
    let page = browser.open(&path_of(app)).await;
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    let action = format!("{}/changes", path_of(app));
    let version = page.hidden("version").unwrap();
    post(
        browser,
        &page,
        &action,
        &[("change", name), ("version", &version)],
    )
    .await
}

async fn an_administrator_changes_an_app(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().kind("web").register();
    let tokens = app.tokens(&user, "posts:read").await;
    let mut browser = admin.browser();
    let former_ends = "The one that was replaced before ends at once.";
    let page = browser.open(&path_of(&app)).await;
    assert!(!page.visible_text().contains(former_ends), "{}", page.reply);
    let rotated = change(&mut browser, &app, "rotate-secret").await;
    expect_words(&rotated, 200, "The new secret");
    expect_words(&rotated, 200, "The former secret stays valid for a day.");
    let [_, secret] = rotated.copied().try_into().unwrap();
    // The form that is sent again, by a reload, does not end the secret that the app uses.
    let action = format!("{}/changes", path_of(&app));
    let page = browser.open(&path_of(&app)).await;
    expect_words(&page, 200, "the former secret is valid for 24 hours");
    expect_words(&page, 200, "The app authenticates by a secret.");
    expect_words(&page, 200, former_ends);
    let repeated = [("change", "rotate-secret"), ("version", "")];
    let again = post(&mut browser, &page, &action, &repeated).await;
    assert_eq!(again.reply.status, 409, "{}", again.reply);
    for secret in [&secret, app.secret.as_ref().unwrap()] {
        let app = App {
            secret: Some(secret.clone()),
            ..app.clone()
        };
        eventually("the client is refused", async || {
            let call = app.client_call(&world.anyone(), "/introspect", &[("token", &tokens.access)]);
            call.may_fail().await.status == 200
        })
        .await;
    }
    let page = browser.open(&path_of(&app)).await;
    expect_words(
        &page,
        200,
        "Users who gave it access: 1 . Refresh tokens that end: 1 .",
    );
    let list = format!("/admin/consents?client_id={}", app.id);
    let mut links = page.links().into_iter();
    let list = links.find(|link| link.as_str().ends_with(&list)).unwrap();
    expect_words(&browser.open(list.as_str()).await, 200, &user.email);
    let disabled = change(&mut browser, &app, "disable").await;
    expect_redirect(&disabled, &path_of(&app));
    let page = browser.open(&path_of(&app)).await;
    expect_words(&page, 200, "The app is changed.");
    expect_words(&page, 200, "client_disabled");
    let renamed = json!({ "name": "A renamed app" });
    admin.patch(&path_of(&app)).json(&renamed).await.expect(200);
    // The history tells who changed the app, from what and to what.
    let page = browser.open(&path_of(&app)).await;
    let changed = format!("by {} · name: \"", admin.email);
    expect_words(&page, 200, &changed);
    expect_words(&page, 200, "\" → \"A renamed app\"");
    // A name that turns the direction of text turns that of nothing else.
    let isolated = "<span dir=\"auto\"><span lang=\"en\">name: ";
    assert!(page.reply.text().contains(isolated), "{}", page.reply);
    world.expect_revoked(&tokens.access).await;
    let refresh = |issuer: &Caller| app.refresh(issuer, &tokens.refresh);
    expect_token_error_soon(&world, 401, "invalid_client", refresh).await;
    expect_redirect(&change(&mut browser, &app, "enable").await, &path_of(&app));
    expect_token_error_soon(&world, 400, "invalid_grant", refresh).await;
    app.tokens(&user, "posts:read").await;
    let own = world.app().first_party().register();
    own.tokens(&user, "posts:read").await;
    own.tokens(&user, "posts:read").await;
    let page = browser.open(&path_of(&own)).await;
    expect_words(&page, 200, "Refresh tokens that end: 2 .");
    let public = world.app().kind("spa").option(&["--dpop-bound"]).register();
    let page = browser.open(&path_of(&public)).await;
    for setting in [
        "The app is public: it has neither a secret nor keys.",
        "Scope of a request that names none:",
        "The app gets only access tokens that are bound to a key.",
    ] {
        expect_words(&page, 200, setting);
    }
    let of_app = |link: &Url| link.path() == "/admin/consents" && link.query().is_some();
    assert!(!page.links().iter().any(of_app), "{}", page.reply);
    let refused = change(&mut browser, &public, "rotate-secret").await;
    assert_eq!(refused.reply.status, 422, "{}", refused.reply);
    let unknown = change(&mut browser, &public, "delete").await;
    assert_eq!(unknown.reply.status, 409, "{}", unknown.reply);
}

async fn apps_are_selected(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let mut browser = admin.browser();
    expect_words(&browser.open(PATH).await, 200, "Create an app");
    let page = browser
        .open(&format!("{PATH}?type=web&first_party=&disabled=false"))
        .await;
    let html = page.reply.text();
    assert!(html.contains("<option value=\"web\" selected>"), "{html}");
    assert!(html.contains("<option value=\"false\" selected>"), "{html}");
    let app = world.app().register();
    let found = browser.open(&format!("{PATH}?search={}", app.id)).await;
    let path = path_of(&app);
    assert!(
        found.links().iter().any(|link| link.path() == path),
        "{}",
        found.reply
    );
    // The app with the id comes before those whose names begin alike.
    let name = format!("{} shop", app.id);
    let shop_id = format!("{}-shop", app.id);
    let shop = json!({ "id": shop_id, "name": name, "type": "service", "scope": "posts:read" });
    admin.post(PATH).json(&shop).await.expect(201);
    for (filter, ids) in [("", vec![&app.id, &shop_id]), ("&type=service", vec![&shop_id])] {
        let listed = admin.get(&format!("{PATH}?search={}{filter}", app.id)).await;
        let listed = listed.expect(200).json();
        let items = listed["items"].as_array().unwrap().iter();
        let found: Vec<_> = items.map(|item| item["id"].as_str().unwrap()).collect();
        assert_eq!(found, ids, "{listed}");
    }
    let found = browser.open(&format!("{PATH}?search={}", app.id)).await;
    expect_words(&found, 200, &name);
    let by_name = browser.open(&format!("{PATH}?search=some+app&order=desc")).await;
    expect_words(&by_name, 200, "Some App");
    let order = "<option value=\"desc\" selected>Z to A</option>";
    assert!(by_name.reply.text().contains(order), "{}", by_name.reply);
    let command = "clients list --search='some app' --order=desc";
    expect_words(&by_name, 200, command);
    let listed = world.cli(
        &[
            "clients",
            "list",
            "--search",
            &app.id,
            "--first-party=false",
            "--json",
        ],
        "",
    );
    assert_eq!(listed[0]["id"], json!(app.id), "{listed}");
    let none = browser.open(&format!("{PATH}?search=no+such+name")).await;
    expect_words(&none, 200, "No app fits these conditions.");
    let refused = browser
        .open(&format!("{PATH}?type=other&first_party=true&disabled=x"))
        .await;
    expect_words(&refused, 200, "x ” is not valid, and was ignored.");
    assert_eq!(refused.wrong_fields(), ["type", "disabled"], "{}", refused.reply);
    let unknown = browser.open(&format!("{PATH}/none")).await;
    assert_eq!(unknown.reply.status, 404, "{}", unknown.reply);
}

/// Expects that this user sees none of the pages.
async fn expect_nothing(user: &User, paths: &[&str]) {
    let mut browser = user.browser();
    for path in paths {
        let page = browser.open(path).await;
        expect_words(&page, 403, "Only administrators can see this page");
    }
}

async fn only_administrators_see_apps(world: SharedWorld) {
    let app = world.app().register();
    let path = path_of(&app);
    expect_nothing(&world.user().await, &[PATH, NEW, &path]).await;
    for page in [PATH, NEW, &path] {
        let to_sign_in = world.browser().open(page).await;
        assert_eq!(
            to_sign_in.location().unwrap().path(),
            "/signin",
            "{}",
            to_sign_in.reply
        );
    }
    let admin = world.user_with_role("admin").await;
    let mut browser = admin.browser();
    let page = browser.open(&path).await;
    world.age_sign_ins_of(&admin).await;
    let stale = browser.open(&path).await;
    expect_words(&stale, 200, "you must have signed in within the last ten minutes");
    let refused = post(
        &mut browser,
        &page,
        &format!("{path}/changes"),
        &[("change", "disable")],
    )
    .await;
    assert_eq!(refused.location().unwrap().path(), "/signin", "{}", refused.reply);
    let to_sign_in = browser.open(NEW).await;
    assert_eq!(
        to_sign_in.location().unwrap().path(),
        "/signin",
        "{}",
        to_sign_in.reply
    );
    let stored = world.cli(&["clients", "show", &app.id, "--json"], "");
    assert!(stored["disabled_at"].is_null(), "{stored}");
}

on_every_shape!(
    an_administrator_changes_an_app,
    apps_are_selected,
    only_administrators_see_apps,
);
