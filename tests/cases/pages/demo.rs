//! The demo app in Chromium: the way from sign-in to sign-out, several tabs, what interrupts a session, and a
//! server of its own.

mod changes;
mod interruptions;
mod lists;
mod own_site;
mod panel;
mod served;
mod tabs;
mod watch;

use serde_json::{Value, json};
use tests::{Chromium, PASSWORD, SUBMIT, SharedWorld, User, World, eventually, items, on_one_process};

/// Returns the links with an authorization code.
const LINKS_WITH_CODE: &str =
    "return [...document.links].map(link => link.href).filter(url => /[?&]code=/.test(url))";
/// The words of the page in a browser that has no session.
const NO_SESSION: &str = "You are not signed in (invalid_grant): the browser sent no cookie";
/// Returns the claims that the page shows.
const CLAIMS: &str = "return JSON.parse(document.querySelector('#claims').textContent)";
/// Returns how full the bar of the token's life is.
const LIFE: &str = "const { value, max } = document.querySelector('#token-life'); return value / max";
/// Half of the time that an access token lives, in milliseconds.
const HALF_A_LIFE: u32 = 300_000;
/// Sets the clock of the page forward. Its timers stand still meanwhile, as in a computer that sleeps.
const MOVE_CLOCK: &str = "
    const [length] = args, now = Date.now;
    Date.now = () => now() + length;
";
/// The words of the page after a change of a post.
const SAVED: &str = "Saved. The entity tag";
/// Loses the next revocation, as a broken connection does.
const LOSE_REVOCATION: &str = "
    const send = window.fetch;
    window.fetch = request => {
        if (!request.url.endsWith('/token/revoke')) return send(request);
        window.fetch = send;
        return Promise.reject(new TypeError('lost'));
    };
";

/// The source of a text in place of another one, as a merge marks it.
fn marked(former: &str, current: &str) -> String {
    let part = |tag, says, text| format!("<{tag}><span class=\"unseen\">{says}: </span>{text}</{tag}>");
    part("del", "removed", former) + &part("ins", "added", current)
}

/// A user of the demo app.
struct Demo<'w> {
    world: &'w World,
    user: &'w User,
    chromium: Chromium,
    /// The address of the page.
    address: String,
}

impl<'w> Demo<'w> {
    /// Starts a browser, and watches what its pages store.
    async fn start(world: &'w World, user: &'w User) -> Self {
        let demo = Self {
            world,
            user,
            chromium: Chromium::in_language("en").await,
            address: format!("{}/demo", world.base()),
        };
        demo.watch().await;
        demo
    }

    async fn open(&self) {
        self.chromium.open(&self.address).await;
    }

    /// Signs in and comes back to the page, whose address has nothing of the response.
    async fn sign_in(&self) {
        let chromium = &self.chromium;
        self.open().await;
        chromium.expect(NO_SESSION).await;
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
        assert_eq!(address, self.address);
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

    /// Opens the form that changes the post.
    async fn edit(&self, post: i64) {
        self.chromium.expect(&format!("id=\"post-{post}\"")).await;
        let edit = format!("#post-{post} > details:nth-of-type(1) > summary");
        let field = format!("id=\"edit-{post}-save\"");
        self.chromium.submit(&[], &edit, &field).await;
    }

    /// Changes a field of the post, saves, and expects this text.
    async fn save(&self, post: i64, field: &str, value: &str, shown: &str) {
        self.chromium.fill(&format!("#edit-{post}-{field}"), value).await;
        self.save_as_it_is(post, shown).await;
    }

    /// Saves what the form has, and expects this text.
    async fn save_as_it_is(&self, post: i64, shown: &str) {
        let save = format!("#edit-{post}-save");
        self.chromium.submit(&[], &save, shown).await;
    }

    /// Expects that a field of the form has this value.
    async fn expect_field(&self, post: i64, field: &str, value: &str) {
        let field = format!("edit-{post}-{field}");
        let read = "return document.getElementById(args[0]).value";
        assert_eq!(self.chromium.run(read, &[json!(field)]).await, value);
    }

    /// Expects that the post has this title and this text.
    async fn expect_post(&self, post: i64, title: &str, body: &str) {
        let saved = self.user.get(&format!("/posts/{post}")).await.expect(200).json();
        assert_eq!((&saved["title"], &saved["body"]), (&json!(title), &json!(body)));
    }

    async fn comment_on(&self, post: i64) {
        let comments = format!("#post-{post} > details:nth-of-type(2) > summary");
        let create = format!("#create-comment-{post}");
        self.chromium.submit(&[], &comments, &create[1..]).await;
        let field = format!("#comment-{post}");
        let fields = [(field.as_str(), "Nice")];
        self.chromium.submit(&fields, &create, "<p>Nice<br>").await;
    }

    /// The access token that the page has: its `jti`.
    async fn token(&self) -> Value {
        self.chromium.run(CLAIMS, &[]).await["jti"].clone()
    }

    /// Expects that the page has another access token than this one, or will have one soon.
    async fn expect_renewed(&self, former: &Value) {
        eventually("the token was not renewed", async || {
            self.token().await != *former
        })
        .await;
    }

    /// Renews the access token.
    async fn renew(&self) {
        let former = self.token().await;
        self.chromium.press("#renew").await;
        self.expect_renewed(&former).await;
    }

    /// Renews the access token later. The bar of its life falls until then.
    async fn renew_later(&self) {
        self.chromium.run(MOVE_CLOCK, &[json!(HALF_A_LIFE)]).await;
        eventually("the bar of the token did not fall", async || {
            self.life().await < 0.6
        })
        .await;
        self.renew().await;
        eventually("the bar of the new token is not full", async || {
            self.life().await > 0.9
        })
        .await;
    }

    /// The remaining life of the access token as the bar shows it, as a part of the whole one.
    async fn life(&self) -> f64 {
        self.chromium.run(LIFE, &[]).await.as_f64().unwrap()
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
        let console = self.expect_only_refused(calls).await;
        assert_eq!(console.len(), calls.len(), "{console:?}");
    }

    /// Expects that each message of the console is of one of these refused calls. Returns the messages.
    async fn expect_only_refused(&self, calls: &[(&str, u16)]) -> Vec<String> {
        let console = self.chromium.console().await;
        let is_of = |message: &str, path: &str, status: u16| {
            message.starts_with(&format!("{}{path} ", self.world.base()))
                && message.contains(&format!("a status of {status} ("))
        };
        let is_expected = |message: &String| calls.iter().any(|&(path, status)| is_of(message, path, status));
        assert!(console.iter().all(is_expected), "{console:?}");
        console
    }
}

async fn the_demo_app_shows_the_whole_way_from_sign_in_to_sign_out(world: SharedWorld) {
    let user = world.user().await;
    let demo = Demo::start(&world, &user).await;
    demo.sign_in().await;
    let post = demo.write_post().await;
    demo.merge_versions(post).await;
    demo.load_again(post).await;
    demo.comment_elsewhere(post).await;
    demo.comment_on(post).await;
    demo.delete_comments(post).await;
    demo.delete_post(post).await;
    demo.pay().await;
    demo.pay_after_a_failure().await;
    demo.expect_panel_beside_the_page().await;
    demo.renew_later().await;
    let path = format!("/posts/{post}");
    demo.expect_refused(&[("/token", 400), (&path, 412), (&path, 412), (&path, 412)])
        .await;
    demo.chromium.expect_no_trace(&[], 200).await;
    // The cookie continues the session.
    demo.open().await;
    demo.expect_user().await;
    demo.chromium.expect_no_trace(&[], 200).await;
    demo.sign_out().await;
    demo.open().await;
    demo.chromium.expect(NO_SESSION).await;
    demo.expect_refused(&[("/token", 400)]).await;
    demo.chromium.expect_no_trace(&[], 200).await;
    demo.expect_no_token_in_history().await;
    demo.expect_watch().await;
}

on_one_process!(the_demo_app_shows_the_whole_way_from_sign_in_to_sign_out);
