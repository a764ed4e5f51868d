//! `/account/export` and `/account/deletion`.

use serde_json::json;
use storage::execute;
use tests::{Browser, PASSWORD, Page, SharedWorld, on_every_shape};

async fn open(browser: &mut Browser) -> Page {
    super::open(browser, "/account/deletion").await
}

fn expect_words(page: &Page, status: u16, words: &[&str]) {
    assert_eq!(page.reply.status, status, "{}", page.reply);
    let text = page.visible_text();
    for expected in words {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

async fn a_user_deletes_the_account_after_seeing_its_content(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    let elsewhere = world.log_in(&user.email, PASSWORD).await;
    user.draft("A draft").await;
    let post = user.publish("A post").await;
    user.publish("Another post").await;
    user.comment(&post, "A comment").await;
    user.pay(100).await;
    let deleted = user.publish("A deleted post").await;
    let withdrawn = user.publish("A withdrawn post").await;
    let to_draft = user.patch(&withdrawn.path).header("if-match", &withdrawn.etag);
    to_draft.json(&json!({ "status": "draft" })).await.expect(200);
    user.delete(&deleted.path)
        .header("if-match", &deleted.etag)
        .await
        .expect(204);
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    let counts = [
        "2 sessions",
        "1 app",
        "1 draft",
        "3 posts that are or were published",
        "1 comment",
        "1 payment",
    ];
    expect_words(&page, 200, &counts);
    let csrf = page.hidden("csrf").unwrap();
    let done = browser.submit(&page, &[("csrf", &csrf)]).await;
    expect_words(&done, 200, &["Your account is deleted"]);
    assert!(browser.cookie("sid").is_none(), "{}", done.reply);
    let again = browser.submit(&page, &[("csrf", &csrf)]).await;
    assert_eq!(again.location().unwrap().path(), "/signin", "{}", again.reply);
    for session in [&user, &elsewhere] {
        session.get("/me").await.expect_error(401, "unauthenticated");
    }
    tokens.expect_revoked(&world, &app).await;
    world.anyone().login(&user.email, PASSWORD).await.expect(401);
    let reader = world.user().await;
    let author = reader.get(&post.path).await.expect(200).json()["author_id"].clone();
    assert_eq!(author, user.id);
    let of_author = reader
        .get(&format!("/posts?author_id={}", user.id))
        .await
        .expect(200);
    assert_eq!(
        of_author.json()["items"].as_array().unwrap().len(),
        2,
        "{of_author}"
    );
}

async fn an_account_without_content_names_only_what_ends(world: SharedWorld) {
    let page = open(&mut world.user().await.browser()).await;
    expect_words(&page, 200, &["This session", "cannot be undone"]);
    for absent in ["This stays", "draft", "app"] {
        let text = page.visible_text();
        assert!(!text.contains(absent), "{absent}: {text}");
    }
}

async fn a_large_content_is_not_counted_to_its_end(world: SharedWorld) {
    let user = world.user().await;
    let db = world.db().await;
    let insert = "INSERT INTO payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency,
                                        description, metadata, created_at, updated_at)
                  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1001)
                  SELECT CAST($1 AS TEXT) || n, $2, 'created', 100, 0, 0, 'EUR', '', '{}', 1, 1 FROM numbers";
    let prefix = format!("pay_of_{}_", user.id);
    execute!(db.writer(), insert, prefix, user.id).unwrap();
    let page = open(&mut user.browser()).await;
    expect_words(&page, 200, &["more than 1000 payments"]);
}

async fn a_forged_form_deletes_nothing(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let page = open(&mut browser).await;
    let forged = browser.submit(&page, &[("csrf", "another-token")]).await;
    assert_eq!(forged.reply.status, 403, "{}", forged.reply);
    user.get("/me").await.expect(200);
}

async fn the_page_downloads_the_file_of_the_api(world: SharedWorld) {
    let user = world.user().await;
    user.publish("A post").await;
    let account = user.browser().open("/account").await;
    let links: Vec<String> = account
        .links()
        .iter()
        .map(|link| link.path().to_owned())
        .collect();
    for path in ["/account/export", "/account/deletion"] {
        assert!(links.iter().any(|link| link == path), "{path}: {links:?}");
    }
    let by_page = user.browser().open("/account/export").await.reply;
    let by_api = user.get("/me/export").await.expect(200);
    assert_eq!(by_page.json(), by_api.json());
    for header in ["content-type", "content-disposition", "cache-control"] {
        assert_eq!(by_page.header(header), by_api.header(header), "{by_page}");
    }
}

on_every_shape!(
    a_user_deletes_the_account_after_seeing_its_content,
    an_account_without_content_names_only_what_ends,
    a_large_content_is_not_counted_to_its_end,
    a_forged_form_deletes_nothing,
    the_page_downloads_the_file_of_the_api,
);
