//! The pages and the files of the demo app.

use tests::{SharedWorld, World, on_one_process, root};

async fn the_demo_app_is_served_with_a_strict_policy(world: SharedWorld) {
    let anyone = world.anyone();
    for path in ["/demo", "/demo/callback"] {
        let page = anyone.get(path).await.expect(200);
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        let own = "script-src 'self'; connect-src 'self'";
        assert!(policy.ends_with(own) && !policy.contains("unsafe"), "{policy}");
        assert!(page.text().contains("src=\"/demo/main.js\""), "{page}");
    }
    for file in ["main.js", "latchkey-auth.js"] {
        let script = anyone.get(&format!("/demo/{file}")).await.expect(200);
        assert!(
            script.header("content-type").starts_with("text/javascript"),
            "{script}"
        );
    }
    anyone.get("/demo/other.js").await.expect_error(404, "not_found");
}

/// Each script of the demo app is served, and imports only such scripts.
async fn the_scripts_of_the_demo_app_are_complete(world: SharedWorld) {
    let (mut files, mut imports) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(root().join("deploy/demo")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".js") {
            continue;
        }
        let served = world
            .anyone()
            .get(&format!("/demo/{name}"))
            .await
            .expect(200)
            .text();
        let parts = served.split(" from \"./").skip(1);
        imports.extend(parts.map(|part| part.split('"').next().unwrap().to_owned()));
        files.push(name);
    }
    files.push("latchkey-auth.js".to_owned());
    imports.retain(|import| !files.contains(import));
    assert_eq!(imports, Vec::<String>::new());
}

/// Each copy of the module is the shipped file, beside the page to which its errors link.
async fn the_errors_of_the_module_are_explained(world: SharedWorld) {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let shipped = read("deploy/latchkey-auth/latchkey-auth.js");
    let link = shipped.split("new URL(\"./").nth(1).unwrap();
    let errors = link.split('"').next().unwrap();
    for folder in ["/demo", "/docs"] {
        for (file, kind) in [("latchkey-auth.js", "text/javascript"), (errors, "text/html")] {
            let copy = world.anyone().get(&format!("{folder}/{file}")).await.expect(200);
            assert_eq!(copy.header("content-type"), format!("{kind}; charset=utf-8"));
            assert_eq!(copy.text(), read(&format!("deploy/latchkey-auth/{file}")));
        }
    }
    let copied = format!("latchkey-auth/{errors} ");
    assert_eq!(read("docs/apps/demo.md").matches(&copied).count(), 2);
}

/// An operator can disable the app: its link on the front page would then lead to an error.
async fn the_front_page_links_to_the_demo_app_while_it_is_enabled(world: World) {
    let has_link = async || {
        let front = world.anyone().get("/").await.expect(200);
        front.text().contains("href=\"/demo\"")
    };
    assert!(has_link().await);
    world.cli(&["clients", "disable", "demo-app", "--json"], "");
    assert!(!has_link().await);
    world.cli(&["clients", "enable", "demo-app", "--json"], "");
    assert!(has_link().await);
}

async fn the_names_of_files_are_code(world: SharedWorld) {
    let anyone = world.anyone();
    for (path, name) in [
        ("/", "<li><code>README.md</code>: "),
        (
            "/demo?code=some-code",
            "<code>docs/apps/sign-in-with-pkce.md</code>",
        ),
        ("/demo?error=access_denied", "<code>/authorize</code>"),
    ] {
        let page = anyone.get(path).await.expect(200).text();
        assert!(page.contains(name), "{path}: {page}");
    }
}

on_one_process!(
    the_demo_app_is_served_with_a_strict_policy,
    the_scripts_of_the_demo_app_are_complete,
    the_errors_of_the_module_are_explained,
    the_front_page_links_to_the_demo_app_while_it_is_enabled,
    the_names_of_files_are_code,
);
