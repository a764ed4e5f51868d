//! The page of all connected apps, for administrators.

use super::expect_words;
use super::large_account::{buttons, come_back};
use tests::{SharedWorld, User, on_every_shape};

const PATH: &str = "/admin/consents";

fn path_of(user: &User) -> String {
    format!("{PATH}?user_id={}", user.id)
}

async fn an_administrator_finds_consents(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let (app, other) = (world.app().register(), world.app().register());
    app.tokens(&user, "posts:read").await;
    other.tokens(&user, "posts:read").await;
    let mut browser = admin.browser();
    let list = admin.get(&path_of(&user)).await.expect(200).json();
    let mut consents = list["items"].as_array().unwrap().iter();
    let consent = consents.find(|consent| consent["client_id"] == app.id);
    let consent = consent.unwrap()["id"].as_str().unwrap();
    let of_user = browser
        .open(&format!("{PATH}?user_id={}&client_id=", user.email))
        .await;
    for words in [
        user.email.as_str(),
        "Show these connected apps",
        "Some App",
        "Read posts, including your drafts",
        "Access given",
        &format!("{}{}", world.base(), path_of(&user)),
        &format!("consents list --user={}", user.id),
        &format!("-X DELETE {}{PATH}/{consent}", world.base()),
        &format!("consents revoke {consent}"),
    ] {
        expect_words(&of_user, 200, words);
    }
    let paths = [
        format!("/admin/users/{}", user.id),
        format!("/admin/clients/{}", app.id),
    ];
    for path in paths {
        assert!(
            of_user.links().iter().any(|link| link.path() == path),
            "{path}: {}",
            of_user.reply
        );
    }
    assert_eq!(buttons(&of_user, "ended").len(), 2, "{}", of_user.reply);
    let of_app = browser.open(&format!("{PATH}?client_id={}", app.id)).await;
    assert_eq!(buttons(&of_app, "ended"), [app.id.as_str()]);
    let none = browser.open(&format!("{PATH}?user_id=1000000000")).await;
    expect_words(&none, 200, "No connected app fits these conditions.");
    let refused = browser.open(&format!("{PATH}?user_id=x")).await;
    expect_words(&refused, 200, "x ” is not valid, and was ignored.");
    assert_eq!(refused.wrong_fields(), ["user_id"], "{}", refused.reply);
    let page = user.browser().open(PATH).await;
    expect_words(&page, 403, "Only administrators can see this page");
}

async fn an_administrator_disconnects_an_app(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let (app, kept) = (world.app().register(), world.app().register());
    let ended = [
        app.tokens(&user, "posts:read").await,
        app.tokens(&user, "posts:read").await,
    ];
    kept.tokens(&user, "posts:read").await;
    let mut browser = admin.browser();
    let page = browser.open(&path_of(&user)).await;
    for count in [", and 2 refresh tokens end.", ", and 1 refresh token ends."] {
        expect_words(&page, 200, count);
    }
    let fields = [("ended", app.id.as_str())];
    let done = browser.submit(&page, &fields).await;
    let page = come_back(&mut browser, &done, &path_of(&user)).await;
    expect_words(&page, 200, "The account is changed.");
    assert_eq!(buttons(&page, "ended"), [kept.id.as_str()]);
    for tokens in &ended {
        tokens.expect_revoked(&world, &app).await;
    }
    let again = browser.submit(&page, &fields).await;
    assert_eq!(again.reply.status, 409, "{}", again.reply);
}

async fn an_app_is_disconnected_after_a_recent_sign_in_alone(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().register();
    for user in [&admin, &user] {
        app.tokens(user, "posts:read").await;
    }
    let path = format!("{PATH}?client_id={}", app.id);
    // Administrators disconnect their own apps on the page of the account.
    let page = admin.browser().open(&path).await;
    expect_words(&page, 200, &admin.email);
    assert_eq!(buttons(&page, "ended").len(), 1, "{}", page.reply);
    world.age_sign_ins_of(&admin).await;
    let stale = admin.browser().open(&path).await;
    expect_words(&stale, 200, "you must have signed in within the last ten minutes");
    assert!(buttons(&stale, "ended").is_empty(), "{}", stale.reply);
}

on_every_shape!(
    an_administrator_finds_consents,
    an_administrator_disconnects_an_app,
    an_app_is_disconnected_after_a_recent_sign_in_alone,
);
