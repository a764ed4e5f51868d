//! The page of all sessions, for administrators.

use super::large_account::{buttons, come_back};
use super::{expect_words, post, sign_in_at};
use tests::{PASSWORD, Page, SharedWorld, User, on_every_shape};

const PATH: &str = "/admin/sessions";

fn path_of(user: &User) -> String {
    format!("{PATH}?user_id={}", user.id)
}

/// Returns the id of the session of this user.
async fn session_of(user: &User) -> String {
    let list = user.get("/me/sessions").await.expect(200).json();
    let mut sessions = list["items"].as_array().unwrap().iter();
    let current = sessions.find(|session| session["current"] == true);
    current.unwrap()["id"].to_string()
}

/// Expects that no session can be ended on the page.
fn expect_no_button(page: &Page) {
    assert!(buttons(page, "ended").is_empty(), "{}", page.reply);
}

async fn an_administrator_finds_sessions(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let mut browser = admin.browser();
    let all = browser.open(PATH).await;
    expect_words(&all, 200, "Show these sessions");
    let session = session_of(&user).await;
    let email = user.email.to_uppercase();
    let found = browser.open(&format!("{PATH}?user_id={email}")).await;
    for words in [
        user.email.as_str(),
        "Signed in",
        "last used",
        "by password",
        "at the latest",
        &format!("{}{}", world.base(), path_of(&user)),
        &format!("sessions list --user={}", user.id),
        &format!("-X DELETE {}{PATH}/{session}", world.base()),
        &format!("sessions end {session}"),
    ] {
        expect_words(&found, 200, words);
    }
    assert!(!found.visible_text().contains(&admin.email), "{}", found.reply);
    let path = format!("/admin/users/{}", user.id);
    assert!(
        found.links().iter().any(|link| link.path() == path),
        "{path}: {}",
        found.reply
    );
    let none = browser.open(&format!("{PATH}?user_id=1000000000")).await;
    expect_words(&none, 200, "No session fits these conditions.");
    let refused = browser.open(&format!("{PATH}?user_id=nobody@example.org")).await;
    expect_words(
        &refused,
        200,
        "nobody@example.org ” is not valid, and was ignored.",
    );
    assert_eq!(refused.wrong_fields(), ["user_id"], "{}", refused.reply);
    // A program gets the list from the same path.
    let list = admin.get(&path_of(&user)).await.expect(200).json();
    assert_eq!(list["items"][0]["id"].to_string(), session);
    let page = user.browser().open(PATH).await;
    expect_words(&page, 403, "Only administrators can see this page");
}

async fn an_administrator_ends_a_session_and_what_began_in_it(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let elsewhere = world.log_in(&user.email, PASSWORD).await;
    let (own_app, app) = (world.app().first_party().register(), world.app().register());
    let ended = own_app.tokens(&user, "posts:read").await;
    // The access of a connected app does not end with the session, and is not counted.
    app.tokens(&user, "posts:read").await;
    let mut browser = admin.browser();
    let page = browser.open(&path_of(&user)).await;
    for count in [
        "ends, and 1 refresh token that",
        "No app of this service got a refresh token in it",
    ] {
        expect_words(&page, 200, count);
    }
    let session = session_of(&user).await;
    let fields = [("ended", session.as_str())];
    let done = browser.submit(&page, &fields).await;
    let page = come_back(&mut browser, &done, &path_of(&user)).await;
    expect_words(&page, 200, "The account is changed.");
    assert_eq!(buttons(&page, "ended"), [session_of(&elsewhere).await]);
    user.get("/me").await.expect_error(401, "unauthenticated");
    ended.expect_revoked(&world, &own_app).await;
    elsewhere.get("/me").await.expect(200);
    let again = browser.submit(&page, &fields).await;
    assert_eq!(again.reply.status, 409, "{}", again.reply);
}

async fn many_sessions_are_on_linked_pages(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    world.start_sessions(&user, 21).await;
    let mut browser = admin.browser();
    let first = browser.open(&path_of(&user)).await;
    let newest = buttons(&first, "ended");
    assert_eq!(newest.len(), 20, "{}", first.reply);
    let links = first.links();
    let next = links
        .iter()
        .find(|link| link.query().is_some_and(|query| query.contains("cursor=")));
    let next = next.unwrap();
    let last = browser.open(next.as_str()).await;
    let oldest = buttons(&last, "ended");
    assert_eq!(oldest.len(), 2, "{}", last.reply);

    // The administrator comes back to the page of the list.
    let done = browser.submit(&last, &[("ended", &oldest[0])]).await;
    let path = format!("{PATH}?{}", next.query().unwrap());
    let last = come_back(&mut browser, &done, &path).await;
    assert_eq!(buttons(&last, "ended"), [session_of(&user).await]);
}

async fn a_change_leads_back_to_a_list_of_this_service_alone(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let (mut browser, path) = (admin.browser(), format!("/admin/users/{}", user.id));
    let of_user = path.as_str();
    let page = browser.open(&path_of(&user)).await;
    for (list, next) in [
        ("/admin/sessions?user_id=x&cursor=x&to=//example.org", PATH),
        (
            "/admin/consents?client_id=shop&dir=prev",
            "/admin/consents?client_id=shop",
        ),
        ("/admin/keys", of_user),
        ("//example.org/admin/sessions", of_user),
        ("https://example.org/admin/sessions", of_user),
    ] {
        let fields = [("change", "unlock"), ("list", list)];
        let done = post(&mut browser, &page, &format!("{of_user}/changes"), &fields).await;
        assert_eq!(done.reply.status, 303, "{list}: {}", done.reply);
        assert_eq!(done.reply.header("location"), next, "{list}");
    }
}

async fn a_session_ends_after_a_recent_sign_in_alone(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let own = admin.browser().open(&path_of(&admin)).await;
    expect_words(&own, 200, "this browser");
    expect_no_button(&own);
    world.age_sign_ins_of(&admin).await;
    let stale = admin.browser().open(&path_of(&user)).await;
    expect_words(&stale, 200, "you must have signed in within the last ten minutes");
    expect_no_button(&stale);
    // The sign-in leads back to the page.
    let (mut browser, _) = sign_in_at(&world, &admin, PATH).await;
    let page = browser.open(&path_of(&user)).await;
    assert_eq!(buttons(&page, "ended"), [session_of(&user).await]);
}

on_every_shape!(
    an_administrator_finds_sessions,
    an_administrator_ends_a_session_and_what_began_in_it,
    many_sessions_are_on_linked_pages,
    a_change_leads_back_to_a_list_of_this_service_alone,
    a_session_ends_after_a_recent_sign_in_alone,
);
