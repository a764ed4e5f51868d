//! The pages of the users, for administrators.

mod history;
mod search;

use super::large_account::{buttons, sessions};
use super::{expect_redirect, expect_words};
use tests::{Authenticator, Browser, PASSWORD, Page, SharedWorld, User, on_every_shape};

const PATH: &str = "/admin/users";

fn path_of(user: &User) -> String {
    format!("{PATH}/{}", user.id)
}

/// Submits the form of the page that makes this change, with these further fields.
async fn change(browser: &mut Browser, user: &User, name: &str, further: &[(&str, &str)]) -> Page {
    let page = browser.open(&path_of(user)).await;
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    let fields = [
        ("csrf", page.hidden("csrf").unwrap()),
        ("user", page.hidden("user").unwrap()),
        ("change", name.to_owned()),
    ];
    let further = further.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let fields: Vec<_> = fields
        .into_iter()
        .chain(further)
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let action = page.url.join(&format!("{}/changes", path_of(user))).unwrap();
    browser.post(&action, &fields).await
}

/// Makes a change, after which the page says that it was made.
async fn expect_changed(browser: &mut Browser, user: &User, name: &str, further: &[(&str, &str)]) -> Page {
    let changed = change(browser, user, name, further).await;
    expect_redirect(&changed, &path_of(user));
    let page = browser.open(&path_of(user)).await;
    expect_words(&page, 200, "The account is changed.");
    page
}

async fn the_page_of_a_user_shows_all_that_belongs_to_the_account(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().register();
    app.tokens(&user, "posts:read").await;
    // It ends all refresh tokens.
    Authenticator::enable(&world, &user).await;
    let page = admin.browser().open(&path_of(&user)).await;
    for words in [
        user.email.as_str(),
        "two-step sign-in",
        "Signed in",
        "Some App",
        "Read posts, including your drafts",
        "Two-step sign-in was turned on authn_mfa_enabled ·",
        "ago · by the user · ",
        "This ends 1 session and 0 refresh tokens , and the access of 1 connected app and of the apps of this service.",
        "users disable --email",
        &format!("users show --email '{}'", user.email),
        &format!("-X POST {}{}/disablements", world.base(), path_of(&user)),
        "All events of this user",
        &format!("{}{}", world.base(), path_of(&user)),
    ] {
        expect_words(&page, 200, words);
    }
    let path = format!("/admin/clients/{}", app.id);
    assert!(
        page.links().iter().any(|link| link.path() == path),
        "{}",
        page.reply
    );
    let own = admin.browser().open(&path_of(&admin)).await;
    expect_words(&own, 200, "This is your own account.");
    assert!(!own.reply.text().contains("name=\"change\""), "{}", own.reply);
}

async fn the_page_of_a_user_shows_a_part_of_many_sessions(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    world.start_sessions(&user, 20).await;
    let (mut browser, path) = (admin.browser(), path_of(&user));
    let first = browser.open(&path).await;
    expect_words(&first, 200, "Shown here: 1 to 20 of 21 .");
    let last = browser.open(&format!("{path}?sessions=2")).await;
    expect_words(&last, 200, "Shown here: 21 to 21 of 21 .");
    let sessions = [&first, &last].map(sessions);
    assert_eq!(sessions.each_ref().map(Vec::len), [20, 1], "{sessions:?}");
    assert!(!sessions[0].contains(&sessions[1][0]), "{sessions:?}");
    // The list that the page names counts what ends with each session, before it ends.
    assert!(buttons(&last, "ended").is_empty(), "{}", last.reply);
    let list = format!("/admin/sessions?user_id={}", user.id);
    let list = last
        .links()
        .into_iter()
        .find(|link| link.as_str().ends_with(&list));
    let list = browser.open(list.unwrap().as_str()).await;
    assert_eq!(buttons(&list, "ended").len(), 20, "{}", list.reply);
    expect_words(&list, 200, "No app of this service got a refresh token in it");
}

async fn an_administrator_disables_and_enables_a_user(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().register();
    let tokens = app.tokens(&user, "posts:read").await;
    let own_app = world.app().first_party().register();
    own_app.tokens(&user, "posts:read").await;
    let mut browser = admin.browser();
    let page = browser.open(&path_of(&user)).await;
    expect_words(&page, 200, "and 2 refresh tokens , and the access of");
    expect_words(
        &page,
        200,
        "of the apps of this service, among them 2 refresh tokens .",
    );
    let german = admin.browser().in_language("de").open(&path_of(&user)).await;
    expect_words(
        &german,
        200,
        "den Apps dieses Dienstes, darunter 2 Refresh-Token .",
    );
    let page = expect_changed(&mut browser, &user, "disable", &[]).await;
    expect_words(&page, 200, "disabled");
    expect_words(&page, 200, "Disabled");
    expect_words(&page, 200, "The user is not signed in anywhere.");
    // There is nothing to end, and nobody can sign in before the account is enabled.
    for words in [
        "can sign in as soon as you enable",
        "When you have enabled the account",
    ] {
        expect_words(&page, 200, words);
    }
    for words in ["Sign out everywhere", "The user can sign in again", "at once"] {
        assert!(!page.visible_text().contains(words), "{words}: {}", page.reply);
    }
    user.get("/me").await.expect_error(401, "unauthenticated");
    tokens.expect_revoked(&world, &app).await;
    world.anyone().login(&user.email, PASSWORD).await.expect(401);
    expect_changed(&mut browser, &user, "enable", &[]).await;
    world.cli(&["users", "disable", "--email", &user.email, "--json"], "");
    let page = browser.open(&path_of(&user)).await;
    expect_words(&page, 200, "ago · by a command on the server · ");
    let german = admin.browser().in_language("de").open(&path_of(&user)).await;
    expect_words(&german, 200, "durch einen Befehl auf dem Server");
    expect_changed(&mut browser, &user, "enable", &[]).await;
    world.anyone().login(&user.email, PASSWORD).await.expect(200);
}

async fn an_administrator_ends_what_belongs_to_a_user(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let elsewhere = world.log_in(&user.email, PASSWORD).await;
    let app = world.app().register();
    let tokens = app.tokens(&user, "posts:read").await;
    let mut browser = admin.browser();
    let sessions = elsewhere.get("/me/sessions").await.expect(200).json();
    let sessions = sessions["items"].as_array().unwrap().iter();
    let session = sessions
        .clone()
        .find(|session| session["current"] == true)
        .unwrap()["id"]
        .to_string();
    expect_changed(&mut browser, &user, "end-session", &[("ended", &session)]).await;
    elsewhere.get("/me").await.expect_error(401, "unauthenticated");
    user.get("/me").await.expect(200);
    expect_changed(&mut browser, &user, "revoke-consent", &[("ended", &app.id)]).await;
    tokens.expect_revoked(&world, &app).await;
    expect_changed(&mut browser, &user, "sign-out", &[]).await;
    user.get("/me").await.expect_error(401, "unauthenticated");
    // A session or app that has ended before, that does not exist or that another user has is not on the
    // page.
    let stranger = world.user().await;
    let sessions = stranger.get("/me/sessions").await.expect(200).json();
    let of_stranger = sessions["items"][0]["id"].to_string();
    for (name, ended) in [
        ("end-session", session.as_str()),
        ("end-session", &of_stranger),
        ("end-session", "x"),
        ("revoke-consent", &app.id),
        ("become-owner", ""),
        ("reset-second-factor", ""),
    ] {
        let refused = change(&mut browser, &user, name, &[("ended", ended)]).await;
        assert_eq!(refused.reply.status, 409, "{name}: {}", refused.reply);
    }
    stranger.get("/me").await.expect(200);
}

async fn an_administrator_changes_role_and_credentials(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    Authenticator::enable(&world, &user).await;
    let mut browser = admin.browser();
    expect_changed(&mut browser, &user, "reset-second-factor", &[]).await;
    let user = world.log_in(&user.email, PASSWORD).await;
    let page = expect_changed(&mut browser, &user, "role-editor", &[]).await;
    expect_words(&page, 200, "Editor");
    expect_words(&page, 200, &format!("by {} · User → Editor", admin.email));
    let german = browser.open(&format!("{}?language=de", path_of(&user))).await;
    expect_words(&german, 200, "Benutzer → Redakteur");
    browser.open(&format!("{}?language=en", path_of(&user))).await;
    for _ in 0..5 {
        world.anyone().login(&user.email, "not the password").await;
    }
    world.anyone().login(&user.email, PASSWORD).await.expect(429);
    let page = browser.open(&path_of(&user)).await;
    expect_words(&page, 200, "Sign-in last blocked");
    let page = expect_changed(&mut browser, &user, "unlock", &[]).await;
    assert!(
        !page.visible_text().contains("Sign-in last blocked"),
        "{}",
        page.reply
    );
    world.anyone().login(&user.email, PASSWORD).await.expect(200);
    let page = browser.open(&path_of(&user)).await;
    let version = page.hidden("version").unwrap();
    let shown = change(&mut browser, &user, "set-password", &[("version", &version)]).await;
    expect_words(&shown, 200, &format!("Initial password of {}", user.email));
    // The form that is sent again, by a reload, does not replace the password that was shown.
    let again = change(&mut browser, &user, "set-password", &[("version", &version)]).await;
    assert_eq!(again.reply.status, 409, "{}", again.reply);
    let html = shown.reply.text();
    let (_, rest) = html.split_once("<code data-copy>").unwrap();
    let (password, _) = rest.split_once('<').unwrap();
    world.anyone().login(&user.email, PASSWORD).await.expect(401);
    let restricted = world.log_in(&user.email, password).await;
    let page = browser.open(&path_of(&user)).await;
    expect_words(&page, 200, "must change the password");
    let page = restricted.browser().open("/account").await;
    assert_eq!(page.location().unwrap().path(), "/password", "{}", page.reply);
}

async fn a_change_needs_an_administrator_who_signed_in_just_now(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let mut browser = admin.browser();
    let page = browser.open(&path_of(&user)).await;
    world.age_sign_ins_of(&admin).await;
    let stale = browser.open(&path_of(&user)).await;
    expect_words(&stale, 200, "you must have signed in within the last ten minutes");
    assert!(!stale.reply.text().contains("name=\"change\""), "{}", stale.reply);
    let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
    let disable = [("change".to_owned(), "disable".to_owned())];
    let fields = [&fields[..], &disable].concat();
    let action = page.url.join(&format!("{}/changes", path_of(&user))).unwrap();
    let refused = browser.post(&action, &fields).await;
    assert_eq!(refused.location().unwrap().path(), "/signin", "{}", refused.reply);
    // The sign-in leads back to the page of the user.
    let form = browser.open(refused.location().unwrap().as_str()).await;
    let back = browser
        .submit(&form, &[("email", &admin.email), ("password", PASSWORD)])
        .await;
    expect_redirect(&back, &path_of(&user));
    user.get("/me").await.expect(200);
    // Administrators cannot change their own account here, and other users can change no account.
    let own = page.url.join(&format!("{}/changes", path_of(&admin))).unwrap();
    let admin = world.log_in(&admin.email, PASSWORD).await;
    let mut browser = admin.browser();
    let page = browser.open(&path_of(&user)).await;
    let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
    let fields = [&fields[..], &disable].concat();
    let refused = browser.post(&own, &fields).await;
    expect_words(&refused, 409, "This is your own account.");
    let stranger = world.user().await;
    let id = stranger.id.to_string();
    let forged = [
        ("csrf", stranger.csrf.as_str()),
        ("user", &id),
        ("change", "disable"),
    ];
    let forged = forged.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let refused = stranger.browser().post(&action, &forged).await;
    assert_eq!(refused.reply.status, 403, "{}", refused.reply);
    user.get("/me").await.expect(200);
}

on_every_shape!(
    the_page_of_a_user_shows_all_that_belongs_to_the_account,
    the_page_of_a_user_shows_a_part_of_many_sessions,
    an_administrator_disables_and_enables_a_user,
    an_administrator_ends_what_belongs_to_a_user,
    an_administrator_changes_role_and_credentials,
    a_change_needs_an_administrator_who_signed_in_just_now,
);
