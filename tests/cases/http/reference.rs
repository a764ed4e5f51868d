//! The reference under `/docs`, the same in Markdown, and `/llms.txt`.

mod syntax;

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use tests::{Chromium, Example, SharedWorld, on_every_shape, on_one_process, on_one_shape, tool};

const LANGUAGES: [&str; 4] = ["curl", "JavaScript", "Python", "Rust"];
/// The largest size of a page over the wire, in bytes.
const MAX_BYTES: usize = 60_000;
/// The width of the narrowest phone, in pixels.
const NARROWEST: u32 = 320;

/// The path of the page of a tag.
fn page_of(tag: &Value) -> String {
    format!("/docs/{}", tag.as_str().unwrap().to_lowercase().replace(' ', "-"))
}

/// The sample of an operation in Markdown.
fn sample<'a>(markdown: &'a str, operation: &str, language: &str) -> &'a str {
    let heading = format!("(operation `{operation}`)");
    let (_, of_operation) = markdown.split_once(&heading).unwrap();
    let heading = format!("\n{language}:\n\n```\n");
    let (_, code) = of_operation.split_once(&heading).unwrap();
    code.split_once("\n```").unwrap().0
}

async fn every_operation_is_in_the_page_and_the_markdown(world: SharedWorld) {
    let anyone = world.anyone();
    let document = anyone.get("/openapi.json").await.expect(200).json();
    let general = anyone.get("/docs").await.expect(200).text();
    for tag in document["tags"].as_array().unwrap() {
        let path = page_of(&tag["name"]);
        let page = anyone.get(&path).await.expect(200).text();
        let markdown = anyone.get(&format!("{path}.md")).await.expect(200).text();
        let items = document["paths"].as_object().unwrap().iter();
        let operations = items.flat_map(|(route, item)| {
            let members = item.as_object().unwrap().iter();
            members.map(move |(method, operation)| (route, method, operation))
        });
        for (route, method, operation) in operations {
            if operation["tags"][0] != tag["name"] {
                continue;
            }
            let id = operation["operationId"].as_str().unwrap();
            let what = format!("{id} in {path}");
            assert!(general.contains(&format!("href=\"{path}#{id}\"")), "{what}");
            assert!(page.contains(&format!("<article id=\"{id}\"")), "{what}");
            assert!(
                page.contains(&format!("<b>{}</b> {route}<", method.to_uppercase())),
                "{what}"
            );
            let samples = page.matches(&format!("name=\"{id}-sample\"")).count();
            assert_eq!(samples, LANGUAGES.len(), "{what}");
            for language in LANGUAGES {
                let code = sample(&markdown, id, language);
                assert!(code.contains(world.base()), "{what}: {code}");
            }
        }
    }
}

async fn pages_need_no_script_and_are_small_and_cacheable(world: SharedWorld) {
    let anyone = world.anyone();
    let document = anyone.get("/openapi.json").await.expect(200).json();
    let tags = document["tags"].as_array().unwrap().iter();
    let mut paths: Vec<String> = tags.map(|tag| page_of(&tag["name"])).collect();
    paths.extend(paths.clone().iter().map(|path| format!("{path}.md")));
    paths.extend(["/docs".to_owned(), "/llms.txt".to_owned()]);
    for path in paths {
        let reply = anyone.get(&path).await.expect(200);
        let text = reply.text();
        assert!(!text.contains("<script") && !text.contains("<style"), "{path}");
        assert!(!text.contains(" style=") && !text.contains(" onclick="), "{path}");
        let policy = reply.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self'; "),
            "{reply}"
        );
        assert!(
            !policy.contains("unsafe") && !policy.contains("script"),
            "{reply}"
        );
        assert!(reply.header("cache-control").contains("max-age="), "{reply}");
        assert_eq!(reply.header("cross-origin-opener-policy"), "same-origin");
        let etag = reply.header("etag");
        assert!(etag.starts_with('"'), "{reply}");
        let again = anyone.get(&path).header("if-none-match", etag).await;
        assert!(again.expect(304).body.is_empty(), "{path}");
        let compressed = anyone
            .with("accept-encoding", "gzip")
            .get(&path)
            .await
            .expect(200);
        assert!(
            compressed.body.len() < MAX_BYTES,
            "{path}: {}",
            compressed.body.len()
        );
    }
    for path in [
        "/docs/unknown",
        "/docs/unknown.md",
        "/docs/posts.html",
        "/docs/.md",
    ] {
        anyone.get(path).await.expect_error(404, "not_found");
    }
}

async fn the_links_for_language_models_resolve(world: SharedWorld) {
    let anyone = world.anyone();
    let overview = anyone.get("/llms.txt").await.expect(200).text();
    assert!(overview.starts_with("# Latchkey API\n\n> "), "{overview}");
    let links = overview
        .split("](")
        .skip(1)
        .map(|rest| rest.split_once(')').unwrap().0);
    let links: Vec<&str> = links.collect();
    assert!(links.len() > 5, "{links:?}");
    for link in links {
        let path = link.strip_prefix(world.base()).unwrap();
        anyone.get(path).await.expect(200);
    }
}

async fn samples_have_the_client_id_of_the_reader(world: SharedWorld) {
    let anyone = world.anyone();
    let general = anyone.get("/docs?client_id=my-app").await.expect(200).text();
    assert!(
        general.contains("href=\"/docs/oauth?client_id=my-app#"),
        "{general}"
    );
    for path in ["/docs/oauth", "/docs/oauth.md"] {
        let general = anyone.get(path).await.expect(200).text();
        assert!(general.contains("client_id=YOUR_CLIENT_ID"), "{path}");
        let own = anyone
            .get(&format!("{path}?client_id=my-app"))
            .await
            .expect(200)
            .text();
        assert!(
            own.contains("client_id=my-app") && !own.contains("YOUR_CLIENT_ID"),
            "{path}"
        );
        let too_long = "a".repeat(257);
        for id in [
            "",
            "%22%3E%3Cb%3E",
            "a%20b",
            "%27",
            "%24a",
            "%60",
            "%5C",
            &too_long,
        ] {
            let other = anyone
                .get(&format!("{path}?client_id={id}"))
                .await
                .expect(200)
                .text();
            assert_eq!(other, general, "{path}: {id}");
        }
    }
}

/// Without a script and without a cookie: all links but those that choose another language keep the choice.
async fn the_language_of_the_samples_is_chosen_once(world: SharedWorld) {
    let anyone = world.anyone();
    let general = anyone.get("/docs/posts").await.expect(200);
    let mut etags = BTreeSet::from([general.header("etag").to_owned()]);
    let queries = LANGUAGES.map(|language| format!("client_id=my-app&language={}", language.to_lowercase()));
    for (language, query) in LANGUAGES.into_iter().zip(&queries) {
        let page = world.browser().open(&format!("/docs/posts?{query}")).await;
        let text = page.reply.text();
        let operations = text.matches("<article id=").count();
        let open = format!("-sample\" open>\n<summary>{language}</summary>");
        assert_eq!(text.matches(&open).count(), operations, "{text}");
        assert_eq!(text.matches("-sample\" open>").count(), operations, "{text}");
        let mut choices = 0;
        for link in page.links() {
            if !link.path().starts_with("/docs") || link.path() == "/docs/try" {
                continue;
            }
            let of_link = link.query().unwrap_or_default();
            if of_link != query {
                assert!(queries.iter().any(|other| of_link == other), "{link}");
                assert_eq!(link.path(), "/docs/posts");
                assert!(link.fragment().is_some(), "{link}");
                choices += 1;
            }
        }
        assert_eq!(choices, (LANGUAGES.len() - 1) * operations);
        let field = format!("name=\"language\" value=\"{}\"", language.to_lowercase());
        assert!(text.contains(&field), "{text}");
        assert!(!page.reply.has("set-cookie"), "{}", page.reply);
        etags.insert(page.reply.header("etag").to_owned());
        let markdown = anyone.get(&format!("/docs/posts.md?{query}")).await.expect(200);
        for other in LANGUAGES {
            let has = markdown.text().contains(&format!("\n{other}:\n"));
            assert_eq!(has, other == language, "{other} in {markdown}");
        }
    }
    assert_eq!(etags.len(), 1 + LANGUAGES.len(), "{etags:?}");
    for path in ["/docs/posts", "/docs/posts.md"] {
        let general = anyone.get(path).await.expect(200).text();
        let other = anyone.get(&format!("{path}?language=cobol")).await;
        assert_eq!(other.expect(200).text(), general);
    }
}

/// A program of the reference, with an access token in the variable that it expects.
fn program(language: &str, code: &str, token: &str) -> Command {
    let (interpreter, arguments) = match language {
        "curl" => (PathBuf::from("bash"), vec!["-c".to_owned(), code.to_owned()]),
        "JavaScript" => {
            let code = format!("const token = process.env.TOKEN;\n{code}");
            (
                PathBuf::from("node"),
                vec!["--input-type=module".to_owned(), "-e".to_owned(), code],
            )
        }
        _ => {
            let code = format!("import os\ntoken = os.environ[\"TOKEN\"]\n{code}");
            (tool("authlib/bin/python"), vec!["-c".to_owned(), code])
        }
    };
    let mut command = Command::new(interpreter);
    command.args(arguments).env("TOKEN", token).env("NO_PROXY", "*");
    command
}

async fn samples_run_as_they_are_written(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let token = app.tokens(&user, "posts:read posts:write").await.access;
    let markdown = world.anyone().get("/docs/posts.md").await.expect(200).text();
    for language in ["curl", "JavaScript", "Python"] {
        for (operation, expected) in [("createPost", "\"Hello\""), ("listPosts", "\"items\"")] {
            let code = sample(&markdown, operation, language);
            let printed = Example::spawn(program(language, code, &token)).end().await;
            assert!(printed.contains(expected), "{language}: {code}\n{printed}");
        }
    }
    let own = format!("/posts?author_id={}", user.id);
    let posts = user.get(&own).await.expect(200).json();
    assert_eq!(posts["items"].as_array().map(Vec::len), Some(3), "{posts}");
}

async fn pages_are_accessible(world: SharedWorld) {
    let chromium = Chromium::with_scripts().await;
    let axe = std::fs::read_to_string(tool("node/node_modules/axe-core/axe.min.js")).unwrap();
    chromium.add_script(&axe).await;
    for path in ["/docs", "/docs/posts"] {
        chromium.open(&format!("{}{path}", world.base())).await;
        let check = "const { violations } = await axe.run();
            return violations.map(found => found.id + ': ' + found.nodes.map(node => node.html).join('; '));";
        let violations = chromium.run(check, &[]).await;
        assert_eq!(violations, Value::from(Vec::<Value>::new()), "{path}");
        chromium.expect_no_trace(&[], 200).await;
    }
    chromium.be_a_phone(NARROWEST).await;
    let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(chromium.run(overflow, &[]).await, 0);
}

on_every_shape!(
    every_operation_is_in_the_page_and_the_markdown,
    pages_need_no_script_and_are_small_and_cacheable,
    the_links_for_language_models_resolve,
);
on_one_process!(
    samples_have_the_client_id_of_the_reader,
    the_language_of_the_samples_is_chosen_once,
    pages_are_accessible,
);
on_one_shape!(samples_run_as_they_are_written);
