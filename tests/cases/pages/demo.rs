//! The demo app in Chromium, and the files that it loads.

use serde_json::json;
use tests::{Chromium, PASSWORD, SUBMIT, SharedWorld, User, World, eventually, items, on_one_process};

/// Returns the links with an authorization code.
const LINKS_WITH_CODE: &str =
    "return [...document.links].map(link => link.href).filter(url => /[?&]code=/.test(url))";
/// Returns the claims that the page shows.
const CLAIMS: &str = "return JSON.parse(document.querySelector('#claims').textContent)";
/// Loses the next revocation, as a broken connection does.
const LOSE_REVOCATION: &str = "
    const send = window.fetch;
    window.fetch = request => {
        if (!request.url.endsWith('/token/revoke')) return send(request);
        window.fetch = send;
        return Promise.reject(new TypeError('lost'));
    };
";

/// A user of the demo app.
struct Demo<'w> {
    world: &'w World,
    user: &'w User,
    chromium: Chromium,
}

impl Demo<'_> {
    async fn open(&self) {
        self.chromium.open(&format!("{}/demo", self.world.base())).await;
    }

    /// Signs in and comes back to the page, whose address has nothing of the response.
    async fn sign_in(&self) {
        let chromium = &self.chromium;
        self.open().await;
        chromium.expect("You are not signed in.").await;
        chromium.submit(&[], "#sign-in", "id=\"password\"").await;
        let fields = [("#email", self.user.email.as_str()), ("#password", PASSWORD)];
        chromium.submit(&fields, SUBMIT, "\"jti\"").await;
        self.expect_user().await;
        assert_eq!(chromium.run(LINKS_WITH_CODE, &[]).await, json!([]));
    }

    /// Expects the page of the user at its own address.
    async fn expect_user(&self) {
        let shown = format!("<bdi id=\"user\">{}</bdi>", self.user.email);
        let address = self.chromium.expect(&shown).await;
        assert_eq!(address, format!("{}/demo", self.world.base()));
        self.chromium.expect("\"jti\"").await;
    }

    /// Writes a post. Returns its id.
    async fn write_post(&self) -> i64 {
        let fields = [("#new-post-title", "Mine"), ("#new-post-body", "First")];
        let shown = "<strong>Mine</strong>";
        self.chromium.submit(&fields, "#create-post", shown).await;
        let own = format!("/posts?author_id={}", self.user.id);
        let posts = items(&self.user.get(&own).await.expect(200));
        posts[0]["id"].as_i64().unwrap()
    }

    /// Changes the post after somebody else did: sees the other version, merges both, and saves again.
    async fn merge_versions(&self, post: i64) {
        let (chromium, path) = (&self.chromium, format!("/posts/{post}"));
        let save = format!("#edit-{post}-save");
        let edit = format!("#post-{post} > details:nth-of-type(1) > summary");
        chromium.submit(&[], &edit, &save[1..]).await;
        let theirs = json!({ "title": "Theirs" });
        let changed = self.user.patch(&path).header("if-match", "*").json(&theirs);
        changed.await.expect(200);
        let body = format!("#edit-{post}-body");
        let fields = [(body.as_str(), "Second")];
        chromium.submit(&fields, &save, "<strong>Theirs</strong>").await;
        let title = format!("#edit-{post}-title");
        let fields = [(title.as_str(), "Both")];
        chromium.submit(&fields, &save, "Saved. The entity tag").await;
        let saved = self.user.get(&path).await.expect(200).json();
        assert_eq!(
            (&saved["title"], &saved["body"]),
            (&json!("Both"), &json!("Second"))
        );
    }

    async fn comment_on(&self, post: i64) {
        let comments = format!("#post-{post} > details:nth-of-type(2) > summary");
        let create = format!("#create-comment-{post}");
        self.chromium.submit(&[], &comments, &create[1..]).await;
        let field = format!("#comment-{post}");
        let fields = [(field.as_str(), "Nice")];
        self.chromium.submit(&fields, &create, "<p>Nice<br>").await;
    }

    /// Makes a payment whose answer is lost, captures it and refunds it.
    async fn pay(&self) {
        let chromium = &self.chromium;
        chromium.submit(&[], "#lose-answer", "id=\"same-payment\"").await;
        let payments = items(&self.user.get("/payments").await.expect(200));
        assert_eq!(payments.len(), 1, "{payments:?}");
        let id = payments[0]["id"].as_str().unwrap();
        chromium.expect(&format!("id=\"capture-{id}\"")).await;
        let source = chromium.source().await;
        for shown in [
            "201, lost on purpose",
            "Idempotent-Replayed: true",
            "Authorization: Bearer …",
        ] {
            assert!(source.contains(shown), "{shown}: {source}");
        }
        for secret in ["Bearer eyJ", "\"access_token\": \"eyJ"] {
            assert!(!source.contains(secret), "{secret}: {source}");
        }
        let [capture, refund] = ["capture", "refund"].map(|step| format!("#{step}-{id}"));
        chromium
            .submit(&[], &capture, "captured €12.50, refunded €0.00")
            .await;
        chromium
            .submit(&[], &refund, "captured €12.50, refunded €12.50")
            .await;
    }

    /// Renews the access token.
    async fn renew(&self) {
        let former = self.chromium.run(CLAIMS, &[]).await;
        self.chromium.press("#renew").await;
        eventually("the token was not renewed", async || {
            self.chromium.run(CLAIMS, &[]).await["jti"] != former["jti"]
        })
        .await;
    }

    /// Signs out, which succeeds when the user repeats it.
    async fn sign_out(&self) {
        let chromium = &self.chromium;
        chromium.run(LOSE_REVOCATION, &[]).await;
        chromium.submit(&[], "#sign-out", "Sign out again").await;
        let ended = "You are not signed in (signed_out)";
        chromium.submit(&[], "#sign-out", ended).await;
        let source = chromium.source().await;
        assert!(!source.contains("Sign out again"), "{source}");
    }

    /// Expects that the console has only these refused calls, each with its path and its status.
    async fn expect_refused(&self, calls: &[(&str, u16)]) {
        let console = self.chromium.console().await;
        let is_of = |message: &str, path: &str, status: u16| {
            message.starts_with(&format!("{}{path} ", self.world.base()))
                && message.contains(&format!("a status of {status} ("))
        };
        let is_expected = |message: &String| calls.iter().any(|&(path, status)| is_of(message, path, status));
        assert!(console.iter().all(is_expected), "{console:?}");
        assert_eq!(console.len(), calls.len(), "{console:?}");
    }
}

async fn the_demo_app_shows_the_whole_way_from_sign_in_to_sign_out(world: SharedWorld) {
    let user = world.user().await;
    let demo = Demo {
        world: &world,
        user: &user,
        chromium: Chromium::in_language("en").await,
    };
    demo.sign_in().await;
    let post = demo.write_post().await;
    demo.merge_versions(post).await;
    demo.comment_on(post).await;
    demo.pay().await;
    demo.renew().await;
    demo.expect_refused(&[("/token", 400), (&format!("/posts/{post}"), 412)])
        .await;
    demo.chromium.expect_no_trace(None, 200).await;
    // The cookie continues the session.
    demo.open().await;
    demo.expect_user().await;
    demo.chromium.expect_no_trace(None, 200).await;
    demo.sign_out().await;
    demo.open().await;
    demo.chromium.expect("You are not signed in.").await;
    demo.expect_refused(&[("/token", 400)]).await;
    demo.chromium.expect_no_trace(None, 200).await;
}

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

/// Each file of the demo app is served, and imports only such files.
async fn the_scripts_of_the_demo_app_are_complete(world: SharedWorld) {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/demo");
    let (mut files, mut imports) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
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

on_one_process!(
    the_demo_app_shows_the_whole_way_from_sign_in_to_sign_out,
    the_demo_app_is_served_with_a_strict_policy,
    the_scripts_of_the_demo_app_are_complete,
);
