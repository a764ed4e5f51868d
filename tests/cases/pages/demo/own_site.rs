//! The demo app on an origin of its own, with the files and the policy of `docs/apps/demo.md`.

use super::{Demo, NO_SESSION};
use crate::http::try_it::with_origin_of_api;
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use tests::{Shape, StaticSite, World, eventually, on_shapes, root};

/// The client in the settings of the page.
const CLIENT: &str = "demo-site";
/// The scope that the page requests.
const SCOPE: &str = "openid profile:read posts:read posts:write comments:write payments:read payments:write";

fn documentation() -> String {
    fs::read_to_string(root().join("docs/apps/demo.md")).unwrap()
}

/// Replaces the URLs of the issuer and of the API.
fn at(world: &World, api: &str, text: &str) -> String {
    let text = text.replace("https://login.example.com", world.base());
    text.replace("https://api.example.com", api)
}

/// The files that the documentation copies, by name.
fn files(world: &World, api: &str) -> HashMap<String, Vec<u8>> {
    let documentation = documentation();
    let mut commands = documentation.lines();
    let copy = commands.find_map(|line| line.strip_prefix("cp ")).unwrap();
    let mut paths = Vec::new();
    for source in copy.split(' ').filter(|path| !path.starts_with('/')) {
        match source.strip_suffix("/*") {
            Some(folder) => {
                let entries = fs::read_dir(root().join(folder)).unwrap();
                paths.extend(entries.map(|entry| entry.unwrap().path()));
            }
            None => paths.push(root().join(source)),
        }
    }
    let file = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(&path).unwrap())
    };
    let mut files: HashMap<String, Vec<u8>> = paths.into_iter().map(file).collect();
    let page = fs::read_to_string(root().join("deploy/demo/index.html")).unwrap();
    files.insert("index.html".to_owned(), at(world, api, &page).into_bytes());
    files
}

/// The content security policy of the documentation, which is the same for each server.
fn policy(world: &World, api: &str) -> String {
    let documentation = documentation();
    let parts = documentation.split("Content-Security-Policy \"").skip(1);
    let policies: Vec<&str> = parts.map(|part| part.split('"').next().unwrap()).collect();
    assert_eq!(policies[0], policies[1]);
    at(world, api, policies[0])
}

/// Starts the server of the app, and registers a first-party client by the API. The documented command and
/// its consent are tested beside Compose.
async fn start(world: &World, api: &str) -> StaticSite {
    let site = StaticSite::start(files(world, api), policy(world, api)).await;
    let client = json!({
        "id": CLIENT, "name": "Demo app", "type": "spa", "scope": SCOPE, "first_party": true,
        "refresh_cookie": true, "redirect_uris": [format!("{}/callback", site.origin)],
    });
    let admin = world.user_with_role("admin").await;
    admin.post("/admin/clients").json(&client).await.expect(201);
    world.expect_origin(&site.origin).await;
    site
}

async fn the_demo_app_runs_on_an_origin_of_its_own(world: World) {
    let site = start(&world, world.base()).await;
    let user = world.user().await;
    let demo = Demo {
        address: format!("{}/", site.origin),
        ..Demo::start(&world, &user).await
    };
    demo.sign_in().await;
    let post = demo.write_post().await;
    demo.merge_versions(post).await;
    demo.load_again(post).await;
    demo.comment_on(post).await;
    demo.delete_comments(post).await;
    demo.delete_post(post).await;
    demo.pay().await;
    demo.renew().await;
    let path = format!("/posts/{post}");
    demo.expect_refused(&[("/token", 400), (&path, 412), (&path, 412), (&path, 412)])
        .await;
    // The cookie continues the session.
    demo.open().await;
    demo.expect_user().await;
    demo.chromium
        .expect_no_trace(&[world.base().to_owned()], 200)
        .await;
    demo.sign_out().await;
    demo.open().await;
    demo.chromium.expect(NO_SESSION).await;
}

/// As in the documentation, whose policy allows requests to both.
async fn the_demo_app_calls_an_issuer_and_an_api_of_two_origins(shape: Shape) {
    let (world, api, _replica) = with_origin_of_api(shape).await;
    let site = start(&world, &api).await;
    eventually("the API does not allow the origin", async || {
        let preflight = world.anyone().at(&api).call("OPTIONS", "/posts");
        let preflight = preflight.header("origin", &site.origin);
        let preflight = preflight.header("access-control-request-method", "POST");
        preflight.await.has("access-control-allow-origin")
    })
    .await;
    let user = world.user().await;
    let demo = Demo {
        address: format!("{}/", site.origin),
        ..Demo::start(&world, &user).await
    };
    demo.sign_in().await;
    let post = demo.write_post().await;
    demo.comment_on(post).await;
    demo.pay().await;
    demo.renew().await;
    demo.expect_refused(&[("/token", 400)]).await;
}

on_shapes!(the_demo_app_runs_on_an_origin_of_its_own: ; long: split Split);
on_shapes!(the_demo_app_calls_an_issuer_and_an_api_of_two_origins: ; long: split Split);
