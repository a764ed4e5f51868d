//! The search for users, on the page and by the command that it shows.

use super::super::expect_words;
use super::{PATH, path_of};
use serde_json::json;
use tests::{SharedWorld, on_every_shape};

async fn an_administrator_finds_a_user(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let mut browser = admin.browser();
    let all = browser.open(PATH).await;
    expect_words(&all, 200, "Show these users");
    let found = browser
        .open(&format!(
            "{PATH}?email={}&role=&disabled=",
            user.email.to_uppercase()
        ))
        .await;
    expect_words(&found, 200, &user.email);
    assert!(!found.visible_text().contains(&admin.email), "{}", found.reply);
    let call = format!("{}{PATH}?email=", world.base());
    expect_words(&found, 200, &call);
    let path = path_of(&user);
    assert!(
        found.links().iter().any(|link| link.path() == path),
        "{path}: {}",
        found.reply
    );
    // The command that the page shows lists the same.
    let email = format!("--email={}", user.email);
    let command = ["users", "list", &email, "--disabled=false", "--json"];
    let listed = world.cli(&command, "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["id"], json!(user.id));
    let shown = world.cli(&["users", "show", "--email", &user.email, "--json"], "");
    assert_eq!(shown, listed[0]);
    let filtered = browser
        .open(&format!("{PATH}?role=editor&disabled=true&order=desc"))
        .await;
    expect_words(
        &filtered,
        200,
        "users list --role=editor --disabled=true --order=desc",
    );
    let none = browser
        .open(&format!("{PATH}?email={}&role=admin", user.email))
        .await;
    expect_words(&none, 200, "No user fits these conditions.");
    let begin = &user.email[..user.email.len() - 2];
    let by_address = browser
        .open(&format!("{PATH}?search={}", begin.to_uppercase()))
        .await;
    expect_words(&by_address, 200, &user.email);
    assert!(
        !by_address.visible_text().contains(&admin.email),
        "{}",
        by_address.reply
    );
    let refused = browser
        .open(&format!("{PATH}?search=a%01b&disabled=perhaps"))
        .await;
    expect_words(&refused, 200, "perhaps ” is not valid, and was ignored.");
    assert_eq!(
        refused.wrong_fields(),
        ["search", "disabled"],
        "{}",
        refused.reply
    );
    let unknown = browser.open(&format!("{PATH}/1000000000")).await;
    assert_eq!(unknown.reply.status, 404, "{}", unknown.reply);
    // A program gets the account from the same path.
    let account = admin.get(&path).await.expect(200).json();
    assert_eq!(account["email"], json!(user.email));
    let page = user.browser().open(&path).await;
    expect_words(&page, 403, "Only administrators can see this page");
    let links = page.links();
    assert!(links.iter().any(|link| link.path() == "/signout"), "{links:?}");
}

on_every_shape!(an_administrator_finds_a_user);
