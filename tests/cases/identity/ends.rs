//! Why was I signed out? The next sign-in page of the browser says it, and so does the `error_description`
//! for the refresh tokens of apps.

use foundation::random;
use serde_json::{Value, json};
use std::time::Duration;
use storage::{execute, fetch_one};
use tests::{
    App, Authenticator, Browser, PASSWORD, Page, Shape, SharedWorld, Tokens, User, World, eventually,
    on_every_shape,
};

const NEW_PASSWORD: &str = "another good password";
const OFFER: &str = "Was that not you? Choose a new password.";
/// The largest number of sessions of a user.
const MAX_SESSIONS: usize = 100;

/// A user with a session in each of two browsers, and a first-party app that got tokens in the first one.
struct Ended {
    first: User,
    second: User,
    app: App,
    tokens: Tokens,
}

impl Ended {
    async fn begin(world: &World) -> Self {
        let (first, app) = (world.user().await, world.app().first_party().register());
        let second = world.log_in(&first.email, PASSWORD).await;
        let tokens = app.tokens(&first, "posts:read").await;
        Self {
            first,
            second,
            app,
            tokens,
        }
    }

    /// Expects that the sign-in page of the first browser says why its session ended.
    async fn expect_on_page(&self, words: &str, offers_reset: bool) {
        self.first.get("/me").await.expect_error(401, "unauthenticated");
        let page = self.first.browser().open("/signin").await;
        let text = page.visible_text();
        assert!(text.contains(words), "{words}: {text}");
        assert_eq!(text.contains(OFFER), offers_reset, "{text}");
        let page = self.first.browser().in_language("de").open("/signin").await;
        assert!(page.visible_text().contains("abgemeldet"), "{}", page.reply);
    }

    /// Expects that the sign-in page of the second browser, which did not receive the answer to its change,
    /// ascribes the change to it.
    async fn expect_changed_here(&self) {
        self.second.get("/me").await.expect_error(401, "unauthenticated");
        let page = self.second.browser().open("/signin").await;
        let text = page.visible_text();
        assert!(text.contains("was changed in this browser."), "{text}");
        assert!(!text.contains("another device"), "{text}");
        assert!(text.contains(OFFER), "{text}");
        let page = self.second.browser().in_language("de").open("/signin").await;
        let text = page.visible_text();
        assert!(text.contains("in diesem Browser geändert wurde."), "{text}");
    }

    /// Expects that a refresh of the app is refused with a description that ends with these words.
    async fn expect_at_app(&self, world: &World, words: &str) {
        let reply = self.app.refresh(&world.anyone(), &self.tokens.refresh).await;
        let reply = reply.expect_token_error(400, "invalid_grant");
        let description = description(&reply.json());
        assert!(
            description.starts_with("the refresh token was revoked"),
            "{reply}"
        );
        assert!(description.ends_with(&format!(": {words}")), "{words}: {reply}");
    }
}

fn description(error: &Value) -> String {
    error["error_description"].as_str().unwrap().to_owned()
}

fn expect_no_reason(page: &Page) {
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    assert!(!page.reply.text().contains("class=\"notice\""), "{}", page.reply);
}

async fn a_changed_password_is_the_reason(world: SharedWorld) {
    let ended = Ended::begin(&world).await;
    let body = json!({ "current_password": PASSWORD, "new_password": NEW_PASSWORD });
    let change = ended.second.call("PUT", "/me/password").json(&body);
    change.await.expect(204);
    ended
        .expect_on_page(
            "because the password of your account was changed on another device.",
            true,
        )
        .await;
    ended.expect_changed_here().await;
    ended.expect_at_app(&world, "the user changed the password").await;
}

async fn a_reset_is_the_reason(world: SharedWorld) {
    let ended = Ended::begin(&world).await;
    let email = &ended.first.email;
    let request = world.anyone().post("/password-resets");
    request.json(&json!({ "email": email })).await.expect(202);
    let link = world.mail(email, "Reset your password", 1).await.link();
    let mut browser = ended.second.browser();
    let form = browser.open(link.as_str()).await;
    let done = browser.submit(&form, &[("new_password", NEW_PASSWORD)]).await;
    assert_eq!(done.reply.status, 200, "{}", done.reply);
    ended
        .expect_on_page("because the password of your account was reset.", true)
        .await;
    ended.expect_at_app(&world, "the user reset the password").await;
    // The browser of the reset needs no reason.
    assert!(browser.cookie("sid").is_none(), "{}", done.reply);
    expect_no_reason(&browser.open("/signin").await);
}

/// A reset of one user in the browser of another does not sign the other one out.
async fn a_reset_leaves_the_session_of_another_user(world: SharedWorld) {
    let (ann, ben) = (world.user().await, world.user().await);
    let request = world.anyone().post("/password-resets");
    request.json(&json!({ "email": ann.email })).await.expect(202);
    let link = world.mail(&ann.email, "Reset your password", 1).await.link();
    let mut browser = ben.browser();
    let form = browser.open(link.as_str()).await;
    let done = browser.submit(&form, &[("new_password", NEW_PASSWORD)]).await;
    assert_eq!(done.reply.status, 200, "{}", done.reply);
    let account = browser.open("/account").await;
    assert!(account.visible_text().contains(&ben.email), "{}", account.reply);
}

async fn a_changed_address_is_the_reason(world: SharedWorld) {
    let ended = Ended::begin(&world).await;
    let email = world.fresh_email();
    let mut browser = ended.second.browser();
    let form = browser.open("/account/email").await;
    browser.submit(&form, &[("email", &email)]).await;
    let link = world
        .mail(&email, "Confirm your new e-mail address", 1)
        .await
        .link();
    let form = browser.open(link.as_str()).await;
    browser
        .submit(&form, &[("csrf", &form.hidden("csrf").unwrap())])
        .await;
    ended
        .expect_on_page("because the e-mail address of your account was changed.", false)
        .await;
    ended
        .expect_at_app(&world, "the user changed the e-mail address")
        .await;
    assert!(browser.cookie("sid").is_none());
}

async fn two_step_sign_in_is_the_reason(world: SharedWorld) {
    let turned_on = Ended::begin(&world).await;
    let authenticator = Authenticator::enable(&world, &turned_on.second).await;
    turned_on
        .expect_on_page("because another device turned two-step sign-in on.", false)
        .await;
    turned_on
        .expect_at_app(&world, "the user turned two-step sign-in on")
        .await;
    turned_on.expect_changed_here().await;

    let sign_in = async |code: usize| {
        let (email, otp) = (&turned_on.first.email, &authenticator.recovery_codes[code]);
        let body = json!({ "email": email, "password": PASSWORD, "otp": otp });
        world.log_in_with(&body).await
    };
    let (first, mut browser) = (sign_in(0).await, sign_in(1).await.browser());
    let turned_off = Ended {
        tokens: turned_on.app.tokens(&first, "posts:read").await,
        first,
        ..turned_on
    };
    let form = browser.open("/account/two-step").await;
    let fields = ["csrf", "user"].map(|name| (name.to_owned(), form.hidden(name).unwrap()));
    let off = form.url.join("/account/two-step/off").unwrap();
    browser.post(&off, &fields).await;
    turned_off
        .expect_on_page("because another device turned two-step sign-in off.", true)
        .await;
    turned_off
        .expect_at_app(&world, "the user turned two-step sign-in off")
        .await;
}

async fn an_administrator_is_the_reason(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let (role, password) = (json!({ "role": "editor" }), json!({ "password": NEW_PASSWORD }));
    for (method, path, body, on_page, at_app) in [
        (
            "PATCH",
            "",
            &role,
            "because an administrator changed your role.",
            "an administrator changed the user's role",
        ),
        (
            "PUT",
            "/password",
            &password,
            "because an administrator chose a new password",
            "an administrator replaced the user's password",
        ),
        (
            "DELETE",
            "/sessions",
            &Value::Null,
            "An administrator signed you out",
            "an administrator signed the user out",
        ),
        (
            "DELETE",
            "/mfa",
            &Value::Null,
            "because an administrator turned two-step sign-in off or removed your passkeys.",
            "an administrator turned two-step sign-in off or removed the passkeys",
        ),
        (
            "POST",
            "/disablements",
            &Value::Null,
            "because an administrator disabled your account.",
            "an administrator disabled the account",
        ),
    ] {
        let ended = Ended::begin(&world).await;
        if path == "/mfa" {
            world.add_passkey(&mut ended.first.browser()).await;
        }
        let path = format!("/admin/users/{}{path}", ended.first.id);
        let call = admin.call(method, &path);
        let reply = match body {
            Value::Null => call.await,
            body => call.json(body).await,
        };
        assert!(reply.status < 300, "{path}: {reply}");
        ended.expect_on_page(on_page, false).await;
        ended.expect_at_app(&world, at_app).await;
    }
}

/// Two epochs of the user have ended since the tokens were issued, and only the reason of the last one is
/// kept.
async fn an_earlier_reason_for_apps_is_forgotten(world: SharedWorld) {
    let ended = Ended::begin(&world).await;
    Authenticator::enable(&world, &ended.second).await;
    let email = &ended.first.email;
    world.cli(&["users", "reset-mfa", "--email", email, "--json"], "");
    ended
        .expect_on_page("because another device turned two-step sign-in on.", false)
        .await;
    ended
        .expect_at_app(&world, "all sessions and tokens of the user were revoked")
        .await;
}

async fn a_deleted_account_is_the_reason(world: SharedWorld) {
    let ended = Ended::begin(&world).await;
    let deletion = ended
        .second
        .call("DELETE", "/me")
        .json(&json!({ "password": PASSWORD }));
    deletion.await.expect(204);
    ended
        .expect_on_page("because your account was deleted.", false)
        .await;
    ended.expect_at_app(&world, "the user deleted the account").await;
}

async fn another_session_is_the_reason(world: SharedWorld) {
    for all_others in [false, true] {
        let ended = Ended::begin(&world).await;
        if all_others {
            let mut browser = ended.second.browser();
            let page = browser.open("/account").await;
            let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
            let form = page.url.join("/account/sessions/end-others").unwrap();
            browser.post(&form, &fields).await;
        } else {
            let first = current_session(&ended.first).await;
            ended
                .second
                .delete(&format!("/me/sessions/{first}"))
                .await
                .expect(204);
        }
        ended
            .expect_on_page("Another device signed you out here", true)
            .await;
        ended
            .expect_at_app(&world, "the user ended the session on another device")
            .await;
    }
}

/// The id of the session of a user.
async fn current_session(user: &User) -> String {
    let sessions = user.get("/me/sessions").await.expect(200).json();
    let mut sessions = sessions["items"].as_array().unwrap().iter();
    sessions.find(|session| session["current"] == true).unwrap()["id"].to_string()
}

async fn newer_sign_ins_are_the_reason(world: SharedWorld) {
    let ended = Ended::begin(&world).await;
    let db = world.db().await;
    let insert = "INSERT INTO sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, amr)
                  VALUES ($1, $2, $3, $3, $4, 'pwd')";
    let (id, now) = (ended.first.id, world.now());
    let (later, end) = (
        now.after(Duration::from_hours(1)),
        now.after(Duration::from_hours(2)),
    );
    // The two of this user are there already.
    for _ in 2..MAX_SESSIONS {
        execute!(db.writer(), insert, random::token().hash(), id, later, end).unwrap();
    }
    let unused = "UPDATE sessions SET last_seen_at = last_seen_at - 1000000 WHERE id = $1";
    let first: i64 = current_session(&ended.first).await.parse().unwrap();
    execute!(db.writer(), unused, first).unwrap();
    world.log_in(&ended.first.email, PASSWORD).await;
    ended
        .expect_on_page("because an account can be signed in 100 times at once", false)
        .await;
    ended
        .expect_at_app(&world, "the user has too many newer sign-ins")
        .await;
}

async fn a_long_pause_is_the_reason(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ended = Ended::begin(&world).await;
    world.advance(Duration::from_hours(2));
    ended
        .expect_on_page("because you were last here 2 hours ago.", false)
        .await;
}

/// The row of an expired session is deleted within a minute, perhaps just before the page is opened.
async fn the_longest_lifetime_is_the_reason(world: SharedWorld) {
    const ROUNDS: usize = 5;
    let words = "because a session ends some time after the sign-in, even if it is in use.";
    for _ in 0..ROUNDS {
        let user = world.user().await;
        let db = world.db().await;
        let expire = "UPDATE sessions SET expires_at = $2 WHERE user_id = $1";
        let a_second_ago = world.now().before(Duration::from_secs(1));
        execute!(db.writer(), expire, user.id, a_second_ago).unwrap();
        db.close().await;
        let page = user.browser().open("/signin").await;
        user.get("/me").await.expect_error(401, "unauthenticated");
        if page.visible_text().contains(words) {
            return;
        }
    }
    panic!("the page never says that the lifetime is over");
}

/// The default absolute lifetime of a session is twelve hours.
async fn reasons_are_deleted_when_the_sessions_would_have_expired(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let ended = Ended::begin(&world).await;
    let first = current_session(&ended.first).await;
    ended
        .second
        .delete(&format!("/me/sessions/{first}"))
        .await
        .expect(204);
    let db = world.db().await;
    let count = async || {
        let count = "SELECT COUNT(*) FROM ended_sessions";
        fetch_one!(db.reader(), (i64,), count).unwrap().0
    };
    assert_eq!(count().await, 1);
    world.stop().await;
    world.advance(Duration::from_hours(13));
    world.restart().await;
    expect_no_reason(&ended.first.browser().open("/signin").await);
    eventually("a reason remains", async || count().await == 0).await;
}

async fn no_reason_is_shown_for_an_end_in_the_same_browser(world: SharedWorld) {
    let (ann, ben) = (world.user().await, world.user().await);
    let mut of_ann: Browser = ann.browser();
    ann.post("/logout").await.expect(204);
    expect_no_reason(&of_ann.open("/signin").await);

    let ann = world.log_in(&ann.email, PASSWORD).await;
    let replacing = ann
        .post("/login")
        .json(&json!({ "email": ben.email, "password": PASSWORD }));
    replacing.await.expect(200);
    ann.get("/me").await.expect_error(401, "unauthenticated");
    expect_no_reason(&ann.browser().open("/signin").await);
}

async fn an_app_learns_why_its_tokens_ended(world: SharedWorld) {
    let anyone = &world.anyone();
    let ended = Ended::begin(&world).await;
    let grant = format!("/me/grants/{}", ended.app.id);
    ended.first.delete(&grant).await.expect(204);
    ended
        .expect_at_app(&world, "the user or an administrator disconnected the app")
        .await;

    let ended = Ended::begin(&world).await;
    ended.app.refresh(anyone, &ended.tokens.refresh).await.expect(200);
    for _ in 0..2 {
        ended
            .expect_at_app(&world, "a code or a refresh token of this grant was used twice")
            .await;
    }

    let ended = Ended::begin(&world).await;
    let revoke = [("token", ended.tokens.refresh.as_str())];
    ended
        .app
        .client_call(anyone, "/revoke", &revoke)
        .await
        .expect(200);
    ended.expect_at_app(&world, "the app revoked it").await;

    let ended = Ended::begin(&world).await;
    for command in ["disable", "enable"] {
        world.cli(&["clients", command, &ended.app.id, "--json"], "");
    }
    ended
        .expect_at_app(&world, "all tokens of the app were revoked")
        .await;

    let ended = Ended::begin(&world).await;
    let own = current_session(&ended.first).await;
    ended
        .first
        .delete(&format!("/me/sessions/{own}"))
        .await
        .expect(204);
    ended.expect_at_app(&world, "the user signed out").await;

    // Another app learns nothing about the token.
    let another = world.app().register();
    let reply = another.refresh(anyone, &ended.tokens.refresh).await;
    let reply = reply.expect_token_error(400, "invalid_grant");
    assert!(!description(&reply.json()).contains("signed out"), "{reply}");
}

on_every_shape!(
    a_changed_address_is_the_reason,
    a_changed_password_is_the_reason,
    a_deleted_account_is_the_reason,
    a_long_pause_is_the_reason,
    a_reset_is_the_reason,
    a_reset_leaves_the_session_of_another_user,
    an_administrator_is_the_reason,
    an_app_learns_why_its_tokens_ended,
    an_earlier_reason_for_apps_is_forgotten,
    another_session_is_the_reason,
    newer_sign_ins_are_the_reason,
    no_reason_is_shown_for_an_end_in_the_same_browser,
    reasons_are_deleted_when_the_sessions_would_have_expired,
    the_longest_lifetime_is_the_reason,
    two_step_sign_in_is_the_reason,
);
